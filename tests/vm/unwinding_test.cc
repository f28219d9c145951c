// Runs that fail at any point leave nothing behind; runs that repeat take
// nothing from the heap. Replaces operator new of the test program to count.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "allocator/backing.h"
#include "allocator/failing_allocator.h"
#include "tests/vm/test_program.h"

namespace {

std::atomic<uint64_t> new_count = 0;

void* CountedNew(std::size_t bytes, std::size_t align) {
  new_count.fetch_add(1, std::memory_order_relaxed);
  const std::size_t rounded = (bytes + align - 1) / align * align;
  return align <= alignof(std::max_align_t)
             ? std::malloc(bytes == 0 ? 1 : bytes)
             : std::aligned_alloc(align, rounded == 0 ? align : rounded);
}

void* ThrowingNew(std::size_t bytes, std::size_t align) {
  void* p = CountedNew(bytes, align);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

constexpr std::size_t kDefault = alignof(std::max_align_t);

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t n) {
  return ThrowingNew(n, kDefault);
}
void* operator new[](std::size_t n) { return ThrowingNew(n, kDefault); }
[[gnu::noinline]] void* operator new(std::size_t n, std::align_val_t a) {
  return ThrowingNew(n, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n, std::align_val_t a) {
  return ThrowingNew(n, static_cast<std::size_t>(a));
}
[[gnu::noinline]] void* operator new(std::size_t n,
                                     const std::nothrow_t&) noexcept {
  return CountedNew(n, kDefault);
}
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept {
  return CountedNew(n, kDefault);
}
[[gnu::noinline]] void* operator new(std::size_t n, std::align_val_t a,
                                     const std::nothrow_t&) noexcept {
  return CountedNew(n, static_cast<std::size_t>(a));
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t,
                                       std::align_val_t) noexcept {
  std::free(p);
}
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}

namespace ebb::vm {
namespace {

const std::vector<int64_t> kDims = {4, 8};

// A bit of everything: planned and allocating operators, calls, a recursion of
// three, tuples, a sequence that grows in a loop, views, kills. Outputs: the
// input itself, a computed tensor and a sequence.
ProgramRef MakeEverything() {
  TestProgram p;
  const auto type = p.Tensor(DType::kF32, {4, 8});
  const auto softmax = p.Site(OperatorCode::kSoftmax, {}, "softmax_1");
  const auto add = p.Site(OperatorCode::kAdd, {}, "add_1");
  const auto neg = p.Site(OperatorCode::kNeg, {}, "neg_1");
  const auto constant = p.Repeat<float>(DType::kF32, {4, 8}, 0.5F);
  const auto id = p.module().DeclareFunction("inner");
  {
    FunctionBuilder f = p.Function("main");
    f.AddParam("x", type);
    f.AddResult("same", type);
    f.AddResult("y", type);
    f.AddResult("list", p.Any());
    f.Emit(Opcode::kAllocStorage).DefHold(1).Int(I(256)).Imm(64).Name("arena");
    for (const int64_t tensor : {2, 3}) {
      f.Emit(Opcode::kAllocTensor)
          .DefHold(tensor)
          .Use(1)
          .Int(I((tensor - 2) * 128))
          .DTypeCode(DType::kF32)
          .IntList({I(4), I(8)})
          .IntList({});
    }
    f.Emit(Opcode::kKillStorage).Kills({1});
    f.Emit(Opcode::kConstant).DefHold(4).Constant(constant);
    p.Op(f, softmax, 2, {In(0)});
    p.Op(f, add, 3, {In(2), In(4)});
    f.Emit(Opcode::kOpAlloc)
        .Site(softmax)
        .DefHolds({5})
        .Ins({In(3)})
        .Name("soft");
    p.Kill(f, 2);
    f.Emit(Opcode::kIntMove).DefInt(0).Int(I(3));
    p.Alloc(f, 10, 11, DType::kI64, {});
    f.Emit(Opcode::kStoreInts).Out(11).IntList({R(0)});
    f.Emit(Opcode::kCall)
        .Function(id)
        .DefHolds({6})
        .Passes({PassOperand::Move(5), PassOperand::Move(11)});
    f.Emit(Opcode::kMakeSequence).DefHold(7).Passes({PassOperand::Move(3)});
    const auto loop = f.NewLabel();
    f.Emit(Opcode::kIntMove).DefInt(1).Int(I(0));
    f.Bind(loop);
    f.Emit(Opcode::kOpAlloc).Site(neg).DefHolds({8}).Ins({In(6)}).Name("item");
    f.Emit(Opcode::kSequenceInsert)
        .DefHold(9)
        .Pass(PassOperand::Move(7))
        .Pass(PassOperand::Move(8))
        .Int(I(0));
    f.Emit(Opcode::kMove).DefHold(7).Moved(9);
    f.Emit(Opcode::kIntAdd).DefInt(1).Int(R(1)).Int(I(1));
    f.Emit(Opcode::kIntLess).DefInt(2).Int(I(3)).Int(R(1));
    f.Emit(Opcode::kBranchIfZero).Int(R(2)).Label(loop);
    f.Emit(Opcode::kSequenceInsert)
        .DefHold(9)
        .Pass(PassOperand::Share(7))
        .Pass(PassOperand::Share(0))
        .Int(I(0));
    f.Emit(Opcode::kReturn)
        .Passes({PassOperand::Share(0), PassOperand::Move(6),
                 PassOperand::Move(9)});
    p.module().module().entry = f.Finish();
  }
  FunctionBuilder f(p.module(), id);
  f.AddParam("t", type, /*donated=*/true);
  f.AddParam("n", p.Tensor(DType::kI64, {}), /*donated=*/true);
  f.AddResult("r", type);
  const auto end = f.NewLabel();
  f.Emit(Opcode::kLoadInt).DefInt(0).Use(1).Int(I(0));
  f.Emit(Opcode::kBranchIfZero).Int(R(0)).Label(end);
  f.Emit(Opcode::kIntSub).DefInt(0).Int(R(0)).Int(I(1));
  f.Emit(Opcode::kStoreInts).Out(1).IntList({R(0)});
  f.Emit(Opcode::kOpAlloc).Site(add).DefHolds({2}).Ins({In(0), In(0)});
  p.Kill(f, 0);
  f.Emit(Opcode::kCall)
      .Function(id)
      .DefHolds({3})
      .Passes({PassOperand::Move(2), PassOperand::Move(1)});
  p.Return(f, {3});
  f.Bind(end);
  p.Return(f, {0});
  f.Finish();
  return p.Load();
}

Status RunOnce(Session& session, std::vector<float>& x) {
  RETURN_IF_ERROR(session.SetInput(0, View(x, kDims)));
  return session.Run();
}

TEST(UnwindingTest, EachAllocationMayFailOnce) {
  const ProgramRef program = MakeEverything();
  std::vector<float> x(32, 1.0F);
  int failure_count = 0;
  for (uint64_t fail_at = 1;; ++fail_at) {
    allocator::MmapBacking backing;
    const auto pool =
        allocator::MakeAllocator(allocator::Kind::kPool, backing, 0);
    bool failed = false;
    {
      allocator::FailingAllocator failing(*pool, fail_at);
      SessionOptions options;
      options.custom_allocator = &failing;
      const auto session = MakeSession(program, options);
      const Status status = RunOnce(*session, x);
      failed = failing.has_failed();
      EXPECT_EQ(status.has_value(), !failed);
      if (failed) {
        ++failure_count;
        ExpectError(status, ErrorCode::kOutOfMemory, "out of memory: ");
        EXPECT_EQ(failing.stats().live_bytes, 0U);
      }
      // The session works afterwards, with the same numbers.
      if (failed) ASSERT_OK(RunOnce(*session, x));
      EXPECT_EQ(OutputElements<float>(*session, 0), x);
      EXPECT_NEAR(OutputElements<float>(*session, 1)[0], 1.0F, 1e-6F);
      ASSERT_EQ(AsObject(*session->OutputValue(2))->fields.size(), 6U);
    }
    EXPECT_EQ(pool->stats().live_bytes, 0U);
    if (!failed) break;
  }
  EXPECT_GE(failure_count, 10);
}

TEST(UnwindingTest, BudgetRampEndsInSuccessAtTheHighWater) {
  const ProgramRef program = MakeEverything();
  std::vector<float> x(32, 1.0F);
  const auto reference = MakeSession(program);
  ASSERT_OK(RunOnce(*reference, x));
  for (const auto kind : {allocator::Kind::kPool, allocator::Kind::kNaive,
                          allocator::Kind::kSizeBucket}) {
    SessionOptions options;
    options.allocator = kind;
    const auto session = MakeSession(program, options);
    bool succeeded = false;
    for (uint64_t limit = 64; limit <= (uint64_t{1} << 22) && !succeeded;
         limit += limit < 8192 ? 64 : limit) {
      session->set_memory_limit_bytes(limit);
      const Status status = RunOnce(*session, x);
      succeeded = status.has_value();
      if (!succeeded) {
        EXPECT_EQ(status.error().code, ErrorCode::kOutOfMemory);
        EXPECT_EQ(session->stats().memory.live_bytes, 0U);
      }
    }
    EXPECT_TRUE(succeeded);
    EXPECT_EQ(OutputElements<float>(*session, 1),
              OutputElements<float>(*reference, 1));
  }
}

TEST(UnwindingTest, OutOfMemoryListsTheLargestLiveValuesByName) {
  TestProgram p;
  FunctionBuilder f = p.Function("main");
  for (int64_t i = 0; i < 3; ++i) {
    f.Emit(Opcode::kAllocStorage)
        .DefHold(i)
        .Int(I((i + 1) * 1024))
        .Imm(64)
        .Name("s" + std::to_string(i));
  }
  f.Emit(Opcode::kAllocStorage).DefHold(3).Int(I(1 << 20)).Imm(64).Name("big");
  f.Emit(Opcode::kReturn).Passes({});
  f.Finish();
  SessionOptions options;
  options.memory_limit_bytes = 128 << 10;
  const auto session = MakeSession(p.Load(), options);
  ExpectError(session->Run(), ErrorCode::kOutOfMemory,
              "function \"main\", instruction 3 (alloc_storage), value "
              "\"big\": out of memory: \"big\" needs 1048576 bytes, 6144 are "
              "live, the limit is 131072; the largest live values: \"s2\" "
              "3072, \"s1\" 2048, \"s0\" 1024");
}

TEST(UnwindingTest, SteadyRunsMakeNoHeapAllocation) {
  for (const auto kind :
       {allocator::Kind::kPool, allocator::Kind::kSizeBucket}) {
    SessionOptions options;
    options.allocator = kind;
    options.threads = 2;
    const auto session = MakeSession(MakeEverything(), options);
    std::vector<float> x(32, 1.0F);
    for (int i = 0; i < 3; ++i) {
      ASSERT_OK(RunOnce(*session, x));
      ASSERT_OK(session->Take(1));
    }
    const uint64_t before = new_count.load();
    bool ok = true;
    for (int i = 0; i < 10; ++i) {
      ok = ok && RunOnce(*session, x).has_value() &&
           session->Output(0).has_value();
      auto taken = session->Take(1);
      ok = ok && taken.has_value();
    }
    const uint64_t after = new_count.load();
    EXPECT_TRUE(ok);
    EXPECT_EQ(after, before);
  }
}

}  // namespace
}  // namespace ebb::vm
