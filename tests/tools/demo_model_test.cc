// The demo's model on the demo's picture: the lines of text are found, and the
// peak of the memory is what the README says. Skipped without the model.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tools/detect_text.h"
#include "tools/load_model.h"
#include "tools/measure.h"
#include "tools/picture.h"

namespace ebb::tools {
namespace {

constexpr int kSize = 640;

// A line of the picture and a point in the middle of its letters.
constexpr std::array kLines = {std::pair("HARBOUR BAKERY", Point{280, 305}),
                               std::pair("EBB & FLOW", Point{697, 298}),
                               std::pair("LIVE", Point{697, 350}),
                               std::pair("Saturday", Point{697, 402}),
                               std::pair("8 pm Pier 26", Point{697, 441}),
                               std::pair("fresh bread", Point{200, 445}),
                               std::pair("OPEN", Point{450, 468}),
                               std::pair("daily from 6 to 18", Point{200, 493}),
                               std::pair("RIVER STREET", Point{685, 520}),
                               std::pair("BUS", Point{561, 577}),
                               std::pair("42", Point{561, 608}),
                               std::pair("SLOW TIDE", Point{196, 679}),
                               std::pair("parcels by boat", Point{196, 716})};

// On the inner side of all four edges, which go clockwise.
bool Contains(const TextBox& box, Point p) {
  for (std::size_t i = 0; i < 4; ++i) {
    const Point a = box.corners[i];
    const Point b = box.corners[(i + 1) % 4];
    if ((b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x) < 0) return false;
  }
  return true;
}

class DemoModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("EBB_MODELS_DIR");
    const std::filesystem::path models =
        folder != nullptr
            ? std::filesystem::path(folder)
            : std::filesystem::path(EBB_SOURCE_DIR) / "build/models";
    const auto path = models / "ppocr4_det/model.onnx";
    if (!std::filesystem::exists(path)) {
      GTEST_SKIP() << path << " is not there (tools/setup --model ppocr4_det)";
    }
    ModelOptions options;
    options.compile.import.shapes["x"] = {
        {1, 1}, {3, 3}, {kSize, kSize}, {kSize, kSize}};
    auto program = LoadProgram(path.string(), options);
    ASSERT_TRUE(program.has_value()) << program.error().ToString();
    program_ = std::move(*program);
    auto picture = ReadPng(EBB_SOURCE_DIR "/docs/images/street.png");
    ASSERT_TRUE(picture.has_value()) << picture.error().ToString();
    input_ = PrepareForDetector(*picture, kSize);
    auto tensor = HostTensor::Make(DType::kF32, {1, 3, kSize, kSize});
    ASSERT_TRUE(tensor.has_value());
    std::memcpy(tensor->bytes().data(), input_.pixels.data(),
                tensor->bytes().size());
    inputs_.emplace_back(std::move(*tensor));
  }

  vm::ProgramRef program_;
  DetectorInput input_;
  MadeInputs inputs_;
};

TEST_F(DemoModelTest, FindsEveryLineOfThePicture) {
  auto session = vm::Session::Create(program_, {.threads = 2});
  ASSERT_TRUE(session.has_value());
  ASSERT_TRUE(SetInputs(**session, inputs_).has_value());
  const Status run = (*session)->Run();
  ASSERT_TRUE(run.has_value()) << run.error().ToString();
  const auto map = (*session)->Output(0);
  ASSERT_TRUE(map.has_value());
  std::vector<TextBox> boxes = FindTextBoxes(
      {static_cast<const float*>(map->data), kSize * kSize}, kSize, kSize, {});
  ToPicture(input_, boxes);
  EXPECT_EQ(boxes.size(), kLines.size());
  for (const auto& [text, middle] : kLines) {
    EXPECT_EQ(
        std::ranges::count_if(
            boxes, [&](const TextBox& box) { return Contains(box, middle); }),
        1)
        << text;
  }
}

TEST_F(DemoModelTest, LivePeakIsTheLowerBoundAndReservedIsNear) {
  const auto trace = TraceRun(program_, {}, inputs_);
  ASSERT_TRUE(trace.has_value()) << trace.error().ToString();
  const auto stats = MeasureRuns(program_, {}, inputs_);
  ASSERT_TRUE(stats.has_value()) << stats.error().ToString();
  const uint64_t bound = (*trace)->LowerBound().bytes;
  EXPECT_LE(bound, 39'321'600u);
  EXPECT_EQ(stats->live_high_water, bound);
  EXPECT_LE(stats->reserved_high_water * 100, bound * 115);
  EXPECT_GT((*trace)->TotalBytes(), 650u << 20);
}

}  // namespace
}  // namespace ebb::tools
