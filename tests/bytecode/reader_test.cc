#include "bytecode/reader.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "bytecode/byte_writer.h"
#include "bytecode/checksum.h"
#include "bytecode/file_format.h"
#include "bytecode/function_builder.h"
#include "bytecode/verifier.h"
#include "bytecode/writer.h"
#include "tests/bytecode/module_equality.h"
#include "tests/bytecode/program_generator.h"

namespace ebb::bytecode {
namespace {

using Bytes = std::vector<std::byte>;

Bytes ToBytes(const Module& module) {
  auto bytes = ModuleToBytes(module);
  EXPECT_TRUE(bytes.has_value()) << bytes.error().ToString();
  return std::move(*bytes);
}

std::string ErrorOf(const Expected<Module>& module) {
  return module.has_value() ? "" : module.error().ToString();
}

// A buffer aligned as a mapped file is.
class AlignedBytes {
 public:
  explicit AlignedBytes(const Bytes& bytes)
      : storage_(bytes.size() + 64), size_(bytes.size()) {
    void* at = storage_.data();
    std::size_t space = storage_.size();
    begin_ = static_cast<std::byte*>(std::align(64, size_, at, space));
    std::ranges::copy(bytes, begin_);
  }
  std::span<const std::byte> span() const { return {begin_, size_}; }

 private:
  Bytes storage_;
  std::byte* begin_ = nullptr;
  std::size_t size_;
};

Module SmallModule() {
  ModuleBuilder module;
  auto weights = std::make_shared<Bytes>(24, std::byte{7});
  const ConstantId constant = module.AddConstant({.dtype = DType::kF32,
                                                  .dims = {2, 3},
                                                  .data = *weights,
                                                  .name = StringId()});
  module.module().owned.push_back(weights);
  const TypeId type = module.TensorType(DType::kF32, {2, 3});
  FunctionBuilder b(module, "main");
  b.AddParam("x", type);
  b.AddResult("y", type);
  Site site{.code = OperatorCode::kGemm, .node = module.InternString("node")};
  site.attributes.Set("alpha", 0.5f);
  b.Emit(Opcode::kConstant).DefHold(1).Constant(constant).Name("w");
  b.Emit(Opcode::kOpAlloc)
      .Site(module.AddSite(site))
      .DefHolds({2})
      .Ins({InOperand::Hold(0), InOperand::Hold(1)});
  b.Emit(Opcode::kReturn).Passes({PassOperand::Move(2)});
  b.Finish();
  return module.Finish();
}

TEST(ReaderTest, ReadsBackWhatTheWriterWrote) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const Module module = GenerateModule(seed);
    const AlignedBytes bytes(ToBytes(module));
    const auto read = ReadModule(bytes.span(), {.check_constants = true});
    ASSERT_TRUE(read.has_value()) << seed << ": " << ErrorOf(read);
    ASSERT_TRUE(SameModule(module, *read)) << seed;
    // Equal modules, equal bytes.
    ASSERT_TRUE(std::ranges::equal(ToBytes(*read), bytes.span())) << seed;
  }
}

TEST(ReaderTest, ConstantsAreUsedInPlaceAndAligned) {
  const AlignedBytes bytes(ToBytes(GenerateModule(3)));
  const auto read = ReadModule(bytes.span());
  ASSERT_TRUE(read.has_value());
  ASSERT_FALSE(read->constants.empty());
  EXPECT_TRUE(read->owned.empty());
  for (const Constant& constant : read->constants) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(constant.data.data()) % 64, 0u);
    EXPECT_GE(constant.data.data(), bytes.span().data());
    EXPECT_LE(constant.data.data() + constant.data.size(),
              bytes.span().data() + bytes.span().size());
  }
}

TEST(ReaderTest, MisalignedBytesGetTheirConstantsCopied) {
  const Module module = SmallModule();
  const AlignedBytes bytes(ToBytes(module));
  Bytes shifted(bytes.span().size() + 65);
  const std::size_t shift =
      65 - reinterpret_cast<uintptr_t>(shifted.data()) % 64;
  std::ranges::copy(bytes.span(), shifted.begin() + shift);
  const auto read =
      ReadModule(std::span(shifted).subspan(shift, bytes.span().size()));
  ASSERT_TRUE(read.has_value()) << ErrorOf(read);
  EXPECT_TRUE(SameModule(module, *read));
  EXPECT_EQ(read->owned.size(), 1u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(read->constants[0].data.data()) % 64,
            0u);
}

TEST(ReaderTest, DebugSectionsMayBeEmpty) {
  Module module = SmallModule();
  for (Function& function : module.functions) function.value_names.clear();
  for (Site& site : module.sites) site.node = StringId();
  const AlignedBytes bytes(ToBytes(module));
  const auto read = ReadModule(bytes.span());
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(SameModule(module, *read));
}

