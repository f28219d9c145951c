// MatMul and Gemm, and convolutions, by oneDNN; see onednn.h.
#ifndef EBB_VM_KERNELS_ONEDNN_PRODUCTS_H_
#define EBB_VM_KERNELS_ONEDNN_PRODUCTS_H_

#include <optional>

#include "bytecode/packing.h"
#include "vm/kernels/kernel.h"

namespace ebb::kernels::onednn {

Expected<PreparedPtr> PrepareMatMul(const Request& request);
Expected<PreparedPtr> PrepareGemm(const Request& request);
Expected<PreparedPtr> PrepareConv(const Request& request);

// Of input 1.
std::optional<Packing> WantedMatrixPacking(const Request& request);
std::optional<Packing> WantedConvPacking(const Request& request);

}  // namespace ebb::kernels::onednn

#endif  // EBB_VM_KERNELS_ONEDNN_PRODUCTS_H_
