#include "tools/npy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "bytecode/half.h"
#include "tests/tools/process.h"
#include "tools/element.h"
#include "tools/npy_header.h"

namespace ebb::tools {
namespace {

std::span<const std::byte> Bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string NpyText(const std::string& dict, const std::string& data) {
  std::string text = "\x93NUMPY";
  text += '\x01';
  text += '\0';
  text += static_cast<char>(dict.size() & 0xff);
  text += static_cast<char>(dict.size() >> 8U);
  return text + dict + data;
}

std::vector<double> Values(const HostTensor& tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    values.push_back(ElementValue(tensor.dtype(), tensor.bytes().data(), i));
  }
  return values;
}

HostTensor Ramp(DType dtype, std::vector<int64_t> dims) {
  HostTensor tensor = HostTensor::Make(dtype, std::move(dims)).value();
  for (int64_t i = 0; i < tensor.count(); ++i) {
    SetElement(dtype, tensor.bytes().data(), i,
               static_cast<double>(dtype == DType::kBool ? i % 2 : i));
  }
  return tensor;
}

TEST(NpyTest, WhatIsWrittenReadsBackTheSame) {
  const TestFolderOnDisk folder;
  for (const DType dtype :
       {DType::kBool, DType::kU8, DType::kI8, DType::kU16, DType::kI16,
        DType::kU32, DType::kI32, DType::kU64, DType::kI64, DType::kF16,
        DType::kF32, DType::kF64}) {
    for (const std::vector<int64_t>& dims :
         {std::vector<int64_t>{}, {3}, {2, 3}, {2, 0, 3}, {2, 1, 2, 3}}) {
      const HostTensor tensor = Ramp(dtype, dims);
      const std::string path = folder.File("a.npy");
      ASSERT_TRUE(WriteNpy(path, tensor.View()).has_value());
      const auto back = ReadNpy(path);
      ASSERT_TRUE(back.has_value()) << back.error().ToString();
      EXPECT_EQ(back->dtype(), dtype);
      EXPECT_TRUE(std::ranges::equal(back->dims(), dims));
      EXPECT_TRUE(std::ranges::equal(back->bytes(), tensor.bytes()));
    }
  }
}

TEST(NpyTest, ReadsFortranOrderAndTheOtherByteOrder) {
  const std::string dict =
      "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n";
  // Columns first: 0 3 1 4 2 5 are rows 0 1 2 and 3 4 5.
  const std::string data("\0\0\0\3\0\1\0\4\0\2\0\5", 12);
  const auto tensor = ParseNpy(Bytes(NpyText(dict, data)));
  ASSERT_TRUE(tensor.has_value()) << tensor.error().ToString();
  EXPECT_EQ(tensor->dtype(), DType::kI16);
  EXPECT_EQ(Values(*tensor), (std::vector<double>{0, 1, 2, 3, 4, 5}));
}

TEST(NpyTest, StringsGoThroughCodePoints) {
  const TestFolderOnDisk folder;
  const std::vector<std::string> strings = {"", "plain", "größe", "日本", "🙂"};
  const HostTensor tensor = HostTensor::MakeStrings(strings, {5}).value();
  const std::string path = folder.File("s.npy");
  ASSERT_TRUE(WriteNpy(path, tensor.View()).has_value());
  const auto back = ReadNpy(path);
  ASSERT_TRUE(back.has_value()) << back.error().ToString();
  EXPECT_EQ(back->dtype(), DType::kString);
  for (std::size_t i = 0; i < strings.size(); ++i) {
    EXPECT_EQ(StringAt(back->bytes().data(), static_cast<int64_t>(i)),
              strings[i]);
  }
}

TEST(NpyTest, TypesThatNumpyLacksTakeAnotherAndComeBack) {
  const TestFolderOnDisk folder;
  for (const auto& [dtype, written] :
       {std::pair(DType::kBF16, DType::kF32), std::pair(DType::kU4, DType::kU8),
        std::pair(DType::kI4, DType::kI8)}) {
    const HostTensor tensor = Ramp(dtype, {5});
    const std::string path = folder.File("b.npy");
    ASSERT_TRUE(WriteNpy(path, tensor.View()).has_value());
    auto back = ReadNpy(path);
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(back->dtype(), written);
    EXPECT_EQ(Values(*back), (std::vector<double>{0, 1, 2, 3, 4}));
    const auto narrow = ConvertFromNpy(std::move(*back), dtype);
    ASSERT_TRUE(narrow.has_value());
    EXPECT_TRUE(std::ranges::equal(narrow->bytes(), tensor.bytes()));
  }
}

TEST(NpyTest, ErrorsNameBothNumbers) {
  const std::string dict =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
  const auto tensor = ParseNpy(Bytes(NpyText(dict, "1234")));
  ASSERT_FALSE(tensor.has_value());
  EXPECT_EQ(tensor.error().message, "holds 4 bytes of data, f32[2,3] needs 24");
}

TEST(NpyTest, DamagedHeadersAreErrors) {
  const std::vector<std::string> dicts = {
      "",
      "{",
      "{}",
      "{'descr': '<f4'}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
      "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,)}",
      "{'descr': '<q9', 'fortran_order': False, 'shape': (2,)}",
      "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': "
      "(4294967296, 4294967296)}",
      "{'descr': '<f8', 'fortran_order': False, 'shape': "
      "(9223372036854775807, 0)}",
      "{'descr': '<U0', 'fortran_order': False, 'shape': "
      "(999999999999,)}",
  };
  for (const std::string& dict : dicts) {
    const auto tensor = ParseNpy(Bytes(NpyText(dict, "")));
    const bool empty = dict.find(", 0)") != std::string::npos;
    EXPECT_EQ(tensor.has_value(), empty) << dict;
  }
}

TEST(NpyTest, EveryLengthOfAFileIsAnErrorOrATensor) {
  const TestFolderOnDisk folder;
  ASSERT_TRUE(WriteNpy(folder.File("a.npy"), Ramp(DType::kF32, {2, 3}).View())
                  .has_value());
  const std::string whole = folder.Read("a.npy");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(ParseNpy(Bytes(whole.substr(0, length))).has_value());
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x15);
    (void)ParseNpy(Bytes(damaged)).has_value();
  }
}

