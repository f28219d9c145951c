// The C interface as an embedder uses it, in C++ only for the tests' sake.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "bytecode/writer.h"
#include "tests/vm/test_program.h"
#include "vm/ebb.h"

namespace ebb::vm {
namespace {

// y = x + x through an external function "twice", then z = -y.
std::vector<std::byte> TwiceBytes() {
  TestProgram p;
  FunctionBuilder f = p.Function("main");
  f.AddParam("x", p.Symbolic(DType::kF32, {"n", "2"}));
  f.AddResult("y", p.Symbolic(DType::kF32, {"n", "2"}));
  f.AddResult("z", p.Symbolic(DType::kF32, {"n", "2"}));
  f.Emit(Opcode::kCallExternal)
      .String(p.module().AddExternal("twice"))
      .DefHolds({1})
      .Uses({0})
      .IntList({I(2)})
      .Name("doubled");
  f.Emit(Opcode::kOpAlloc)
      .Site(p.Site(OperatorCode::kNeg, {}, "negate"))
      .DefHolds({2})
      .Ins({In(1)})
      .Name("negated");
  p.Return(f, {1, 2});
  f.Finish();
  p.module().module().producer = "test";
  p.module().module().metadata = {{"opset", "18"}};
  return bytecode::ModuleToBytes(p.Finish()).value();
}

ebb_error* Twice(void* user, ebb_call* call) {
  ++*static_cast<int*>(user);
  ebb_tensor x;
  int32_t writable = 1;
  if (ebb_error* error = ebb_call_tensor(call, 0, &x, &writable)) return error;
  EXPECT_EQ(writable, 0);
  EXPECT_EQ(ebb_call_argument_count(call), 1U);
  EXPECT_EQ(ebb_call_int_count(call), 1U);
  EXPECT_EQ(ebb_call_result_count(call), 1U);
  if (static_cast<const float*>(x.data)[0] > 100) {
    return ebb_error_create(EBB_OUT_OF_RANGE, "too large to double");
  }
  void* data = nullptr;
  if (ebb_error* error =
          ebb_call_make_tensor(call, 0, x.dtype, x.rank, x.dims, &data)) {
    return error;
  }
  const auto count = static_cast<std::size_t>(x.dims[0] * x.dims[1]);
  for (std::size_t i = 0; i < count; ++i) {
    static_cast<float*>(data)[i] = static_cast<const float*>(x.data)[i] *
                                   static_cast<float>(ebb_call_int(call, 0));
  }
  // Each result is made once, and no others.
  for (const size_t index : {0, 1}) {
    ebb_error* error = ebb_call_share_argument(call, index, 0);
    EXPECT_EQ(ebb_error_code(error), EBB_INVALID_ARGUMENT);
    ebb_error_release(error);
  }
  return nullptr;
}

void Ok(ebb_error* error) {
  EXPECT_EQ(error, nullptr) << ebb_error_message(error);
  ebb_error_release(error);
}
void Fails(ebb_error* error, ebb_code code, const std::string& text) {
  EXPECT_EQ(ebb_error_code(error), code);
  EXPECT_NE(std::string(ebb_error_message(error)).find(text), std::string::npos)
      << ebb_error_message(error);
  ebb_error_release(error);
}

class EbbApiTest : public ::testing::Test {
 protected:
  EbbApiTest() : bytes_(TwiceBytes()) {
    const ebb_external external{"twice", &Twice, &calls_};
    ebb_load_options options{};
    options.struct_size = sizeof(options);
    options.externals = &external;
    options.external_count = 1;
    Ok(ebb_program_load_bytes(bytes_.data(), bytes_.size(), &options,
                              &program_));
  }
  ~EbbApiTest() override { ebb_program_release(program_); }

  ebb_session* MakeSession(const ebb_session_options* options = nullptr) {
    ebb_session* session = nullptr;
    Ok(ebb_session_create(program_, options, &session));
    return session;
  }
  ebb_tensor X() {
    return {.dtype = EBB_F32,
            .rank = 2,
            .dims = dims_,
            .strides = nullptr,
            .data = x_,
            .byte_size = sizeof(x_)};
  }

