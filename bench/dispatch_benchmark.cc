// What the interpreter itself costs: nanoseconds per simple instruction, per
// call, per kill, and per operator on data so small that the kernel is free.
// Every program is a loop; the figure per iteration is what `items` counts.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "bytecode/function_builder.h"
#include "bytecode/module_builder.h"
#include "vm/program.h"
#include "vm/session.h"

namespace ebb::vm {
namespace {

using bytecode::FunctionBuilder;
using bytecode::InOperand;
using bytecode::IntOperand;
using bytecode::kNoRegister;
using bytecode::ModuleBuilder;
using bytecode::Opcode;
using bytecode::PassOperand;

constexpr int64_t kIterations = 10'000;

IntOperand Immediate(int64_t value) { return IntOperand::Immediate(value); }
IntOperand Register(int64_t index) { return IntOperand::Register(index); }

std::unique_ptr<Session> Load(ModuleBuilder& module, SessionOptions options) {
  auto program = Program::Load(module.Finish(), {});
  if (!program.has_value()) std::abort();
  auto session = Session::Create(std::move(*program), options);
  if (!session.has_value()) std::abort();
  return std::move(*session);
}

// `before` once, then `body` kIterations times. Integer registers 8 and 9
// count. Three instructions of the loop's own come with every body.
std::unique_ptr<Session> MakeLoop(
    const std::function<void(ModuleBuilder&, FunctionBuilder&)>& before,
    const std::function<void(ModuleBuilder&, FunctionBuilder&)>& body,
    SessionOptions options = {}) {
  ModuleBuilder module;
  FunctionBuilder f(module, "main");
  module.module().entry = f.id();
  before(module, f);
  f.Emit(Opcode::kIntMove).DefInt(8).Int(Immediate(0));
  const auto loop = f.NewLabel();
  f.Bind(loop);
  body(module, f);
  f.Emit(Opcode::kIntAdd).DefInt(8).Int(Register(8)).Int(Immediate(1));
  f.Emit(Opcode::kIntLess)
      .DefInt(9)
      .Int(Immediate(kIterations - 1))
      .Int(Register(8));
  f.Emit(Opcode::kBranchIfZero).Int(Register(9)).Label(loop);
  f.Emit(Opcode::kReturn).Passes({});
  f.Finish();
  return Load(module, options);
}

void Nothing(ModuleBuilder& /*module*/, FunctionBuilder& /*f*/) {}

void Run(benchmark::State& state, Session& session, int64_t items) {
  for (auto _ : state) {
    if (!session.Run().has_value()) std::abort();
  }
  state.SetItemsProcessed(state.iterations() * kIterations * items);
  // Printed as a time: "2.5n" is two and a half nanoseconds.
  state.counters["each"] = benchmark::Counter(
      static_cast<double>(state.iterations() * kIterations * items),
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void BM_IntegerInstruction(benchmark::State& state) {
  constexpr int64_t kUnrolled = 29;
  const auto session = MakeLoop(
      [](ModuleBuilder&, FunctionBuilder& f) {
        f.Emit(Opcode::kIntMove).DefInt(0).Int(Immediate(0));
      },
      [](ModuleBuilder&, FunctionBuilder& f) {
        for (int64_t i = 0; i < kUnrolled; ++i) {
          const Opcode opcode = i % 2 == 0 ? Opcode::kIntAdd : Opcode::kIntMin;
          f.Emit(opcode).DefInt(0).Int(Register(0)).Int(Immediate(i));
        }
      });
  Run(state, *session, kUnrolled + 3);
}
BENCHMARK(BM_IntegerInstruction);

void BM_Call(benchmark::State& state) {
  const auto session =
      MakeLoop(Nothing, [](ModuleBuilder& module, FunctionBuilder& f) {
        const auto id = module.DeclareFunction("callee");
        FunctionBuilder callee(module, id);
        callee.Emit(Opcode::kReturn).Passes({});
        callee.Finish();
        f.Emit(Opcode::kCall).Function(id).DefHolds({}).Passes({});
      });
  Run(state, *session, 1);
}
BENCHMARK(BM_Call);

void AllocTensor(FunctionBuilder& f, int64_t storage, int64_t tensor) {
  f.Emit(Opcode::kAllocTensor)
      .DefHold(tensor)
      .Use(storage)
      .Int(Immediate(0))
      .DTypeCode(DType::kF32)
      .IntList({Immediate(4), Immediate(4)})
      .IntList({});
}

void BM_AllocTensorAndKill(benchmark::State& state) {
  const auto session = MakeLoop(
      [](ModuleBuilder&, FunctionBuilder& f) {
        f.Emit(Opcode::kAllocStorage).DefHold(0).Int(Immediate(64)).Imm(64);
      },
      [](ModuleBuilder&, FunctionBuilder& f) {
        AllocTensor(f, 0, 1);
        f.Emit(Opcode::kKillTensor).Kills({1});
      });
  Run(state, *session, 1);
}
BENCHMARK(BM_AllocTensorAndKill);

void BM_AllocStorageAndKill(benchmark::State& state) {
  SessionOptions options;
  options.allocator = static_cast<allocator::Kind>(state.range(0));
  const auto session = MakeLoop(
      Nothing,
      [](ModuleBuilder&, FunctionBuilder& f) {
        f.Emit(Opcode::kAllocStorage).DefHold(0).Int(Immediate(65536)).Imm(64);
        f.Emit(Opcode::kKillStorage).Kills({0});
      },
      options);
  Run(state, *session, 1);
}
BENCHMARK(BM_AllocStorageAndKill)
    ->ArgName("allocator")
    ->Arg(static_cast<int>(allocator::Kind::kPool))
    ->Arg(static_cast<int>(allocator::Kind::kNaive))
    ->Arg(static_cast<int>(allocator::Kind::kSizeBucket));

// An operator on 16 floats: key, cache hit, checks and the kernel's entry.
void BM_Operator(benchmark::State& state) {
  const auto session = MakeLoop(
      [](ModuleBuilder&, FunctionBuilder& f) {
        f.Emit(Opcode::kAllocStorage).DefHold(0).Int(Immediate(64)).Imm(64);
        AllocTensor(f, 0, 1);
        f.Emit(Opcode::kAllocStorage).DefHold(2).Int(Immediate(64)).Imm(64);
        AllocTensor(f, 2, 3);
      },
      [](ModuleBuilder& module, FunctionBuilder& f) {
        const auto site = module.AddSite({OperatorCode::kAbs, {}, {}});
        f.Emit(Opcode::kOp)
            .Site(site)
            .Outs({3})
            .Ins({InOperand::Hold(1)})
            .OptUse(kNoRegister);
      });
  Run(state, *session, 1);
}
BENCHMARK(BM_Operator);

void BM_OperatorThatAllocates(benchmark::State& state) {
  const auto session = MakeLoop(
      [](ModuleBuilder&, FunctionBuilder& f) {
        f.Emit(Opcode::kAllocStorage).DefHold(0).Int(Immediate(64)).Imm(64);
        AllocTensor(f, 0, 1);
      },
      [](ModuleBuilder& module, FunctionBuilder& f) {
        const auto site = module.AddSite({OperatorCode::kAbs, {}, {}});
        f.Emit(Opcode::kOpAlloc)
            .Site(site)
            .DefHolds({3})
            .Ins({InOperand::Hold(1)});
        f.Emit(Opcode::kKillTensor).Kills({3});
      });
  Run(state, *session, 1);
}
BENCHMARK(BM_OperatorThatAllocates);

// What a run costs apart from its instructions.
void BM_EmptyRun(benchmark::State& state) {
  ModuleBuilder module;
  FunctionBuilder f(module, "main");
  f.Emit(Opcode::kReturn).Passes({});
  f.Finish();
  const auto session = Load(module, {});
  for (auto _ : state) {
    if (!session->Run().has_value()) std::abort();
  }
}
BENCHMARK(BM_EmptyRun);

}  // namespace
}  // namespace ebb::vm
