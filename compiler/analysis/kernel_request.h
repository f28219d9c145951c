// An IR operator as the kernel interface wants it, when everything a kernel
// must know is known at compile time: for asking about scratch and packing,
// and for folding constants with the kernels that a run would use.
//
//   if (auto query = MakeKernelRequest(module, function, instr)) {
//     auto prepared = kernels::Prepare(query->Get(backend, threads));
#ifndef EBB_COMPILER_ANALYSIS_KERNEL_REQUEST_H_
#define EBB_COMPILER_ANALYSIS_KERNEL_REQUEST_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/ir.h"
#include "vm/kernels/kernel.h"

namespace ebb::ir {

// Owns the dims and lists that the request's operands point into, so it can
// be moved but its operands must not outlive it.
class KernelRequest {
 public:
  kernels::Request Get(kernels::Backend backend, int threads) const {
    return {*info, *attributes, inputs, outputs, backend, threads};
  }

  const OperatorInfo* info = nullptr;
  const Attributes* attributes = nullptr;  // The instruction's.
  std::vector<kernels::Operand> inputs;
  std::vector<kernels::Operand> outputs;

 private:
  friend class RequestMaker;
  // Heap buffers of the inner vectors stay where they are on a move.
  std::vector<std::vector<int64_t>> lists_;
  std::vector<std::vector<double>> float_lists_;
};

// nullopt when a dim, a rank or the contents of a value input are not known,
// or an operand is no tensor.
std::optional<KernelRequest> MakeKernelRequest(const Module& module,
                                               const Function& function,
                                               const Instr& instr);

// A likely size for every symbol, by its range: for asking how a weight should
// lie, which depends on the other operands little.
using LikelySizes = std::vector<std::optional<int64_t>>;
LikelySizes MakeLikelySizes(const DimTable& dims);

// The same as MakeKernelRequest, with these sizes for what is not known.
std::optional<KernelRequest> MakeRepresentativeRequest(
    const Module& module, const Function& function, const Instr& instr,
    const LikelySizes& sizes);

// The constant that defines `value`, or nullptr.
const Constant* ConstantOf(const Module& module, const Function& function,
                           ValueId value);

}  // namespace ebb::ir

#endif  // EBB_COMPILER_ANALYSIS_KERNEL_REQUEST_H_
