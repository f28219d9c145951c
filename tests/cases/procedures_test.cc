// The procedures that READMEs of the cases state: what has to hold besides the
// values of one run. `ebb test` compares the values of all cases.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/cases/case_files.h"

namespace ebb::cases {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

constexpr const char* kNoCases = "the cases are not there: EBB_SHARED_DIR";

std::unique_ptr<vm::Session> MakeSession(const std::string& name,
                                         vm::SessionOptions options = {}) {
  auto program = Compile(name);
  EXPECT_TRUE(program.has_value()) << program.error().ToString();
  if (!program.has_value()) return nullptr;
  auto session = vm::Session::Create(std::move(*program), options);
  EXPECT_TRUE(session.has_value()) << session.error().ToString();
  return session.has_value() ? std::move(*session) : nullptr;
}

std::vector<DataSet> AllSets(const std::string& name) {
  std::vector<DataSet> sets;
  for (int k = 0;; ++k) {
    auto set = ReadDataSet(name, k);
    EXPECT_TRUE(set.has_value()) << set.error().ToString();
    if (!set.has_value() || set->inputs.empty()) return sets;
    sets.push_back(std::move(*set));
  }
}

const bytecode::Type& InputType(const vm::Program& program, std::size_t i) {
  return program.module().types[program.entry().params[i].type.index()];
}

// A line of /proc/self/status in bytes.
uint64_t StatusBytes(const std::string& key) {
  std::ifstream file("/proc/self/status");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with(key + ":")) {
      return std::strtoull(line.c_str() + key.size() + 1, nullptr, 10) * 1024;
    }
  }
  return 0;
}

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

TEST(ProceduresTest, CallersInputIsKeptOverRuns) {
  const std::string name = "caller_input_kept_over_runs";
  if (FolderOf(name).empty()) GTEST_SKIP() << kNoCases;
  std::vector<DataSet> sets = AllSets(name);
  ASSERT_EQ(sets.size(), 5U);
  const auto session = MakeSession(name);
  ASSERT_NE(session, nullptr);
  for (const std::size_t k : {0, 1, 2, 3, 4, 4, 3, 2, 1, 0}) {
    const auto before = sets[k].inputs[0].bytes;
    EXPECT_EQ(RunAndCompare(*session, sets[k]), "") << "set " << k;
    EXPECT_EQ(sets[k].inputs[0].bytes, before) << "set " << k;
  }
}

TEST(ProceduresTest, MemoryDoesNotGrowOverVaryingShapes) {
  const std::string name = "growth_over_varying_shapes";
  if (FolderOf(name).empty()) GTEST_SKIP() << kNoCases;
  std::vector<DataSet> sets = AllSets(name);
  const auto session = MakeSession(name);
  ASSERT_NE(session, nullptr);
  for (DataSet& set : sets) EXPECT_EQ(RunAndCompare(*session, set), "");
  session->ReleaseOutputs();
  const uint64_t live = session->stats().memory.live_bytes;
  NamedTensor input = sets[0].inputs[0];
  int64_t row = 1;
  for (std::size_t i = 1; i < input.dims.size(); ++i) row *= input.dims[i];
  ASSERT_EQ(input.dtype, DType::kF32);
  input.bytes.resize(static_cast<std::size_t>(512 * row) * sizeof(float));

  // What the largest batch needs, measured alone.
  const auto alone = MakeSession(name);
  input.dims[0] = 512;
  ASSERT_TRUE(alone->SetInput(0, input.View()).has_value());
  ASSERT_TRUE(alone->Run().has_value());
  const uint64_t need = alone->stats().last_run.live_high_water;

  const int runs = kSanitized ? 3'000 : 20'000;
  uint64_t after_600 = 0;
  for (int i = 0; i < runs; ++i) {
    input.dims[0] = 1 + static_cast<int64_t>(i) * 7919 % 512;
    ASSERT_TRUE(session->SetInput(0, input.View()).has_value());
    const Status run = session->Run();
    ASSERT_TRUE(run.has_value()) << run.error().ToString();
    EXPECT_LE(session->stats().memory.reserved_bytes, 2 * need) << "run " << i;
    session->ReleaseOutputs();
    ASSERT_EQ(session->stats().memory.live_bytes, live) << "run " << i;
    if (i == 600) after_600 = StatusBytes("VmRSS");
  }
  const uint64_t at_end = StatusBytes("VmRSS");
  if (!kSanitized) {  // A sanitizer keeps what is freed.
    EXPECT_LE(at_end, after_600 + std::max(after_600 / 20, uint64_t{2} << 20U));
  }
  session->Trim();
  EXPECT_EQ(session->stats().memory.cached_bytes, 0U);
}

