// What loading costs before the first run: nanoseconds an instruction for
// reading a file's code, for reading and verifying it, for the lifetime
// checker, and for text. The module is the size of a large model's, without
// weights.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <string>
#include <vector>

#include "bytecode/assembler.h"
#include "bytecode/disassembler.h"
#include "bytecode/function_builder.h"
#include "bytecode/lifetime_checker.h"
#include "bytecode/reader.h"
#include "bytecode/verifier.h"
#include "bytecode/writer.h"

namespace ebb::bytecode {
namespace {

// A chain of allocate, place, run, kill, with a branch now and then.
Module ChainModule(int64_t step_count) {
  using Int = IntOperand;
  ModuleBuilder module;
  const TypeId type = module.TensorType(DType::kF32, {1, 64, 56, 56});
  FunctionBuilder b(module, "main");
  b.AddParam("x", type);
  b.AddResult("y", type);
  b.Emit(Opcode::kShare).DefHold(1).Use(0);
  for (int64_t i = 0; i < step_count; ++i) {
    const SiteId site = module.AddSite({.code = OperatorCode::kRelu});
    const int64_t from = i % 2 == 0 ? 1 : 3;
    const int64_t to = 4 - from;
    b.Emit(Opcode::kAllocStorage)
        .DefHold(2)
        .Int(Int::Immediate(802816))
        .Imm(64);
    b.Emit(Opcode::kAllocTensor)
        .DefHold(to)
        .Use(2)
        .Int(Int::Immediate(0))
        .DTypeCode(DType::kF32)
        .IntList({Int::Immediate(1), Int::Immediate(64), Int::Immediate(56),
                  Int::Immediate(56)})
        .IntList({})
        .Name("value_" + std::to_string(i));
    b.Emit(Opcode::kKillStorage).Kills({2});
    b.Emit(Opcode::kOp)
        .Site(site)
        .Outs({to})
        .Ins({InOperand::Hold(from)})
        .OptUse(kNoRegister);
    b.Emit(Opcode::kKillTensor).Kills({from});
    if (i % 16 != 0) continue;
    const BlockLabel skip = b.NewLabel();
    b.Emit(Opcode::kDimOf).DefInt(0).Use(to).Imm(0);
    b.Emit(Opcode::kBranchIfZero).Int(Int::Register(0)).Label(skip);
    b.Bind(skip);
  }
  b.Emit(Opcode::kReturn)
      .Passes({PassOperand::Move(step_count % 2 == 0 ? 1 : 3)});
  b.Finish();
  return module.Finish();
}

struct Fixture {
  Module module = ChainModule(20'000);
  std::vector<std::byte> bytes = *ModuleToBytes(module);
  std::size_t count = module.functions[0].code.size();

  void Report(benchmark::State& state) const {
    state.counters["per_instruction"] =
        benchmark::Counter(static_cast<double>(count),
                           benchmark::Counter::kIsIterationInvariantRate |
                               benchmark::Counter::kInvert);
    state.counters["bytes/instruction"] =
        static_cast<double>(bytes.size()) / static_cast<double>(count);
  }
};

void BM_Read(benchmark::State& state) {
  const Fixture fixture;
  for (auto _ : state) {
    auto module = ReadModule(fixture.bytes, {.verify = false});
    if (!module.has_value()) state.SkipWithError("does not read");
    benchmark::DoNotOptimize(module);
  }
  fixture.Report(state);
}
BENCHMARK(BM_Read)->Unit(benchmark::kMillisecond);

void BM_ReadAndVerify(benchmark::State& state) {
  const Fixture fixture;
  for (auto _ : state) {
    auto module = ReadModule(fixture.bytes);
    if (!module.has_value()) state.SkipWithError("does not read");
    benchmark::DoNotOptimize(module);
  }
  fixture.Report(state);
}
BENCHMARK(BM_ReadAndVerify)->Unit(benchmark::kMillisecond);

void BM_CheckLifetimes(benchmark::State& state) {
  const Fixture fixture;
  for (auto _ : state) {
    if (!CheckLifetimes(fixture.module).has_value()) {
      state.SkipWithError("does not check");
    }
  }
  fixture.Report(state);
}
BENCHMARK(BM_CheckLifetimes)->Unit(benchmark::kMillisecond);

void BM_Write(benchmark::State& state) {
  const Fixture fixture;
  for (auto _ : state) {
    benchmark::DoNotOptimize(ModuleToBytes(fixture.module));
  }
  fixture.Report(state);
}
BENCHMARK(BM_Write)->Unit(benchmark::kMillisecond);

void BM_Assemble(benchmark::State& state) {
  const Fixture fixture;
  const std::string text = Disassemble(fixture.module);
  for (auto _ : state) {
    if (!Assemble(text).has_value()) state.SkipWithError("does not assemble");
  }
  fixture.Report(state);
}
BENCHMARK(BM_Assemble)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ebb::bytecode
