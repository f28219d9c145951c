// Values in memory, tensors crossing the border, forms and handles.
#include "vm/value.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/vm/test_program.h"
#include "vm/form.h"
#include "vm/handle_cache.h"
#include "vm/memory.h"
#include "vm/tensor_contents.h"
#include "vm/tensor_view.h"

namespace ebb::vm {
namespace {

using Ints = std::vector<int64_t>;

struct MemoryTest : ::testing::Test {
  MemoryTest() : memory(Memory::Create({}).value()) {}
  ~MemoryTest() override { memory->Close(); }
  Memory* memory;
};

TEST_F(MemoryTest, AStorageLivesUntilItsLastTensor) {
  Storage* storage = memory->Allocate(1000, 64, {});
  Tensor* a = memory->NewTensor(storage);
  Tensor* b = memory->NewTensor(storage);
  memory->Release(storage);
  EXPECT_EQ(memory->allocator().stats().live_bytes, 1024U);
  memory->Release(a);
  EXPECT_EQ(memory->allocator().stats().live_bytes, 1024U);
  memory->Release(b);
  EXPECT_EQ(memory->allocator().stats().live_bytes, 0U);
  EXPECT_EQ(memory->live_value_count(), 0U);
}

TEST_F(MemoryTest, AlignmentBeyondTheAllocators) {
  for (const int64_t align : {1, 64, 128, 4096}) {
    Storage* storage = memory->Allocate(100, align, {});
    EXPECT_EQ(reinterpret_cast<uintptr_t>(storage->data) %
                  static_cast<uintptr_t>(align),
              0U);
    std::memset(storage->data, 1, 100);
    memory->Release(storage);
  }
  EXPECT_EQ(memory->Allocate(INT64_MAX, 4096, {}), nullptr);
}

TEST_F(MemoryTest, NothingIsAllocatedForZeroBytes) {
  const Ints dims = {0, 4};
  Tensor* tensor = memory->AllocateTensor(DType::kF32, dims, {});
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(memory->allocator().stats().live_bytes, 0U);
  memory->Release(tensor);
}

TEST_F(MemoryTest, ObjectsHoldTheirFields) {
  const Ints dims = {4};
  Object* tuple = memory->NewObject(ValueKind::kTuple);
  Tensor* tensor = memory->AllocateTensor(DType::kF32, dims, {});
  tuple->fields = {tensor, Memory::Hold(tensor)};
  EXPECT_EQ(tensor->holds, 2U);
  memory->Release(tuple);
  EXPECT_EQ(memory->live_value_count(), 0U);
  EXPECT_EQ(memory->allocator().stats().live_bytes, 0U);
}

TEST(TensorViewTest, Strides) {
  int64_t strides[3];
  DenseStrides(Ints{2, 3, 4}, strides);
  EXPECT_EQ(Ints(strides, strides + 3), (Ints{12, 4, 1}));
  EXPECT_TRUE(IsDense(Ints{2, 3}, Ints{3, 1}));
  EXPECT_TRUE(IsDense(Ints{1, 3}, Ints{77, 1}));
  EXPECT_TRUE(IsDense(Ints{0, 3}, Ints{5, 5}));
  EXPECT_FALSE(IsDense(Ints{2, 3}, Ints{4, 1}));
  EXPECT_FALSE(IsDense(Ints{2, 3}, Ints{1, 2}));
}

TEST(TensorViewTest, Extents) {
  const auto extent = [](DType dtype, Ints dims, Ints strides) {
    const auto result = ExtentOf(dtype, dims, strides);
    return result.has_value() ? std::pair(result->low, result->high)
                              : std::pair<int64_t, int64_t>(-99, -99);
  };
  using Pair = std::pair<int64_t, int64_t>;
  EXPECT_EQ(extent(DType::kF32, {2, 3}, {3, 1}), Pair(0, 24));
  EXPECT_EQ(extent(DType::kF32, {2, 3}, {-3, 1}), Pair(-12, 12));
  EXPECT_EQ(extent(DType::kF32, {2, 3}, {0, 0}), Pair(0, 4));
  EXPECT_EQ(extent(DType::kF64, {}, {}), Pair(0, 8));
  EXPECT_EQ(extent(DType::kF32, {0, 3}, {1, 1}), Pair(0, 0));
  EXPECT_EQ(extent(DType::kI4, {3}, {1}), Pair(0, 2));
  EXPECT_EQ(extent(DType::kI4, {3}, {2}), Pair(-99, -99));
  EXPECT_EQ(extent(DType::kString, {3}, {1}), Pair(-99, -99));
  EXPECT_EQ(extent(DType::kF32, {INT64_MAX}, {2}), Pair(-99, -99));
  EXPECT_EQ(extent(DType::kF32, {3}, {INT64_MAX}), Pair(-99, -99));
  EXPECT_EQ(extent(DType::kF32, {-3}, {1}), Pair(-99, -99));
}

TEST(TensorViewTest, CopiesEveryOrderOfDims) {
  // 24 numbers seen as [4,2,3] with the dims in another order.
  std::vector<float> from(24);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i);
  const Ints dims = {4, 2, 3};
  const Ints strides = {1, 12, 4};
  std::vector<float> to(24);
  CopyToDense(DType::kF32, dims, strides,
              reinterpret_cast<const std::byte*>(from.data()),
              reinterpret_cast<std::byte*>(to.data()));
  std::size_t at = 0;
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < 2; ++j) {
      for (int64_t k = 0; k < 3; ++k) {
        EXPECT_EQ(to[at++], static_cast<float>(i + 12 * j + 4 * k));
      }
    }
  }
}