// Compiles and runs the model in this process and prints what it took.
int LoadBigModel(const std::string& path, float expected) {
  compiler::CompileOptions options;
  options.for_running = true;
  auto module = compiler::CompileFile(path, options);
  if (!module.has_value()) return 2;
  auto program = vm::Program::Load(std::move(*module), {});
  if (!program.has_value()) return 3;
  auto session = vm::Session::Create(std::move(*program), {});
  if (!session.has_value()) return 4;
  const int64_t n = InputType((*session)->program(), 0).dims[1].size;
  std::vector<float> ones(static_cast<std::size_t>(n), 1.0F);
  const std::vector<int64_t> dims = {1, n};
  vm::TensorView view{
      .dtype = DType::kF32, .dims = dims, .strides = {}, .data = ones.data()};
  if (!(*session)->SetInput(0, view).has_value()) return 5;
  if (!(*session)->Run().has_value()) return 6;
  const auto output = (*session)->Output(0);
  const auto* y = static_cast<const float*>(output->data);
  for (int64_t i = 0; i < n; ++i) {
    if (y[i] != expected) return 7;
  }
  const uint64_t file = std::filesystem::file_size(path);
  const uint64_t slack = uint64_t{32} << 20U;
  const uint64_t peak = StatusBytes("VmHWM");
  const uint64_t resident = StatusBytes("VmRSS");
  std::printf("file %llu MiB, peak %llu MiB, resident %llu MiB\n",
              static_cast<unsigned long long>(file >> 20U),
              static_cast<unsigned long long>(peak >> 20U),
              static_cast<unsigned long long>(resident >> 20U));
  std::fflush(stdout);
  if (kSanitized) return 0;
  if (peak > file + file * 15 / 100 + slack) return 8;
  if (resident > file + file / 10 + slack) return 9;
  return 0;
}

