// Runs operators: the instructions `op`, `op_alloc` and `scratch_bytes`.
//
// The operands of an instruction are described by a key (see handle_cache.h).
// When the site has a handle for it there is nothing to check but what a key
// cannot tell: that outputs may be written and lie apart from the inputs.
// Else the shape rule checks the operands, the outputs given are held against
// its answer, forms against the kernel's row, and the kernel is prepared.
//
// Part of one session; its vectors are kept between calls, so that a run that
// repeats makes no heap allocation.
#ifndef EBB_VM_COMPUTE_H_
#define EBB_VM_COMPUTE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bytecode/module.h"
#include "bytecode/operand_reader.h"
#include "vm/handle_cache.h"
#include "vm/kernels/kernel.h"
#include "vm/memory.h"
#include "vm/program.h"
#include "vm/session.h"
#include "vm/worker_pool.h"

namespace ebb::vm {

class Compute {
 public:
  Compute(const Program& program, Memory& memory, WorkerPool* workers,
          const SessionOptions& options);

  // `in` stands at the operands of the instruction; `name` is what the values
  // that it makes are called.
  Status Op(bytecode::OperandReader& in, const int64_t* ints, Value** holds);
  Status OpAlloc(bytecode::OperandReader& in, const int64_t* ints,
                 Value** holds, bytecode::StringId name);
  Status ScratchBytes(bytecode::OperandReader& in, int64_t* ints,
                      Value** holds);

  HandleCache& handles() { return handles_; }
  const HandleCache& handles() const { return handles_; }
  uint64_t scratch_fallback_count() const { return scratch_fallback_count_; }

 private:
  // An operator's input as the instruction gives it.
  struct Input {
    const Tensor* tensor = nullptr;
    bool is_list = false;  // Immediate integers.
    // Contents of a list, or of a tensor that was read: in ints_ or floats_.
    bool is_read = false;
    std::size_t first = 0;
    std::size_t count = 0;
  };

  Status ReadOuts(bytecode::OperandReader& in, Value** holds);
  Status ReadIns(const OperatorInfo& info, bytecode::OperandReader& in,
                 const int64_t* ints, Value** holds);
  Status ReadContents(Input& input);
  void MakeKey();
  void AddToKey(const Tensor& tensor);

  // A handle for what ReadOuts and ReadIns gathered.
  Expected<const Handle*> Resolve(bytecode::SiteId site);
  Status MakeHandle(const bytecode::Site& site, const OperatorInfo& info,
                    Handle& handle);
  Status CheckArity(const OperatorInfo& info) const;
  Status InferResults(const bytecode::Site& site, const OperatorInfo& info,
                      Handle& handle);
  Status CheckOutputs(kernels::Form form, const Handle& handle) const;
  // What Prepare is to see of an input. Strides other than the tensor's go
  // to `strides`.
  Status DescribeInput(std::size_t index, kernels::Operand& operand,
                       Handle::Input& input);
  // Has the kernel take the plain bytes of a constant.
  Status UsePlain(const Tensor& tensor, kernels::Operand& operand,
                  std::vector<int64_t>& strides, Handle::Input& input);

  // Outputs writable, apart from inputs; pointers of all operands.
  Status Place(const Handle& handle);
  Status RunKernel(const Handle& handle, const Value* scratch);
  Error Locate(bytecode::SiteId site, Error error) const;

  const Program& program_;
  Memory& memory_;
  WorkerPool* workers_;
  const kernels::Backend backend_;
  const int threads_;
  HandleCache handles_;
  uint64_t scratch_fallback_count_ = 0;

  std::vector<Tensor*> outs_;  // nullptr: not wanted.
  std::vector<Input> ins_;
  bool allocates_ = false;       // Outputs are made, not given…
  std::vector<uint8_t> wanted_;  // …and these are.
  std::vector<int64_t> ints_;
  std::vector<double> floats_;
  std::vector<int64_t> key_;
  std::vector<const void*> input_data_;
  std::vector<void*> output_data_;
};

}  // namespace ebb::vm

#endif  // EBB_VM_COMPUTE_H_
