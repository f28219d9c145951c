// How long compiling takes as graphs grow: the whole pipeline from IR to
// verified, lifetime-checked bytecode, over made-up graphs.
//
//   chain    each value is used by the next operator only
//   fan      all values are made from the input and summed up afterwards, so
//            half of them are live in the middle
//   ladder   each operator uses the two values before it
//
// Every pass is linear in the graph, up to the logarithm of a sort; the last
// rows of each family show the growth that was fitted.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/operators.h"
#include "compiler/compile.h"
#include "compiler/ir/builder.h"

namespace ebb {
namespace {

using ir::Builder;
using ir::ValueId;

ir::Type Vector(ir::Module& module) {
  return ir::Type::Tensor(DType::kF32, {module.dims.Constant(16)});
}

ir::Module Empty(ir::FunctionId* main) {
  ir::Module module;
  *main = ir::AddFunction(module, "main");
  return module;
}

ValueId Apply(Builder& builder, OperatorCode code,
              std::initializer_list<ValueId> operands) {
  return builder.Add(Builder::Operator(code, operands), "v");
}

ir::Module Chain(int64_t operators) {
  ir::FunctionId main;
  ir::Module module = Empty(&main);
  Builder builder(module, main);
  ValueId value = builder.AddParam("x", Vector(module));
  for (int64_t i = 0; i < operators; ++i) {
    value =
        Apply(builder, i % 2 == 0 ? OperatorCode::kExp : OperatorCode::kTanh,
              {value});
  }
  builder.Return({value});
  builder.function().result_types = {Vector(module)};
  return module;
}

// The members differ by what is added to them, or they would be one.
ir::Module Fan(int64_t operators) {
  ir::FunctionId main;
  ir::Module module = Empty(&main);
  Builder builder(module, main);
  const ValueId x = builder.AddParam("x", Vector(module));
  std::vector<ValueId> values;
  ValueId seed = x;
  for (int64_t i = 0; i < operators / 2; ++i) {
    seed = Apply(builder, OperatorCode::kExp, {seed});
    values.push_back(seed);
  }
  ValueId sum = x;
  for (const ValueId value : values) {
    sum = Apply(builder, OperatorCode::kAdd, {sum, value});
  }
  builder.Return({sum});
  builder.function().result_types = {Vector(module)};
  return module;
}

ir::Module Ladder(int64_t operators) {
  ir::FunctionId main;
  ir::Module module = Empty(&main);
  Builder builder(module, main);
  ValueId before = builder.AddParam("x", Vector(module));
  ValueId last = Apply(builder, OperatorCode::kExp, {before});
  for (int64_t i = 1; i < operators; ++i) {
    const ValueId next = Apply(builder, OperatorCode::kSub, {before, last});
    before = std::exchange(last, next);
  }
  builder.Return({last});
  builder.function().result_types = {Vector(module)};
  return module;
}

template <ir::Module (*kMake)(int64_t operators)>
void BM_Compile(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    ir::Module module = kMake(state.range(0));
    state.ResumeTiming();
    auto compiled = compiler::CompileIr(std::move(module), {});
    if (!compiled.has_value()) {
      state.SkipWithError(compiled.error().ToString().c_str());
      break;
    }
    benchmark::DoNotOptimize(compiled->functions.data());
    state.PauseTiming();
    compiled = bytecode::Module();
    state.ResumeTiming();
  }
  state.SetComplexityN(state.range(0));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void Sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->RangeMultiplier(10)->Range(1000, 100'000);
  benchmark->Unit(benchmark::kMillisecond)->Complexity();
}

BENCHMARK(BM_Compile<Chain>)->Name("chain")->Apply(Sizes);
BENCHMARK(BM_Compile<Fan>)->Name("fan")->Apply(Sizes);
BENCHMARK(BM_Compile<Ladder>)->Name("ladder")->Apply(Sizes);

}  // namespace
}  // namespace ebb
