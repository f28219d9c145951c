// Whether a tensor lies in memory as a kernel's row asks (kernels::Form).
#ifndef EBB_VM_FORM_H_
#define EBB_VM_FORM_H_

#include <cstdint>
#include <span>

#include "vm/kernels/kernel.h"

namespace ebb::vm {

// Whether dims and strides have the form. For kDenseOrder that is "some order
// without gaps"; that all tensors have the same is for the caller to see.
bool HasForm(kernels::Form form, std::span<const int64_t> dims,
             std::span<const int64_t> strides);

// The same places for the same index: equal dims, and equal strides wherever a
// dim is more than 1.
bool SameLayout(std::span<const int64_t> dims_a,
                std::span<const int64_t> strides_a,
                std::span<const int64_t> dims_b,
                std::span<const int64_t> strides_b);

// The dims lie in the same order in both, as far as their strides tell. The
// dims themselves may differ: a convolution's input and output.
bool SameOrder(std::span<const int64_t> dims_a,
               std::span<const int64_t> strides_a,
               std::span<const int64_t> dims_b,
               std::span<const int64_t> strides_b);

// "dense", "row-pitched", …
const char* FormName(kernels::Form form);

}  // namespace ebb::vm

#endif  // EBB_VM_FORM_H_
