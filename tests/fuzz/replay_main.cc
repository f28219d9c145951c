// Runs a fuzz target without libFuzzer: over every file of the folders and
// files named on the command line, then over inputs made up here (empty, runs
// of one byte, seeded random bytes), so that a target without a corpus is still
// run. A failure is a crash or a sanitizer report, as under libFuzzer; the name
// of the input is on stderr before it is run when EBB_FUZZ_VERBOSE is set.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size);

namespace {

void RunOne(const std::string& name, const std::vector<std::uint8_t>& input) {
  if (std::getenv("EBB_FUZZ_VERBOSE") != nullptr) {
    std::fprintf(stderr, "%s (%zu bytes)\n", name.c_str(), input.size());
  }
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

bool RunFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "replay: cannot read %s\n", path.c_str());
    return false;
  }
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file),
                                std::istreambuf_iterator<char>()};
  RunOne(path.string(), {bytes.begin(), bytes.end()});
  return true;
}

std::size_t RunMadeUpInputs() {
  std::size_t count = 0;
  RunOne("empty", {});
  ++count;
  for (const std::size_t size : {1, 8, 64, 4096}) {
    for (const int byte : {0x00, 0x01, 0x7f, 0xff}) {
      RunOne("repeated",
             std::vector<std::uint8_t>(size, static_cast<std::uint8_t>(byte)));
      ++count;
    }
  }
  std::mt19937 random(1);
  for (std::size_t i = 0; i < 64; ++i) {
    std::vector<std::uint8_t> input(i * 8);
    std::generate(input.begin(), input.end(),
                  [&] { return static_cast<std::uint8_t>(random() & 0xffU); });
    RunOne("random", input);
    ++count;
  }
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    const std::filesystem::path path = argv[i];
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(path)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    if (!RunFile(file)) return 1;
  }
  const std::size_t made_up_count = RunMadeUpInputs();
  std::printf("%zu corpus files and %zu made-up inputs\n", files.size(),
              made_up_count);
  return 0;
}
