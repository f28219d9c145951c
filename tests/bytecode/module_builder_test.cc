#include "bytecode/module_builder.h"

#include <gtest/gtest.h>

namespace ebb::bytecode {
namespace {

TEST(ModuleBuilderTest, EqualStringsAndTypesAreStoredOnce) {
  ModuleBuilder b;
  EXPECT_EQ(b.InternString("x"), b.InternString("x"));
  EXPECT_NE(b.InternString("x"), b.InternString(""));
  EXPECT_EQ(b.TensorType(DType::kF32, {1, 2}),
            b.TensorType(DType::kF32, {1, 2}));
  EXPECT_NE(b.TensorType(DType::kF32, {1, 2}), b.TensorType(DType::kF32, {12}));
  EXPECT_NE(
      b.TensorType(DType::kF32, {}),
      b.InternType(
          {.kind = TypeKind::kTensor, .dtype = DType::kF32, .ranked = false}));
  EXPECT_EQ(b.StorageType(), b.StorageType());
  EXPECT_EQ(b.module().strings.size(), 2u);
  EXPECT_EQ(b.module().types.size(), 5u);
}

TEST(ModuleBuilderTest, ExternalsAreNamedOnce) {
  ModuleBuilder b;
  b.AddExternal("f");
  b.AddExternal("g");
  EXPECT_EQ(b.AddExternal("f"), StringId(0));
  EXPECT_EQ(b.module().externals.size(), 2u);
}

TEST(ModuleBuilderTest, NoStringReadsAsEmpty) {
  ModuleBuilder b;
  b.InternString("x");
  EXPECT_EQ(b.module().string(StringId(0)), "x");
  EXPECT_EQ(b.module().string(StringId()), "");
}

TEST(ModuleBuilderTest, FirstFunctionIsTheEntryUnlessSet) {
  ModuleBuilder b;
  b.DeclareFunction("a");
  const FunctionId second = b.DeclareFunction("b");
  b.module().entry = second;
  EXPECT_EQ(b.Finish().entry, second);
  b.DeclareFunction("a");
  EXPECT_EQ(b.Finish().entry, FunctionId(0));
  EXPECT_FALSE(b.Finish().entry.valid());
}

}  // namespace
}  // namespace ebb::bytecode
