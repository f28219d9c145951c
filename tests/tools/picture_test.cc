#include "tools/picture.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace ebb::tools {
namespace {

std::string TempPath(const char* name) {
  return (std::filesystem::path(::testing::TempDir()) / name).string();
}

TEST(PictureTest, WritesWhatItReads) {
  Picture picture{.width = 3, .height = 2, .rgb = std::vector<uint8_t>(18)};
  for (std::size_t i = 0; i < 18; ++i) {
    picture.rgb[i] = static_cast<uint8_t>(i * 14);
  }
  const std::string path = TempPath("ebb_picture_test.png");
  ASSERT_TRUE(WritePng(path, picture).has_value());
  const Expected<Picture> read = ReadPng(path);
  ASSERT_TRUE(read.has_value()) << read.error().ToString();
  EXPECT_EQ(read->width, 3);
  EXPECT_EQ(read->height, 2);
  EXPECT_EQ(read->rgb, picture.rgb);
  std::filesystem::remove(path);
}

TEST(PictureTest, NamesTheFileThatIsNone) {
  const Expected<Picture> absent = ReadPng("no/such.png");
  ASSERT_FALSE(absent.has_value());
  EXPECT_EQ(absent.error().where, "no/such.png");
  const std::string path = TempPath("ebb_picture_test_bad.png");
  std::ofstream(path) << "this is no picture";
  EXPECT_FALSE(ReadPng(path).has_value());
  std::filesystem::remove(path);
  EXPECT_FALSE(
      WritePng("no/such/folder/a.png",
               {.width = 1, .height = 1, .rgb = std::vector<uint8_t>(3)})
          .has_value());
}

TEST(PictureTest, DrawsTheOutlineOnly) {
  Picture picture{
      .width = 20, .height = 20, .rgb = std::vector<uint8_t>(20 * 20 * 3)};
  const Point corners[] = {{5, 5}, {15, 5}, {15, 15}, {5, 15}};
  DrawPolygon(picture, corners, {255, 128, 0}, 2);
  EXPECT_EQ(picture.pixel(10, 5)[0], 255);
  EXPECT_EQ(picture.pixel(10, 4)[1], 128);
  EXPECT_EQ(picture.pixel(4, 10)[0], 255);
  EXPECT_EQ(picture.pixel(10, 10)[0], 0);
  EXPECT_EQ(picture.pixel(1, 1)[0], 0);
}

TEST(PictureTest, LeavesOutWhatLiesOutside) {
  Picture picture{
      .width = 4, .height = 4, .rgb = std::vector<uint8_t>(4 * 4 * 3)};
  const Point corners[] = {{-50, 2}, {2, -50}, {90, 2}, {2, 90}};
  DrawPolygon(picture, corners, {255, 255, 255}, 3);
  const Point far[] = {{1e9, 1e9}, {2e9, 1e9}, {2e9, 2e9}};
  DrawPolygon(picture, far, {255, 255, 255}, 3);
  EXPECT_EQ(picture.pixel(0, 0)[0], 0);
}

}  // namespace
}  // namespace ebb::tools
