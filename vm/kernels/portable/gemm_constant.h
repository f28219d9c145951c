// A weight as the portable kernels read it: where it stands, plain. A constant
// that was packed for a kernel which then did not take the shapes (an empty
// dim, say) is unpacked here once, at Prepare; that copy belongs to this
// object.
//
//   DenseConstant w(request.inputs[1]);
//   const void* data = w.Data(args.inputs[1]);
#ifndef EBB_VM_KERNELS_PORTABLE_GEMM_CONSTANT_H_
#define EBB_VM_KERNELS_PORTABLE_GEMM_CONSTANT_H_

#include <cstddef>
#include <vector>

#include "vm/kernels/kernel.h"

namespace ebb::kernels {

class DenseConstant {
 public:
  DenseConstant() = default;
  explicit DenseConstant(const Operand& operand);

  const void* Data(const void* given) const {
    return unpacked_.empty() ? given : unpacked_.data();
  }

 private:
  std::vector<std::byte> unpacked_;
};

// Strides by which `Data` of the operand is read.
std::vector<int64_t> PlainStrides(const Operand& operand);

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PORTABLE_GEMM_CONSTANT_H_
