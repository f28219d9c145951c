// Which tile function an elementwise operator runs for given dtypes.
#ifndef EBB_VM_KERNELS_PORTABLE_ELEMENTWISE_OPERATION_H_
#define EBB_VM_KERNELS_PORTABLE_ELEMENTWISE_OPERATION_H_

#include <optional>

#include "vm/kernels/kernel.h"
#include "vm/kernels/portable/elementwise.h"

namespace ebb::kernels {

// nullopt: no kernel for these dtypes.
std::optional<TileOperation> FindTileOperation(const Request& request);

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PORTABLE_ELEMENTWISE_OPERATION_H_
