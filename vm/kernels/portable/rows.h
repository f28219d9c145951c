// Declares the portable row of every operator, `k<Name>Kernel`. A file that
// defines rows includes this, which gives them external linkage; the registry
// names all of them, so a missing one does not link. Rows are constants.
//
//   const KernelRow kShapeKernel = {.prepare = PrepareShape};
#ifndef EBB_VM_KERNELS_PORTABLE_ROWS_H_
#define EBB_VM_KERNELS_PORTABLE_ROWS_H_

#include "vm/kernels/kernel.h"

namespace ebb::kernels {

#define OPERATOR(code, Name, ...) extern const KernelRow k##Name##Kernel;
#include "bytecode/operators.def"
#undef OPERATOR

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PORTABLE_ROWS_H_
