#include "compiler/onnx/weights.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "compiler/onnx/reader.h"
#include "tests/compiler/onnx/model_builder.h"

namespace ebb::onnx {
namespace {

namespace fs = std::filesystem;

struct Result {
  std::string error;
  ir::Constant constant;
  std::vector<std::shared_ptr<const void>> owned;

  template <class T>
  std::vector<T> Values() const {
    std::vector<T> values(constant.data.size() / sizeof(T));
    if (!values.empty()) {
      std::memcpy(values.data(), constant.data.data(), constant.data.size());
    }
    return values;
  }
};

// The tensor's bytes must outlive the result, whose data may be a view of it.
Result Convert(const TensorProto& proto, const std::string& folder = "") {
  Result result;
  const auto tensor = ReadTensor(AsBytes(proto.bytes()));
  if (!tensor.has_value()) {
    result.error = tensor.error().ToString();
    return result;
  }
  ExternalFiles files(folder);
  auto constant = ToConstant(*tensor, files, result.owned);
  if (constant.has_value()) {
    result.constant = std::move(*constant);
  } else {
    result.error = constant.error().ToString();
  }
  return result;
}

// A folder of its own for one test.
class ExternalDataTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              ("ebb_weights_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "model" / "data");
    Write(folder_ / "model" / "w.bin", 256);
    Write(folder_ / "outside.bin", 256);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static void Write(const fs::path& path, int count) {
    std::ofstream file(path, std::ios::binary);
    for (int i = 0; i < count; ++i) file.put(static_cast<char>(i));
  }
  std::string Model() const { return (folder_ / "model").string(); }
  // Eight bytes of a side file.
  Result Load(const std::string& location, const std::string& key = "",
              const std::string& value = "") const {
    TensorProto proto("w", kUint8, {8});
    proto.External("location", location);
    if (!key.empty()) proto.External(key, value);
    return Convert(proto, Model());
  }

  fs::path folder_;
};

TEST(WeightsTest, RawDataIsBorrowed) {
  const auto proto = TensorProto::Floats("w", {2, 1}, {1.5F, -2});
  const Result result = Convert(proto);
  ASSERT_EQ(result.error, "");
  EXPECT_EQ(result.constant.dims, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(result.Values<float>(), (std::vector<float>{1.5F, -2}));
  EXPECT_TRUE(result.owned.empty());
  const auto* at = reinterpret_cast<const char*>(result.constant.data.data());
  EXPECT_TRUE(at > proto.bytes().data() &&
              at < proto.bytes().data() + proto.bytes().size());
}

TEST(WeightsTest, TypedFieldsAreDecoded) {
  EXPECT_EQ(
      Convert(TensorProto("w", kFloat, {2}).FloatData({1, 2})).Values<float>(),
      (std::vector<float>{1, 2}));
  EXPECT_EQ(Convert(TensorProto("w", kInt64, {2}).Int64Data({-1, 2}))
                .Values<int64_t>(),
            (std::vector<int64_t>{-1, 2}));
  EXPECT_EQ(Convert(TensorProto("w", kInt32, {2}).Int32Data({-1, 2}))
                .Values<int32_t>(),
            (std::vector<int32_t>{-1, 2}));
  EXPECT_EQ(Convert(TensorProto("w", kBool, {3}).Int32Data({1, 0, 1}))
                .Values<uint8_t>(),
            (std::vector<uint8_t>{1, 0, 1}));
  EXPECT_EQ(Convert(TensorProto("w", kFloat16, {1}).Int32Data({0x3c00}))
                .Values<uint16_t>(),
            (std::vector<uint16_t>{0x3c00}));
}

TEST(WeightsTest, ElementsInTheFieldOfAnotherTypeDoNotCount) {
  EXPECT_EQ(Convert(TensorProto("w", kInt64, {1}).Int32Data({1, 2})).error,
            "tensor \"w\": holds 0 bytes, i64[1] needs 8");
}

TEST(WeightsTest, BytesMustBeThoseOfTheDims) {
  EXPECT_EQ(
      Convert(TensorProto("w", kInt64, {2}).Raw(std::string(80, 'x'))).error,
      "tensor \"w\": holds 80 bytes, i64[2] needs 16");
  EXPECT_EQ(Convert(TensorProto("w", kFloat, {2}).Raw("1234")).error,
            "tensor \"w\": holds 4 bytes, f32[2] needs 8");
  EXPECT_EQ(Convert(TensorProto("w", kFloat, {})).error,
            "tensor \"w\": holds 0 bytes, f32[] needs 4");
}

TEST(WeightsTest, EmptyTensorsHoldNothing) {
  const Result result = Convert(TensorProto("w", kFloat, {0, 5}));
  EXPECT_EQ(result.error, "");
  EXPECT_TRUE(result.constant.data.empty());
}

TEST(WeightsTest, DimsMustFit) {
  EXPECT_EQ(Convert(TensorProto("w", kFloat, {-1, 2})).error,
            "tensor \"w\": dims [-1,2] are negative or do not fit 64 bits");
  const int64_t big = int64_t{1} << 32;
  EXPECT_EQ(Convert(TensorProto("w", kFloat, {big, big})).error,
            "tensor \"w\": dims [4294967296,4294967296] are negative or do not "
            "fit 64 bits");
  EXPECT_EQ(Convert(TensorProto("w", kFloat, {int64_t{1} << 61, 3})).error,
            "tensor \"w\": dims [2305843009213693952,3] need more than 64 bits "
            "of bytes");
  EXPECT_EQ(
      Convert(TensorProto("w", kFloat, std::vector<int64_t>(33, 1))).error,
      "tensor \"w\": has 33 dims, more than 16");
}

TEST(WeightsTest, ElementTypeMustBeKnown) {
  EXPECT_EQ(Convert(TensorProto("w", 99, {1})).error,
            "tensor \"w\": element type 99 is not known");
  EXPECT_EQ(Convert(TensorProto("w", 0, {1})).error,
            "tensor \"w\": element type 0 is not known");
  EXPECT_EQ(Convert(TensorProto("w", -1, {1})).error,
            "tensor \"w\": element type -1 is not known");
}

TEST(WeightsTest, SegmentsAreNotSupported) {
  EXPECT_EQ(Convert(TensorProto("w", kFloat, {1}).Bytes(3, "")).error,
            "tensor \"w\": stored in segments, which is not supported");
}

TEST(WeightsTest, DamagedElementsAreRefused) {
  // Three bytes of packed floats.
  EXPECT_TRUE(Convert(TensorProto("w", kFloat, {1}).Bytes(4, "abc"))
                  .error.starts_with("tensor \"w\": damaged elements: "));
  // A varint that does not end.
  EXPECT_TRUE(Convert(TensorProto("w", kInt64, {1}).Bytes(7, "\xff\xff"))
                  .error.starts_with("tensor \"w\": damaged elements: "));
  std::string other = TensorProto("w", kFloat, {1}).bytes();
  protozero::pbf_writer(other).add_fixed64(4, 1);
  const auto tensor = ReadTensor(AsBytes(other));
  ASSERT_TRUE(tensor.has_value());
  ExternalFiles files("");
  std::vector<std::shared_ptr<const void>> owned;
  EXPECT_EQ(ToConstant(*tensor, files, owned).error().ToString(),
            "tensor \"w\": damaged elements: a wire type that elements do not "
            "have");
}

TEST(WeightsTest, StringsAreCounted) {
  TensorProto proto("s", 8, {2});
  proto.Bytes(6, "ab").Bytes(6, "");
  EXPECT_EQ(Convert(proto).error, "");
  proto.Bytes(6, "c");
  EXPECT_EQ(Convert(proto).error,
            "tensor \"s\": holds 3 strings, dims [2] need 2");
}

TEST_F(ExternalDataTest, OffsetAndLengthChooseTheBytes) {
  const Result at = Load("w.bin", "offset", "16");
  ASSERT_EQ(at.error, "");
  EXPECT_EQ(at.Values<uint8_t>().front(), 16);
  EXPECT_EQ(at.owned.size(), 1U);
  EXPECT_EQ(Load("w.bin", "length", "8").error, "");
  EXPECT_EQ(Load("./w.bin").error, "");
}

TEST_F(ExternalDataTest, RangesMustLieInTheFile) {
  EXPECT_EQ(Load("w.bin", "length", "9").error,
            "tensor \"w\": external data holds 9 bytes, the dims need 8");
  EXPECT_EQ(Load("w.bin", "offset", "249").error,
            "tensor \"w\": external data: bytes 249 to 257 are not in "
            "\"w.bin\" of 256");
  EXPECT_EQ(
      Load("w.bin", "offset", "18446744073709551615")
          .error.find(
              "tensor \"w\": external data: bytes 18446744073709551615 to "),
      0U);
  EXPECT_EQ(Load("w.bin", "offset", "-1").error,
            "tensor \"w\": external data: offset is no number: \"-1\"");
  EXPECT_EQ(Load("w.bin", "length", "8x").error,
            "tensor \"w\": external data: length is no number: \"8x\"");
}

TEST_F(ExternalDataTest, PathsThatLeaveTheFolderAreRefused) {
  const auto leaves = [](const std::string& location) {
    return "tensor \"w\": external data: \"" + location +
           "\" leaves the model's folder";
  };
  EXPECT_EQ(Load("../outside.bin").error, leaves("../outside.bin"));
  EXPECT_EQ(Load("data/../../outside.bin").error,
            leaves("data/../../outside.bin"));
  const std::string absolute = (folder_ / "model" / "w.bin").string();
  EXPECT_EQ(Load(absolute).error, leaves(absolute));
  fs::create_symlink(folder_ / "outside.bin", folder_ / "model" / "link.bin");
  EXPECT_EQ(Load("link.bin").error, leaves("link.bin"));
  fs::create_directory_symlink(folder_, folder_ / "model" / "up");
  EXPECT_EQ(Load("up/outside.bin").error, leaves("up/outside.bin"));
}

TEST_F(ExternalDataTest, FilesMustBeThere) {
  EXPECT_NE(Load("none.bin").error.find("none.bin"), std::string::npos);
  EXPECT_NE(Load("data").error, "");
  EXPECT_EQ(Load("").error, "tensor \"w\": external data without a location");
  TensorProto proto("w", kUint8, {8});
  proto.External("location", "w.bin");
  EXPECT_EQ(Convert(proto).error,
            "tensor \"w\": external data: \"w.bin\": a model given as bytes "
            "has no folder");
}

}  // namespace
}  // namespace ebb::onnx