TEST(ReaderTest, WriterStopsAtTheFirstErrorOfTheSink) {
  int calls = 0;
  const Status status =
      WriteModule(SmallModule(), [&](std::span<const std::byte>) -> Status {
        ++calls;
        return Fail(ErrorCode::kIo, "disk full");
      });
  EXPECT_EQ(status.error().message, "disk full");
  EXPECT_EQ(calls, 1);
}

TEST(ReaderTest, WriterRefusesMalformedWords) {
  Module module = SmallModule();
  module.functions[0].words.pop_back();
  const auto bytes = ModuleToBytes(module);
  ASSERT_FALSE(bytes.has_value());
  EXPECT_EQ(bytes.error().message,
            "function main, instruction 2 (return) has malformed operands");
}

// ---- Damage.

// Whatever the bytes are, reading ends, and what comes back verifies.
void ExpectErrorOrVerifies(std::span<const std::byte> bytes,
                           const ReadOptions& options,
                           const std::string& what) {
  const auto read = ReadModule(bytes, options);
  if (read.has_value()) {
    const Status status = Verify(*read);
    ASSERT_TRUE(status.has_value()) << what << status.error().ToString();
  } else {
    ASSERT_FALSE(read.error().message.empty()) << what;
  }
}

TEST(ReaderDamageTest, EveryFlippedByteIsFound) {
  const AlignedBytes whole(ToBytes(SmallModule()));
  Bytes bytes(whole.span().begin(), whole.span().end());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    // All values of the bytes that matter, some of the long runs of padding.
    const bool is_padding = bytes[at] == std::byte{0} && at % 64 != 0;
    for (int flip = 1; flip < 256; flip += is_padding ? 85 : 1) {
      const std::byte before = bytes[at];
      bytes[at] ^= static_cast<std::byte>(flip);
      ASSERT_FALSE(ReadModule(bytes, {.check_constants = true}).has_value())
          << "byte " << at << " flip " << flip;
      bytes[at] = before;
    }
  }
}

TEST(ReaderDamageTest, EveryFlippedByteBehindTheChecksumsIsSafe) {
  for (const uint32_t seed : {1u, 2u, 3u}) {
    Bytes bytes = ToBytes(GenerateModule(
        seed, {.function_count = 2, .statement_count = 4, .nesting = 1}));
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      const bool is_padding = bytes[at] == std::byte{0} && at % 64 != 0;
      for (int flip = 1; flip < 256; flip += is_padding ? 255 : 37) {
        const std::byte before = bytes[at];
        bytes[at] ^= static_cast<std::byte>(flip);
        ExpectErrorOrVerifies(bytes, {.check_checksums = false},
                              "byte " + std::to_string(at) + ": ");
        bytes[at] = before;
      }
    }
  }
}

TEST(ReaderDamageTest, EveryTruncationIsAnError) {
  const Bytes bytes = ToBytes(SmallModule());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    for (const bool check : {false, true}) {
      ASSERT_FALSE(
          ReadModule(std::span(bytes).first(size), {.check_checksums = check})
              .has_value())
          << size;
    }
  }
  Bytes longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(ReadModule(longer).has_value());
}

TEST(ReaderDamageTest, DamagedConstantsAreFoundOnRequest) {
  Bytes bytes = ToBytes(SmallModule());
  bytes[bytes.size() - 20] ^= std::byte{1};
  EXPECT_TRUE(ReadModule(bytes).has_value());
  EXPECT_EQ(ErrorOf(ReadModule(bytes, {.check_constants = true})),
            "the checksum of the constants does not fit");
  EXPECT_FALSE(VerifyConstants(bytes).has_value());
  bytes[bytes.size() - 20] ^= std::byte{1};
  EXPECT_TRUE(VerifyConstants(bytes).has_value());
}

// ---- Messages, each from one change.

// Puts right the checksums after `change`.
Bytes Changed(std::size_t at, std::vector<int> values) {
  Bytes bytes = ToBytes(SmallModule());
  for (const int value : values) bytes[at++] = static_cast<std::byte>(value);
  const auto put = [&](std::size_t where, uint32_t checksum) {
    std::memcpy(bytes.data() + where, &checksum, 4);
  };
  const std::size_t table = kSectionCount * kSectionEntryBytes;
  put(56, Crc32c(std::span(bytes).subspan(kHeaderBytes, table)));
  put(60, Crc32c(std::span(bytes).first(60)));
  return bytes;
}