TEST(FormTest, Forms) {
  using kernels::Form;
  EXPECT_TRUE(HasForm(Form::kDense, Ints{2, 3}, Ints{3, 1}));
  EXPECT_FALSE(HasForm(Form::kDense, Ints{2, 3}, Ints{1, 2}));
  EXPECT_TRUE(HasForm(Form::kDenseOrder, Ints{2, 3}, Ints{1, 2}));
  EXPECT_FALSE(HasForm(Form::kDenseOrder, Ints{2, 3}, Ints{4, 1}));
  EXPECT_FALSE(HasForm(Form::kDenseOrder, Ints{2, 3}, Ints{0, 1}));
  EXPECT_TRUE(HasForm(Form::kRowPitched, Ints{2, 3}, Ints{4, 1}));
  EXPECT_FALSE(HasForm(Form::kRowPitched, Ints{2, 3}, Ints{1, 2}));
  EXPECT_TRUE(HasForm(Form::kAny, Ints{2, 3}, Ints{-7, 0}));
  EXPECT_TRUE(SameLayout(Ints{1, 3}, Ints{9, 1}, Ints{1, 3}, Ints{3, 1}));
  EXPECT_FALSE(SameLayout(Ints{2, 3}, Ints{1, 2}, Ints{2, 3}, Ints{3, 1}));
  EXPECT_FALSE(SameLayout(Ints{6}, Ints{1}, Ints{2, 3}, Ints{3, 1}));
}

std::unique_ptr<Handle> HandleOf(int64_t key) {
  auto handle = std::make_unique<Handle>();
  handle->key = {key};
  return handle;
}

TEST(HandleCacheTest, KeepsTheLatestUsedPerSiteAndInAll) {
  HandleCache cache(3, 2, 4);
  const auto find = [&](std::size_t site, int64_t key) {
    return cache.Find(bytecode::SiteId(site), Ints{key}) != nullptr;
  };
  cache.Insert(bytecode::SiteId(0), HandleOf(1));
  cache.Insert(bytecode::SiteId(0), HandleOf(2));
  EXPECT_TRUE(find(0, 1));  // Now the latest.
  cache.Insert(bytecode::SiteId(0), HandleOf(3));
  EXPECT_TRUE(find(0, 1));
  EXPECT_FALSE(find(0, 2));
  EXPECT_FALSE(find(1, 1));
  cache.Insert(bytecode::SiteId(1), HandleOf(1));
  cache.Insert(bytecode::SiteId(1), HandleOf(2));
  EXPECT_EQ(cache.size(), 4U);
  // Full: a site without any still gets one, another gives its oldest up.
  cache.Insert(bytecode::SiteId(2), HandleOf(1));
  EXPECT_EQ(cache.size(), 5U);
  cache.Insert(bytecode::SiteId(2), HandleOf(2));
  EXPECT_EQ(cache.size(), 5U);
  EXPECT_EQ(cache.evictions(), 2U);
  cache.Clear();
  EXPECT_EQ(cache.size(), 0U);
  EXPECT_FALSE(find(0, 1));
}

