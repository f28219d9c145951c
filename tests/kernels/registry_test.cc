// The table of kernels.
#include <gtest/gtest.h>

#include "vm/kernels/kernel.h"

namespace ebb::kernels {
namespace {

TEST(RegistryTest, EveryOperatorHasAKernel) {
  for (const OperatorInfo& info : AllOperators()) {
    EXPECT_NE(PortableKernel(info.code).prepare, nullptr) << info.name;
  }
}

TEST(RegistryTest, ElementwiseKernelsTakeAnyStrides) {
  for (const OperatorInfo& info : AllOperators()) {
    if (!info.Is(kElementwise)) continue;
    const KernelRow& row = PortableKernel(info.code);
    EXPECT_EQ(row.data_form, Form::kAny) << info.name;
    EXPECT_EQ(row.other_form, Form::kAny) << info.name;
    EXPECT_EQ(row.output_form, Form::kAny) << info.name;
  }
}

TEST(RegistryTest, TheDefaultBackendIsTheFastestBuiltIn) {
#ifdef EBB_HAVE_ONEDNN
  EXPECT_EQ(DefaultBackend(), Backend::kOneDnn);
#else
  EXPECT_EQ(DefaultBackend(), Backend::kPortable);
#endif
}

}  // namespace
}  // namespace ebb::kernels
