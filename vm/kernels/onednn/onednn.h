// The kernels that oneDNN does: MatMul, Gemm and Conv in f32. Their `prepare`
// gives kUnsupported where the portable kernels are as good or oneDNN has only
// its reference code; the registry then falls back. Nothing else in the
// project includes oneDNN's headers, and nothing of them shows here.
//
// Primitives are made for one OpenMP thread; the workers of the VM share the
// work in slices, each with scratch of its own from the caller.
#ifndef EBB_VM_KERNELS_ONEDNN_ONEDNN_H_
#define EBB_VM_KERNELS_ONEDNN_ONEDNN_H_

#include <cstddef>
#include <optional>

#include "bytecode/operators.h"
#include "bytecode/packing.h"
#include "vm/kernels/kernel.h"

namespace ebb::kernels {

// nullptr for an operator that oneDNN does not do.
const KernelRow* OneDnnKernel(OperatorCode code);

// The blocking in which constant `input` should be stored for the kernel that
// `request` would get; nullopt: plain.
std::optional<Packing> OneDnnWantedPacking(const Request& request,
                                           std::size_t input);

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_ONEDNN_ONEDNN_H_