// A tensor over these elements.
template <class T>
struct Sample {
  Sample(DType dtype, std::vector<T> elements) : data(std::move(elements)) {
    tensor.dtype = dtype;
    tensor.rank = 1;
    tensor.dims[0] = static_cast<int64_t>(data.size());
    tensor.strides[0] = 1;
    tensor.data = reinterpret_cast<std::byte*>(data.data());
  }
  std::vector<T> data;
  Tensor tensor;
};

TEST(TensorContentsTest, LoadsIntegersOfEveryWidth) {
  EXPECT_EQ(LoadInt(Sample<int8_t>(DType::kI8, {0, -5}).tensor, 1).value(), -5);
  EXPECT_EQ(LoadInt(Sample<uint8_t>(DType::kU8, {200}).tensor, 0).value(), 200);
  EXPECT_EQ(LoadInt(Sample<uint8_t>(DType::kBool, {7}).tensor, 0).value(), 1);
  EXPECT_EQ(LoadInt(Sample<int16_t>(DType::kI16, {-7}).tensor, 0).value(), -7);
  EXPECT_EQ(LoadInt(Sample<uint16_t>(DType::kU16, {65535}).tensor, 0).value(),
            65535);
  EXPECT_EQ(LoadInt(Sample<int32_t>(DType::kI32, {-9}).tensor, 0).value(), -9);
  EXPECT_EQ(
      LoadInt(Sample<uint32_t>(DType::kU32, {4000000000}).tensor, 0).value(),
      4000000000);
  ExpectError(LoadInt(Sample<uint64_t>(DType::kU64, {~0ULL}).tensor, 0),
              ErrorCode::kOutOfRange, "18446744073709551615 is beyond int64");
  ExpectError(LoadInt(Sample<int64_t>(DType::kI64, {1}).tensor, 1),
              ErrorCode::kOutOfRange, "element 1 is outside [0, 1)");
  ExpectError(LoadInt(Sample<float>(DType::kF32, {1}).tensor, 0),
              ErrorCode::kShapeMismatch, "f32[1] holds no integers");
}

TEST(TensorContentsTest, StoresOnlyWhatFits) {
  Sample<int8_t> narrow(DType::kI8, {0, 0});
  EXPECT_OK(StoreInts(Ints{-128, 127}, narrow.tensor));
  EXPECT_EQ(narrow.data, (std::vector<int8_t>{-128, 127}));
  ExpectError(StoreInts(Ints{0, 128}, narrow.tensor), ErrorCode::kOutOfRange,
              "128 does not fit i8");
  ExpectError(StoreInts(Ints{0}, narrow.tensor), ErrorCode::kShapeMismatch,
              "1 integers do not fill i8[2]");
  Sample<uint64_t> wide(DType::kU64, {0});
  ExpectError(StoreInts(Ints{-1}, wide.tensor), ErrorCode::kOutOfRange,
              "-1 does not fit u64");
  Sample<uint8_t> truth(DType::kBool, {0});
  EXPECT_OK(StoreInts(Ints{5}, truth.tensor));
  EXPECT_EQ(truth.data[0], 1);
}

TEST(TensorContentsTest, ReadsContentsOfStridedAndHalfTensors) {
  Ints ints;
  std::vector<double> floats;
  Sample<int32_t> numbers(DType::kI32, {1, 2, 3, 4, 5, 6});
  numbers.tensor.rank = 2;
  numbers.tensor.dims[0] = 3;
  numbers.tensor.dims[1] = 2;
  numbers.tensor.strides[0] = 1;
  numbers.tensor.strides[1] = 3;
  ASSERT_OK(AppendContents(numbers.tensor, ints, floats));
  EXPECT_EQ(ints, (Ints{1, 4, 2, 5, 3, 6}));
  ASSERT_OK(AppendContents(Sample<uint16_t>(DType::kF16, {0x3c00}).tensor, ints,
                           floats));
  ASSERT_OK(AppendContents(Sample<uint16_t>(DType::kBF16, {0x4000}).tensor,
                           ints, floats));
  EXPECT_EQ(floats, (std::vector<double>{1, 2}));
  Sample<int64_t> large(DType::kI64, {1});
  large.tensor.dims[0] = kMaxContentCount + 1;
  ExpectError(AppendContents(large.tensor, ints, floats), ErrorCode::kLimit,
              "at most 65536 are read as a list");
}

}  // namespace
}  // namespace ebb::vm