TEST(ProceduresTest, InlineWeightsAreHeldOnce) {
  const std::string name = "load_peak_inline_weights";
  if (FolderOf(name).empty()) GTEST_SKIP() << kNoCases;
  const std::string folder = std::string(EBB_BINARY_DIR) + "/cases";
  std::filesystem::create_directories(folder);
  const std::string path = folder + "/big.onnx";
  // Debian's interpreter is the one that has onnx and numpy.
  const std::string command = "/usr/bin/python3 '" + FolderOf(name) +
                              "/make_model.py' '" + path + "' 64 >/dev/null";
  if (!std::filesystem::exists(path) && std::system(command.c_str()) != 0) {
    GTEST_SKIP() << "make_model.py does not run: no python3 with onnx";
  }
  // A process of its own, so that the peak is that of the load alone.
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe");
    setenv("EBB_LOAD_BIG_MODEL", path.c_str(), 1);
    execl(self.c_str(), self.c_str(),
          "--gtest_filter=ProceduresTest.ChildLoadsABigModel",
          static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  std::filesystem::remove(path);
}

// The child of the test above.
TEST(ProceduresTest, ChildLoadsABigModel) {
  const char* const path = std::getenv("EBB_LOAD_BIG_MODEL");
  if (path == nullptr) GTEST_SKIP() << "started by InlineWeightsAreHeldOnce";
  EXPECT_EQ(LoadBigModel(path, 0.5F * 1.5F * 2.5F * 3.5F), 0);
}

TEST(ProceduresTest, OneModelRunsInManyThreads) {
  const std::string name = "one_model_many_threads";
  if (FolderOf(name).empty()) GTEST_SKIP() << kNoCases;
  const std::vector<DataSet> sets = AllSets(name);
  ASSERT_EQ(sets.size(), 3U);
  auto program = Compile(name);
  ASSERT_TRUE(program.has_value()) << program.error().ToString();
  const int runs = kSanitized ? 300 : 3'000;
  std::vector<std::string> errors(8);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < errors.size(); ++t) {
    threads.emplace_back([&, t] {
      std::vector<DataSet> own = sets;
      auto session = vm::Session::Create(*program, {});
      for (int i = 0; i < runs && errors[t].empty(); ++i) {
        const std::size_t k = (t + static_cast<std::size_t>(i)) % 3;
        errors[t] = RunAndCompare(**session, own[k]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& error : errors) EXPECT_EQ(error, "");
}

TEST(ProceduresTest, AnOutputIsFedBackThreeWays) {
  const std::string name = "output_fed_back_as_input";
  if (FolderOf(name).empty()) GTEST_SKIP() << kNoCases;
  std::vector<DataSet> sets = AllSets(name);
  ASSERT_GE(sets.size(), 2U);
  const auto session = MakeSession(name);
  ASSERT_NE(session, nullptr);
  for (DataSet& set : sets) EXPECT_EQ(RunAndCompare(*session, set), "");

  const auto h = session->InputIndex("h");
  const auto hn = session->OutputIndex("hn");
  ASSERT_TRUE(h.has_value() && hn.has_value());
  const auto set_others = [&](DataSet& set, bool with_state) {
    for (NamedTensor& input : set.inputs) {
      if (input.name == "h" && !with_state) continue;
      const auto index = session->InputIndex(input.name);
      ASSERT_TRUE(session->SetInput(*index, input.View()).has_value());
    }
  };
  // The very output, borrowed, without a copy.
  for (std::size_t k = 0; k < sets.size(); ++k) {
    if (k != 0) {
      const auto state = session->Output(*hn);
      ASSERT_TRUE(state.has_value());
      ASSERT_TRUE(session->SetInput(*h, *state).has_value());
    }
    set_others(sets[k], k == 0);
    const Status run = session->Run();
    ASSERT_TRUE(run.has_value()) << run.error().ToString();
    EXPECT_EQ(Difference(*session, sets[k]), "") << "set " << k;
  }
  // Kept: unchanged by the run that reads it.
  vm::TakenValue kept;
  for (std::size_t k = 0; k < sets.size(); ++k) {
    std::vector<std::byte> before;
    if (k != 0) {
      const vm::TensorView view = *kept.tensor();
      const auto* at = static_cast<const std::byte*>(view.data);
      before.assign(at, at + view.byte_size);
      ASSERT_TRUE(session->SetInputValue(*h, kept).has_value());
    }
    set_others(sets[k], k == 0);
    ASSERT_TRUE(session->Run().has_value());
    EXPECT_EQ(Difference(*session, sets[k]), "") << "set " << k;
    if (k != 0) {
      EXPECT_EQ(std::memcmp(kept.tensor()->data, before.data(), before.size()),
                0);
    }
    auto taken = session->Take(*hn);
    ASSERT_TRUE(taken.has_value());
    kept = std::move(*taken);
  }
  kept = {};
  // Bound to the memory that holds h.
  NamedTensor state = sets[0].inputs[0];
  for (const NamedTensor& input : sets[0].inputs) {
    if (input.name == "h") state = input;
  }
  ASSERT_TRUE(session
                  ->BindOutput(*hn, state.bytes.data(),
                               static_cast<int64_t>(state.bytes.size()))
                  .has_value());
  for (std::size_t k = 0; k < sets.size(); ++k) {
    ASSERT_TRUE(session->SetInput(*h, state.View()).has_value());
    set_others(sets[k], false);
    const Status run = session->Run();
    ASSERT_TRUE(run.has_value()) << run.error().ToString();
    EXPECT_EQ(Difference(*session, sets[k]), "") << "set " << k;
  }
}

TEST(ProceduresTest, ThePeakOfLiveBytesIsTheOneKnownByHand) {
  const std::string name = "peak_live_bytes_known";
  if (FolderOf(name).empty()) GTEST_SKIP() << kNoCases;
  DataSet set = AllSets(name).at(0);
  const auto session = MakeSession(name);
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(RunAndCompare(*session, set), "");
  // 16 + 128 + 256 KiB, and 64 bytes for each of at most 24 live values.
  EXPECT_LE(session->stats().last_run.live_high_water, 409'600U + 64 * 24);
}

TEST(ProceduresTest, AWeightIsADefaultThatMayBeOverridden) {
  const std::string name = "weight_default_then_overridden";
  if (FolderOf(name).empty()) GTEST_SKIP() << kNoCases;
  std::vector<DataSet> sets = AllSets(name);
  ASSERT_EQ(sets.size(), 3U);
  ASSERT_EQ(sets[1].inputs.size(), 1U);
  const auto session = MakeSession(name);
  ASSERT_NE(session, nullptr);
  for (const std::size_t k : {0, 1, 2, 1}) {
    EXPECT_EQ(RunAndCompare(*session, sets[k]), "") << "set " << k;
  }
}

// 60 nodes, each of which reads the one before twice.
TEST(ProceduresTest, ADoublingLadderLoadsAtOnce) {
  const std::string name = "doubling_ladder_60";
  if (FolderOf(name).empty()) GTEST_SKIP() << kNoCases;
  const auto start = std::chrono::steady_clock::now();
  const auto session = MakeSession(name);
  EXPECT_LT(SecondsSince(start), kSanitized ? 1.0 : 0.25);
  ASSERT_NE(session, nullptr);
  DataSet set = AllSets(name).at(0);
  EXPECT_EQ(RunAndCompare(*session, set), "");
  const uint64_t one = (set.outputs[0].bytes.size() + 63) / 64 * 64;
  EXPECT_LE(session->stats().last_run.live_high_water, 2 * one);
}

TEST(ProceduresTest, NestedIfsLoadAndRunAtOnce) {
  const std::string name = "nested_if_20_levels";
  if (FolderOf(name).empty()) GTEST_SKIP() << kNoCases;
  std::vector<DataSet> sets = AllSets(name);
  const auto start = std::chrono::steady_clock::now();
  const auto session = MakeSession(name);
  ASSERT_NE(session, nullptr);
  for (DataSet& set : sets) EXPECT_EQ(RunAndCompare(*session, set), "");
  EXPECT_LT(SecondsSince(start), kSanitized ? 3.0 : 1.0);
}

TEST(ProceduresTest, DivisionOfIntegersNeverKillsTheProcess) {
  const std::string name = "int_div_toward_zero";
  if (FolderOf(name).empty()) GTEST_SKIP() << kNoCases;
  DataSet set = AllSets(name).at(0);
  const auto session = MakeSession(name);
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(RunAndCompare(*session, set), "");
  // Every divisor 0, then -1 with the smallest number of the dtype.
  for (const int divisor : {0, -1}) {
    DataSet odd = set;
    for (std::size_t i = 0; i < odd.inputs.size(); ++i) {
      auto& bytes = odd.inputs[i].bytes;
      const std::size_t size =
          static_cast<std::size_t>(DTypeBits(odd.inputs[i].dtype)) / 8;
      const bool is_divisor = i % 2 == 1;
      std::fill(bytes.begin(), bytes.end(),
                static_cast<std::byte>(is_divisor ? divisor : 0));
      for (std::size_t at = size; !is_divisor && at <= bytes.size();
           at += size) {
        bytes[at - 1] = std::byte{0x80};
      }
    }
    ASSERT_TRUE(Feed(*session, odd.inputs).has_value());
    (void)session->Run();  // A result or an error, either will do.
  }
  EXPECT_EQ(RunAndCompare(*session, set), "");
}

// Refused runs leave a model that still runs.
TEST(ProceduresTest, AnIndexOutOfRangeIsRefusedAndTheModelStaysUsable) {
  const std::string name = "bad_gather_index_at_run_time";
  if (FolderOf(name).empty()) GTEST_SKIP() << kNoCases;
  const auto session = MakeSession(name);
  ASSERT_NE(session, nullptr);
  std::vector<DataSet> sets = AllSets(name);
  for (DataSet& set : sets) {
    ASSERT_TRUE(Feed(*session, set.inputs).has_value());
    const Status run = session->Run();
    ASSERT_FALSE(run.has_value());
    EXPECT_EQ(run.error().code, ErrorCode::kOutOfRange);
    EXPECT_NE(run.error().where, "");
  }
  for (NamedTensor& input : sets[0].inputs) {
    if (IsInteger(input.dtype)) {
      std::fill(input.bytes.begin(), input.bytes.end(), std::byte{0});
    }
  }
  ASSERT_TRUE(Feed(*session, sets[0].inputs).has_value());
  EXPECT_TRUE(session->Run().has_value());
}

TEST(ProceduresTest, AFeedThatDoesNotFitIsRefused) {
  const std::string name = "bad_feed_at_run_time";
  if (FolderOf(name).empty()) GTEST_SKIP() << kNoCases;
  const auto session = MakeSession(name);
  ASSERT_NE(session, nullptr);
  for (DataSet& set : AllSets(name)) {
    const Status fed = Feed(*session, set.inputs);
    EXPECT_FALSE(fed.has_value());
    if (!fed.has_value()) {
      EXPECT_NE(fed.error().ToString().find("input"), std::string::npos);
    }
    session->ClearInputs();
  }
}

// The malformed models are refused while they are read or compiled.
TEST(ProceduresTest, BadModelsAreRefusedByName) {
  const struct {
    const char* name;
    const char* says;
  } bad[] = {{"bad_ext_data_parent_folder", "leaves the model's folder"},
             {"bad_raw_longer_than_dims", "holds 80 bytes"},
             {"bad_dims_product_wraps", "do not fit"},
             {"bad_one_name_two_nodes", "two producers"},
             {"bad_node_without_inputs", "needs at least 2 inputs"},
             {"bad_conv_scalar_weight", "Conv"}};
  if (FolderOf(bad[0].name).empty()) GTEST_SKIP() << kNoCases;
  for (const auto& one : bad) {
    const auto program = Compile(one.name);
    ASSERT_FALSE(program.has_value()) << one.name;
    EXPECT_NE(program.error().ToString().find(one.says), std::string::npos)
        << program.error().ToString();
  }
}

TEST(ProceduresTest, NodesOutOfOrderAreSorted) {
  const std::string name = "nodes_out_of_order";
  if (FolderOf(name).empty()) GTEST_SKIP() << kNoCases;
  const auto session = MakeSession(name);
  ASSERT_NE(session, nullptr);
  for (DataSet& set : AllSets(name)) {
    EXPECT_EQ(RunAndCompare(*session, set), "");
  }
}

TEST(ProceduresTest, AReaderDoesNotWriteIntoWhatOthersRead) {
  const std::string name = "one_value_four_readers";
  if (FolderOf(name).empty()) GTEST_SKIP() << kNoCases;
  for (const int threads : {1, 2}) {
    const auto session = MakeSession(name, {.threads = threads});
    ASSERT_NE(session, nullptr);
    for (DataSet& set : AllSets(name)) {
      EXPECT_EQ(RunAndCompare(*session, set), "");
    }
  }
}

}  // namespace
}  // namespace ebb::cases