  std::vector<std::byte> bytes_;
  int calls_ = 0;
  ebb_program* program_ = nullptr;
  float x_[4] = {1, 2, 3, 4};
  int64_t dims_[2] = {2, 2};
};

TEST_F(EbbApiTest, DescribesTheProgram) {
  EXPECT_EQ(ebb_program_input_count(program_), 1U);
  EXPECT_EQ(ebb_program_output_count(program_), 2U);
  ebb_info info{};
  info.struct_size = sizeof(info);
  Ok(ebb_program_input_info(program_, 0, &info));
  EXPECT_STREQ(info.name, "x");
  EXPECT_EQ(info.kind, EBB_KIND_TENSOR);
  EXPECT_EQ(info.dtype, EBB_F32);
  ASSERT_EQ(info.rank, 2);
  EXPECT_EQ(info.dims[0], -1);
  EXPECT_EQ(info.dims[1], 2);
  EXPECT_STREQ(info.symbols[0], "n");
  EXPECT_STREQ(info.symbols[1], "");
  EXPECT_EQ(info.struct_size, sizeof(info));
  size_t index = 7;
  Ok(ebb_program_output_index(program_, "z", &index));
  EXPECT_EQ(index, 1U);
  Fails(ebb_program_input_index(program_, "z", &index), EBB_NOT_FOUND,
        "no input \"z\"; there are: \"x\"");
  Fails(ebb_program_output_info(program_, 2, &info), EBB_INVALID_ARGUMENT,
        "output 2 of 2");
  EXPECT_STREQ(ebb_program_producer(program_), "test");
  EXPECT_STREQ(ebb_program_target(program_), "");
  ASSERT_EQ(ebb_program_metadata_count(program_), 1U);
  EXPECT_STREQ(ebb_program_metadata_key(program_, 0), "opset");
  EXPECT_STREQ(ebb_program_metadata_value(program_, 0), "18");
  EXPECT_EQ(ebb_program_metadata_key(program_, 1), nullptr);
}

TEST_F(EbbApiTest, RunsAndHandsOutputsOut) {
  ebb_session* session = MakeSession();
  const ebb_tensor x = X();
  ebb_tensor y;
  Fails(ebb_session_output(session, 0, &y), EBB_INVALID_ARGUMENT,
        "there are no outputs");
  Ok(ebb_session_set_input_by_name(session, "x", &x));
  Ok(ebb_session_run(session));
  EXPECT_EQ(calls_, 1);
  Ok(ebb_session_output(session, 0, &y));
  EXPECT_EQ(y.rank, 2);
  EXPECT_EQ(y.byte_size, 16U);
  EXPECT_EQ(y.strides, nullptr);
  EXPECT_EQ(static_cast<float*>(y.data)[3], 8);
  Ok(ebb_session_output_by_name(session, "z", &y));
  EXPECT_EQ(static_cast<float*>(y.data)[3], -8);

  // Taken, fed back, donated; it outlives the session.
  ebb_value* value = nullptr;
  Ok(ebb_session_take_output(session, 0, &value));
  EXPECT_EQ(ebb_value_kind(value), EBB_KIND_TENSOR);
  EXPECT_EQ(ebb_value_count(value), 0U);
  Ok(ebb_session_set_input_value(session, 0, value));
  float bound[4];
  Ok(ebb_session_bind_output(session, 1, bound, sizeof(bound)));
  Ok(ebb_session_run(session));
  EXPECT_EQ(bound[3], -16);
  Ok(ebb_session_unbind_output(session, 1));
  Fails(ebb_session_unbind_output(session, 2), EBB_INVALID_ARGUMENT,
        "output 2 of 2");
  ebb_value* copy = nullptr;
  Ok(ebb_value_create_tensor(session, &x, &copy));
  Ok(ebb_session_donate_input(session, 0, copy));
  Ok(ebb_session_run(session));
  ebb_session_release(session);
  Ok(ebb_value_tensor(value, &y));
  EXPECT_EQ(static_cast<float*>(y.data)[3], 8);
  std::thread([value] { ebb_value_release(value); }).join();
}

TEST_F(EbbApiTest, ErrorsOfExternalFunctionsEndTheRun) {
  ebb_session* session = MakeSession();
  x_[0] = 1000;
  const ebb_tensor x = X();
  Ok(ebb_session_set_input(session, 0, &x));
  Fails(ebb_session_run(session), EBB_OUT_OF_RANGE,
        "external function \"twice\": too large to double");
  x_[0] = 1;
  Ok(ebb_session_set_input(session, 0, &x));
  Ok(ebb_session_run(session));
  ebb_session_release(session);
}

TEST_F(EbbApiTest, TensorsThatAreNoneAreRefused) {
  ebb_session* session = MakeSession();
  ebb_tensor x = X();
  x.rank = -1;
  Fails(ebb_session_set_input(session, 0, &x), EBB_INVALID_ARGUMENT, "rank -1");
  x = X();
  x.dims = nullptr;
  Fails(ebb_session_set_input(session, 0, &x), EBB_INVALID_ARGUMENT,
        "rank 2 without dims");
  x = X();
  x.dtype = 99;
  Fails(ebb_session_set_input(session, 0, &x), EBB_INVALID_ARGUMENT,
        "dtype 99 is none");
  x = X();
  x.byte_size = 15;
  Fails(ebb_session_set_input(session, 0, &x), EBB_INVALID_ARGUMENT,
        "needs 16 bytes, the buffer has 15");
  ebb_session_release(session);
}

TEST_F(EbbApiTest, StructsOfOtherVersionsAreRead) {
  // An older program knows only the first member; a newer one has more.
  struct Newer {
    ebb_session_options options;
    int more;
  } newer{};
  newer.options.struct_size = sizeof(newer);
  ebb_session_release(MakeSession(&newer.options));
  ebb_session_options older{};
  older.struct_size = sizeof(size_t);
  older.threads = -5;  // Past its end, so never read.
  ebb_session* session = MakeSession(&older);
  ebb_stats stats{};
  stats.struct_size = offsetof(ebb_stats, run_count);
  stats.run_count = 77;
  Ok(ebb_session_stats(session, &stats));
  EXPECT_EQ(stats.run_count, 77U);
  stats.struct_size = 0;
  Fails(ebb_session_stats(session, &stats), EBB_INVALID_ARGUMENT,
        "struct_size is 0");
  ebb_session_release(session);
  older.struct_size = sizeof(older);
  Fails(ebb_session_create(program_, &older, &session), EBB_INVALID_ARGUMENT,
        "threads: -5");
  older.threads = 1;
  older.allocator = 3;
  Fails(ebb_session_create(program_, &older, &session), EBB_INVALID_ARGUMENT,
        "allocator 3 is none");
  older.allocator = 0;
  older.backend = 9;
  Fails(ebb_session_create(program_, &older, &session), EBB_INVALID_ARGUMENT,
        "backend 9 is none");
}

struct Log {
  std::vector<std::string> lines;
};

TEST_F(EbbApiTest, ObserverSeesInstructionsAndMemory) {
  Log log;
  ebb_observer observer{};
  observer.struct_size = sizeof(observer);
  observer.user = &log;
  observer.before_instruction = [](void* user, const ebb_instruction* i) {
    static_cast<Log*>(user)->lines.push_back(std::string("> ") + i->function +
                                             " " + i->mnemonic + " " + i->op +
                                             " " + i->node + " " + i->value);
  };
  observer.after_instruction = [](void* user, const ebb_instruction* i) {
    static_cast<Log*>(user)->lines.push_back(std::string("< ") + i->mnemonic);
  };
  observer.memory = [](void* user, const ebb_memory_event* e) {
    static_cast<Log*>(user)->lines.push_back(
        "memory " + std::to_string(e->kind) + " " + e->name + " " +
        std::to_string(e->bytes) + " " + std::to_string(e->live_bytes));
  };
  ebb_session_options options{};
  options.struct_size = sizeof(options);
  options.observer = &observer;
  ebb_session* session = MakeSession(&options);
  const ebb_tensor x = X();
  Ok(ebb_session_set_input(session, 0, &x));
  Ok(ebb_session_run(session));
  EXPECT_EQ(log.lines,
            (std::vector<std::string>{"> main call_external   doubled",
                                      "memory 0  16 64", "< call_external",
                                      "> main op_alloc neg negate negated",
                                      "memory 0 negated 16 128", "< op_alloc",
                                      "> main return   ", "< return"}));
  log.lines.clear();
  ebb_session_release_outputs(session);
  EXPECT_EQ(log.lines, (std::vector<std::string>{"memory 3  16 64",
                                                 "memory 3 negated 16 0"}));
  ebb_session_release(session);
}

struct Bytes {
  size_t live = 0;
  size_t peak = 0;
};

TEST_F(EbbApiTest, MemoryMayComeFromTheEmbedder) {
  Bytes bytes;
  ebb_backing backing{};
  backing.user = &bytes;
  backing.allocate = [](void* user, size_t n, size_t align) -> void* {
    auto* counted = static_cast<Bytes*>(user);
    counted->live += n;
    counted->peak = std::max(counted->peak, counted->live);
    return ::operator new(n, std::align_val_t(align));
  };
  backing.free = [](void* user, void* p, size_t n) {
    static_cast<Bytes*>(user)->live -= n;
    // All blocks of the allocators have one alignment.
    ::operator delete(p, std::align_val_t(64));
  };
  for (const int32_t allocator :
       {EBB_ALLOCATOR_POOL, EBB_ALLOCATOR_NAIVE, EBB_ALLOCATOR_SIZE_BUCKET}) {
    ebb_session_options options{};
    options.struct_size = sizeof(options);
    options.backing = &backing;
    options.allocator = allocator;
    ebb_session* session = MakeSession(&options);
    const ebb_tensor x = X();
    Ok(ebb_session_set_input(session, 0, &x));
    Ok(ebb_session_run(session));
    EXPECT_GT(bytes.peak, 0U);
    ebb_stats stats{};
    stats.struct_size = sizeof(stats);
    Ok(ebb_session_stats(session, &stats));
    EXPECT_GE(stats.live_bytes, 32U);
    EXPECT_EQ(stats.reserved_bytes, stats.live_bytes + stats.cached_bytes);
    EXPECT_EQ(stats.run_count, 1U);
    ebb_value* value = nullptr;
    Ok(ebb_session_take_output(session, 0, &value));
    ebb_session_release_outputs(session);
    ebb_session_trim(session);
    ebb_session_reset_high_water(session);
    // The value's memory stays the embedder's past the session's end.
    ebb_session_release(session);
    EXPECT_GT(bytes.live, 0U);
    ebb_value_release(value);
    EXPECT_EQ(bytes.live, 0U);
  }
}

TEST_F(EbbApiTest, LimitsAreErrorsAndMayBeRaised) {
  ebb_session_options options{};
  options.struct_size = sizeof(options);
  options.allocator = EBB_ALLOCATOR_NAIVE;
  options.memory_limit_bytes = 64;
  ebb_session* session = MakeSession(&options);
  const ebb_tensor x = X();
  Ok(ebb_session_set_input(session, 0, &x));
  Fails(ebb_session_run(session), EBB_OUT_OF_MEMORY,
        "node \"negate\" (neg): out of memory: \"negated\" needs 16 bytes, 64 "
        "are live, the limit is 64");
  ebb_session_set_memory_limit(session, 4096);
  Ok(ebb_session_set_input(session, 0, &x));
  Ok(ebb_session_run(session));
  ebb_session_release(session);
}

TEST(EbbApiLoadTest, NamesMissingExternalsAndDamage) {
  std::vector<std::byte> bytes = TwiceBytes();
  ebb_program* program = nullptr;
  Fails(ebb_program_load_bytes(bytes.data(), bytes.size(), nullptr, &program),
        EBB_NOT_FOUND, "external functions are not registered: \"twice\"");
  bytes[bytes.size() / 2] ^= std::byte{1};
  ebb_error* error =
      ebb_program_load_bytes(bytes.data(), bytes.size(), nullptr, &program);
  EXPECT_NE(error, nullptr);
  ebb_error_release(error);
  Fails(ebb_program_load_file("/nowhere/model.ebb", nullptr, &program),
        EBB_NOT_FOUND, "/nowhere/model.ebb");
  EXPECT_EQ(program, nullptr);
}

TEST(EbbApiLoadTest, SmallThings) {
  EXPECT_NE(std::string(ebb_version()), "");
  EXPECT_STREQ(ebb_dtype_name(EBB_BF16), "bf16");
  EXPECT_STREQ(ebb_dtype_name(99), "invalid");
  EXPECT_EQ(ebb_dtype_bits(EBB_I4), 4);
  EXPECT_EQ(ebb_dtype_bits(-1), 0);
  EXPECT_STREQ(ebb_code_name(EBB_OUT_OF_MEMORY), "out_of_memory");
  EXPECT_STREQ(ebb_code_name(EBB_OK), "ok");
  EXPECT_EQ(ebb_error_code(nullptr), EBB_OK);
  EXPECT_STREQ(ebb_error_message(nullptr), "");
  ebb_error* error = ebb_error_create(EBB_CANCELLED, "stop");
  EXPECT_STREQ(ebb_error_message(error), "stop");
  EXPECT_STREQ(ebb_error_where(error), "");
  ebb_error_release(error);
  ebb_error_release(nullptr);
  ebb_value_release(nullptr);
  ebb_session_release(nullptr);
  ebb_program_release(nullptr);
}

TEST(EbbApiLoadTest, SequencesAndOptionals) {
  TestProgram p;
  FunctionBuilder f = p.Function("main");
  f.AddParam("s", p.Any());
  f.AddParam("o", p.Any());
  f.AddResult("t", p.Any());
  f.Emit(Opcode::kMakeTuple)
      .DefHold(2)
      .Passes({PassOperand::Share(0), PassOperand::Share(1)});
  p.Return(f, {2});
  f.Finish();
  const auto bytes = bytecode::ModuleToBytes(p.Finish()).value();
  ebb_load_options load{};
  load.struct_size = sizeof(load);
  load.copy_bytes = 1;
  ebb_program* program = nullptr;
  Ok(ebb_program_load_bytes(bytes.data(), bytes.size(), &load, &program));
  ebb_session* session = nullptr;
  Ok(ebb_session_create(program, nullptr, &session));
  ebb_program_release(program);
  float data = 5;
  const ebb_tensor tensor{.dtype = EBB_F32,
                          .rank = 0,
                          .dims = nullptr,
                          .strides = nullptr,
                          .data = &data,
                          .byte_size = 4};
  ebb_value* scalar = nullptr;
  ebb_value* sequence = nullptr;
  ebb_value* optional = nullptr;
  Ok(ebb_value_create_tensor(session, &tensor, &scalar));
  const ebb_value* items[] = {scalar, scalar};
  Ok(ebb_value_create_sequence(session, items, 2, &sequence));
  Ok(ebb_value_create_optional(session, nullptr, &optional));
  Ok(ebb_session_set_input_value(session, 0, sequence));
  Ok(ebb_session_set_input_value(session, 1, optional));
  Ok(ebb_session_run(session));
  ebb_value* tuple = nullptr;
  ebb_value* item = nullptr;
  ebb_value* inner = nullptr;
  Ok(ebb_session_take_output(session, 0, &tuple));
  EXPECT_EQ(ebb_value_kind(tuple), EBB_KIND_TUPLE);
  ASSERT_EQ(ebb_value_count(tuple), 2U);
  Ok(ebb_value_item(session, tuple, 0, &item));
  EXPECT_EQ(ebb_value_kind(item), EBB_KIND_SEQUENCE);
  Ok(ebb_value_item(session, item, 1, &inner));
  ebb_tensor out;
  Ok(ebb_value_tensor(inner, &out));
  EXPECT_EQ(*static_cast<float*>(out.data), 5);
  Fails(ebb_value_tensor(item, &out), EBB_INVALID_ARGUMENT, "of kind sequence");
  Fails(ebb_value_item(session, item, 2, &inner), EBB_INVALID_ARGUMENT,
        "item 2 of 2");
  for (ebb_value* value : {scalar, sequence, optional, tuple, item, inner}) {
    ebb_value_release(value);
  }
  ebb_session_release(session);
}

}  // namespace
}  // namespace ebb::vm
