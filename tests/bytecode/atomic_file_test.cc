#include "bytecode/atomic_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace ebb::bytecode {
namespace {

namespace fs = std::filesystem;

class AtomicFileTest : public ::testing::Test {
 protected:
  AtomicFileTest() {
    folder_ =
        fs::path(::testing::TempDir()) /
        ("atomic_file_test-" +
         std::string(
             ::testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~AtomicFileTest() override { fs::remove_all(folder_); }

  std::string Path() const { return (folder_ / "file").string(); }
  std::string Content() const {
    std::ifstream in(Path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in),
            std::istreambuf_iterator<char>()};
  }
  std::ptrdiff_t FileCount() const {
    return std::distance(fs::directory_iterator(folder_),
                         fs::directory_iterator());
  }

  fs::path folder_;
};

std::span<const std::byte> AsBytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST_F(AtomicFileTest, WritesPieceByPieceAndReplaces) {
  for (const std::string_view end : {"one", "two"}) {
    ASSERT_TRUE(WriteFileAtomically(Path(), [&](const Sink& sink) -> Status {
                  RETURN_IF_ERROR(sink(AsBytes("start ")));
                  return sink(AsBytes(end));
                }).has_value());
    EXPECT_EQ(Content(), "start " + std::string(end));
    EXPECT_EQ(FileCount(), 1);
  }
}

TEST_F(AtomicFileTest, FailureLeavesTheOldFileAndNothingElse) {
  ASSERT_TRUE(WriteFileAtomically(Path(), [](const Sink& sink) {
                return sink(AsBytes("old"));
              }).has_value());
  const Status status =
      WriteFileAtomically(Path(), [](const Sink& sink) -> Status {
        RETURN_IF_ERROR(sink(AsBytes("half")));
        return Fail(ErrorCode::kInvalidArgument, "no more");
      });
  EXPECT_EQ(status.error().message, "no more");
  EXPECT_EQ(Content(), "old");
  EXPECT_EQ(FileCount(), 1);
}

TEST_F(AtomicFileTest, UnwritableFolderIsAnIoError) {
  const Status status = WriteFileAtomically(
      Path() + "/missing/file", [](const Sink&) { return Status(); });
  EXPECT_EQ(status.error().code, ErrorCode::kIo);
  EXPECT_EQ(status.error().where, Path() + "/missing/file");
}

TEST_F(AtomicFileTest, DevicesAreWrittenInPlace) {
  EXPECT_TRUE(WriteFileAtomically("/dev/null", [](const Sink& sink) {
                return sink(AsBytes("gone"));
              }).has_value());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  // A full device refuses the bytes.
  const Status status = WriteFileAtomically(
      "/dev/full", [](const Sink& sink) { return sink(AsBytes("x")); });
  EXPECT_EQ(status.error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace ebb::bytecode
