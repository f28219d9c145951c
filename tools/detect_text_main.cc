// Finds text in a picture with a PP-OCR detector: the demo's program, and an
// example of how a C++ program uses a compiled model. What the model needs is
// done in detect_text.h; the runtime is used through its public header only.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "tools/detect_text.h"
#include "tools/picture.h"
#include "vm/ebb.hpp"

namespace {

constexpr char kUsage[] =
    "Usage: ebb_detect_text MODEL.ebb PICTURE.png [OUT.png] [--size N] "
    "[--runs N] [--threads N]\n\n"
    "Finds lines of text with a PP-OCR detector and prints their corners and "
    "scores;\nwith OUT.png also draws them. The picture is scaled to fit N x "
    "N (default 640, a\nmultiple of 32).\n";

constexpr ebb::tools::Colour kColour = {255, 0, 110};

struct Options {
  std::vector<std::string> files;
  int size = 640;
  int runs = 1;
  int threads = 1;
};

// False when the words make no sense.
bool Parse(int argc, char** argv, Options& options) {
  const std::array<std::pair<const char*, int*>, 3> numbers = {
      {{"--size", &options.size},
       {"--runs", &options.runs},
       {"--threads", &options.threads}}};
  for (int i = 1; i < argc; ++i) {
    const auto* const number = std::find_if(
        numbers.begin(), numbers.end(),
        [&](const auto& row) { return std::strcmp(argv[i], row.first) == 0; });
    if (number == numbers.end()) {
      if (argv[i][0] == '-') return false;
      options.files.emplace_back(argv[i]);
      continue;
    }
    if (++i == argc) return false;
    *number->second = std::atoi(argv[i]);
    if (*number->second < 1) return false;
  }
  return (options.files.size() == 2 || options.files.size() == 3) &&
         options.size % 32 == 0 && options.size <= 4096;
}

double MillisecondsOf(ebb::Session& session) {
  const auto start = std::chrono::steady_clock::now();
  session.Run();
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - start)
      .count();
}

void PrintBoxes(const std::vector<ebb::tools::TextBox>& boxes) {
  std::printf("%zu lines of text\n", boxes.size());
  std::printf("  score  corners, clockwise from the upper left\n");
  for (const auto& box : boxes) {
    std::printf("  %.3f ", box.score);
    for (const auto& corner : box.corners) {
      std::printf(" (%.0f, %.0f)", corner.x, corner.y);
    }
    std::printf("\n");
  }
}

int Detect(const Options& options) {
  namespace tools = ebb::tools;
  auto picture = tools::ReadPng(options.files[1]);
  if (!picture.has_value()) {
    std::fprintf(stderr, "ebb_detect_text: %s\n",
                 picture.error().ToString().c_str());
    return 2;
  }
  const tools::DetectorInput input =
      tools::PrepareForDetector(*picture, options.size);

  const ebb::Program program = ebb::Program::Load(options.files[0]);
  ebb_session_options session_options{};
  session_options.threads = options.threads;
  ebb::Session session(program, session_options);
  std::vector<double> times;
  // The first run prepares the kernels and is not counted among more.
  for (int run = 0; run < options.runs + (options.runs > 1 ? 1 : 0); ++run) {
    session.SetInput(std::size_t{0}, input.pixels.data(),
                     {1, 3, options.size, options.size});
    times.push_back(MillisecondsOf(session));
  }
  if (times.size() > 1) times.erase(times.begin());
  std::sort(times.begin(), times.end());

  const ebb::TensorRef map = session.Output(std::size_t{0});
  const std::vector<int64_t> expected = {1, 1, options.size, options.size};
  if (map.dims() != expected) {
    std::fprintf(stderr, "ebb_detect_text: the output is no [1,1,%d,%d] map\n",
                 options.size, options.size);
    return 1;
  }
  std::vector<tools::TextBox> boxes = tools::FindTextBoxes(
      {map.data<float>(), map.size()}, options.size, options.size, {});
  tools::ToPicture(input, boxes);
  PrintBoxes(boxes);
  const ebb_stats stats = session.Stats();
  std::printf("%.1f ms a run (median of %zu, %d threads), live peak %.1f MiB\n",
              times[times.size() / 2], times.size(), options.threads,
              static_cast<double>(stats.run_live_high_water_bytes) / 0x1p20);
  if (options.files.size() < 3) return 0;
  for (const auto& box : boxes) {
    tools::DrawPolygon(*picture, box.corners, kColour, 3);
  }
  const ebb::Status written = tools::WritePng(options.files[2], *picture);
  if (!written.has_value()) {
    std::fprintf(stderr, "ebb_detect_text: %s\n",
                 written.error().ToString().c_str());
    return 1;
  }
  std::printf("drawn in %s\n", options.files[2].c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!Parse(argc, argv, options)) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  try {
    return Detect(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ebb_detect_text: %s\n", error.what());
    return 1;
  }
}