TEST(NpyTest, AgreesWithNumpy) {
  constexpr const char* kPython = "/usr/bin/python3";
  if (access(kPython, X_OK) != 0) GTEST_SKIP() << "no python3";
  const TestFolderOnDisk folder;
  const std::string script = folder.Write("make.py", R"(
import sys
try:
    import numpy as np
except ImportError:
    sys.exit(3)
folder = sys.argv[1]
dtypes = ['?', 'i1', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'u8', 'f2', 'f4',
          'f8', 'c8', 'c16', '>i4', '>f8', '>c8']
if sys.argv[2] == 'write':
    for i, d in enumerate(dtypes):
        a = (np.arange(24) % 7).reshape(2, 3, 4).astype(d)
        np.save(f'{folder}/c{i}.npy', a)
        np.save(f'{folder}/f{i}.npy', np.asfortranarray(a))
    np.save(f'{folder}/u.npy', np.array([['a', 'bcd'], ['', 'ä']]))
    np.save(f'{folder}/s.npy', np.array([b'a', b'bcd']))
    np.save(f'{folder}/z.npy', np.zeros((), 'f4'))
else:
    for i, d in enumerate(dtypes):
        a = (np.arange(24) % 7).reshape(2, 3, 4).astype(d)
        b = np.load(f'{folder}/out{i}.npy')
        assert b.dtype == a.dtype.newbyteorder('='), (b.dtype, a.dtype)
        assert (a == b).all() and a.shape == b.shape, d
    assert np.load(f'{folder}/outu.npy').tolist() == [['a', 'bcd'], ['', 'ä']]
    assert np.load(f'{folder}/outz.npy').shape == ()
)");
  const auto made = RunProcess({kPython, script, folder.path(), "write"});
  if (made.exit_code == 3) GTEST_SKIP() << "no numpy";
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  constexpr int kCount = 17;
  for (int i = 0; i < kCount; ++i) {
    const std::string n = std::to_string(i);
    const auto plain = ReadNpy(folder.File("c" + n + ".npy"));
    const auto fortran = ReadNpy(folder.File("f" + n + ".npy"));
    ASSERT_TRUE(plain.has_value()) << plain.error().ToString();
    ASSERT_TRUE(fortran.has_value()) << fortran.error().ToString();
    EXPECT_TRUE(std::ranges::equal(plain->bytes(), fortran->bytes())) << i;
    ASSERT_TRUE(
        WriteNpy(folder.File("out" + n + ".npy"), plain->View()).has_value());
  }
  for (const std::string name : {"u", "z"}) {
    const auto tensor = ReadNpy(folder.File(name + ".npy"));
    ASSERT_TRUE(tensor.has_value()) << tensor.error().ToString();
    ASSERT_TRUE(WriteNpy(folder.File("out" + name + ".npy"), tensor->View())
                    .has_value());
  }
  const auto bytes = ReadNpy(folder.File("s.npy"));
  ASSERT_TRUE(bytes.has_value());
  EXPECT_EQ(StringAt(bytes->bytes().data(), 1), "bcd");
  const auto checked = RunProcess({kPython, script, folder.path(), "check"});
  EXPECT_EQ(checked.exit_code, 0) << checked.errors;
}

}  // namespace
}  // namespace ebb::tools