TEST(ReaderMessageTest, SaysWhatIsWrongWithTheFrame) {
  const Bytes good = ToBytes(SmallModule());
  const std::string size = std::to_string(good.size());
  const auto expect = [](const Bytes& bytes, const std::string& message) {
    EXPECT_EQ(ErrorOf(ReadModule(bytes)), message);
  };
  expect(Bytes(4), "this is not an ebb file");
  expect(Bytes(good.begin(), good.begin() + 100),
         "the file has 100 bytes, the smallest has 328");
  expect(Changed(8, {2}),
         "the file has format version 2.0, this reader takes 1.0 to 1.0");
  expect(Changed(10, {1}),
         "the file has format version 1.1, this reader takes 1.0 to 1.0");
  expect(Changed(12, {9}), "the number of sections is 9, 8 is right");
  expect(Bytes(good.begin(), good.end() - 8),
         "the file has " + std::to_string(good.size() - 8) +
             " bytes, its header says " + size);
  expect(Changed(24, {1}),
         "the offset of the constants is 4097, 4096 is "
         "right");
  expect(Changed(32, {1, 1}),
         "the constants have 257 bytes, the file ends at " + size);
  expect(Changed(40, {1}), "a reserved field is not zero");
  expect(Changed(kHeaderBytes, {3}), "the kind of section 0 is 3, 1 is right");
  expect(Changed(kHeaderBytes + 4, {0, 0, 0, 0}),
         "the checksum of section metadata does not fit");
  expect(Changed(kHeaderBytes + 8, {0x48}),
         "the offset of section metadata is 328, 320 is right");
  expect(Changed(kHeaderBytes + 16 + 6, {1}),
         "section metadata reaches past the end of the file");
  expect(Changed(kDataAlignment - 1, {1}), "byte 4095: padding is not zero");
  expect(Changed(good.size() - 1, {0}), "the end mark is missing");
  Bytes header = good;
  header[60] ^= std::byte{1};
  expect(header, "the checksum of the header does not fit");
  Bytes table = good;
  table[kHeaderBytes + 5] ^= std::byte{1};
  expect(table, "the checksum of the section table does not fit");
  EXPECT_EQ(ReadModule(Changed(8, {2})).error().code, ErrorCode::kUnsupported);
}

// ---- Size.

std::size_t PeakResidentBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

// Counts that claim more than the file can hold stop before anything is
// reserved for them.
TEST(ReaderSizeTest, ClaimedCountsReserveNothing) {
  Bytes bytes = ToBytes(SmallModule());
  const auto frame = ReadFrame(bytes, true);
  ASSERT_TRUE(frame.has_value());
  const std::size_t before = PeakResidentBytes();
  for (const SectionEntry& section : frame->sections) {
    for (std::size_t at = section.offset;
         at + 5 <= section.offset + section.bytes; ++at) {
      Bytes hostile = bytes;
      // 2^34 - 1, wherever a count may be.
      for (std::size_t i = 0; i < 4; ++i) hostile[at + i] = std::byte{0xff};
      hostile[at + 4] = std::byte{0x3f};
      ExpectErrorOrVerifies(hostile, {.check_checksums = false}, "");
    }
  }
  EXPECT_LT(PeakResidentBytes() - before, std::size_t{64} << 20);
}

// The weights go to the sink as they lie: 5 GiB of them, mapped but never
// copied, at offsets past 32 bits; the file (of zeros, kept sparse) is read
// back in place.
TEST(ReaderSizeTest, FilesAbove4GiBAreWrittenAndReadWithoutCopies) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "a checksum of 5 GiB is too slow here";
#endif
  const std::size_t piece_bytes = std::size_t{1} << 24;
  const Bytes piece(piece_bytes);
  ModuleBuilder builder;
  FunctionBuilder b(builder, "main");
  b.Emit(Opcode::kReturn).Passes({});
  b.Finish();
  // The same bytes stand for as many weights.
  for (int64_t i = 0; i < 321; ++i) {
    builder.AddConstant({.dtype = DType::kU8,
                         .dims = {static_cast<int64_t>(piece_bytes)},
                         .data = piece});
  }
  const Module module = builder.Finish();
  const std::size_t before = PeakResidentBytes();
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  uint64_t written = 0;
  ASSERT_TRUE(WriteModule(module, [&](std::span<const std::byte> bytes) {
                const bool is_zero = std::ranges::all_of(
                    bytes, [](std::byte x) { return x == std::byte{0}; });
                if (!is_zero) {
                  EXPECT_EQ(pwrite(fileno(file), bytes.data(), bytes.size(),
                                   static_cast<off_t>(written)),
                            static_cast<ssize_t>(bytes.size()));
                }
                written += bytes.size();
                return Status();
              }).has_value());
  ASSERT_GT(written, uint64_t{5} << 30);
  void* map = mmap(nullptr, written, PROT_READ, MAP_SHARED, fileno(file), 0);
  ASSERT_NE(map, MAP_FAILED);
  const auto read = ReadModule({static_cast<const std::byte*>(map), written});
  ASSERT_TRUE(read.has_value()) << ErrorOf(read);
  EXPECT_EQ(read->constants.size(), module.constants.size());
  EXPECT_EQ(read->constants.back().data.size(), piece_bytes);
  EXPECT_LT(PeakResidentBytes() - before, std::size_t{64} << 20);
  munmap(map, written);
  std::fclose(file);
}

}  // namespace
}  // namespace ebb::bytecode
