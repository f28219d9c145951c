// The kernel interface: who does the arithmetic is hidden behind one row an
// operator. The VM and the compiler (scratch, packing, folding) see only this.
//
//   query    forms, scratch bytes        KernelRow, Prepared::scratch_bytes()
//   pack     constants into blockings    WantedPacking, packing.h
//   prepare  once per shapes             Prepare(request) -> Prepared
//   run      many times, in slices       prepared->Run(args)
//
// `Prepare` may allocate and fail with an Error; it is called after the shape
// rule has accepted the operands, never reads tensor data (constants, and the
// lists of value inputs, excepted) and keeps no pointer into the request.
// `Run` allocates nothing, takes no locks, throws nothing; one `Prepared` may
// be run by several workers at once on different slices. Slices never split a
// reduction, so results do not depend on how many threads share the work.
//
// A missing kernel does not link: registry.cc names `k<Name>Kernel` for every
// row of operators.def.
#ifndef EBB_VM_KERNELS_KERNEL_H_
#define EBB_VM_KERNELS_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bytecode/attributes.h"
#include "bytecode/dtype.h"
#include "bytecode/error.h"
#include "bytecode/operators.h"
#include "bytecode/packing.h"
#include "bytecode/shape_rules/rule.h"

namespace ebb::kernels {

// Which implementations `Prepare` may choose from. kOneDnn falls back to
// kPortable row by row where oneDNN does not take the operands, and is the
// same as kPortable in a build without oneDNN.
enum class Backend : uint8_t { kPortable = 0, kOneDnn = 1 };
Backend DefaultBackend();  // kOneDnn when built in

enum class OperandKind : uint8_t {
  kAbsent,  // An optional operand that is not there.
  kTensor,
  kList,  // A value input: its contents, `ints` or `floats`.
};

// One operand as `Prepare` sees it. Spans are borrowed for the call.
struct Operand {
  OperandKind kind = OperandKind::kAbsent;
  DType dtype = DType::kInvalid;
  std::span<const int64_t> dims;     // Logical order of ONNX.
  std::span<const int64_t> strides;  // In elements, per dim.
  std::span<const int64_t> ints;     // kList of an integer or bool tensor.
  std::span<const double> floats;    // kList of a float tensor.
  // Constants only: the bytes, and the blocking they are packed in (nullptr:
  // dense row-major). Valid for as long as the Prepared lives.
  const void* constant_data = nullptr;
  const Packing* packing = nullptr;

  bool present() const { return kind != OperandKind::kAbsent; }
};

struct Request {
  const OperatorInfo& info;
  const Attributes& attributes;
  std::span<const Operand> inputs;   // As many as the site has.
  std::span<const Operand> outputs;  // kAbsent for outputs nobody asked for.
  Backend backend = Backend::kPortable;
  int threads = 1;  // At most this many workers will share a run.
};

// Why a run failed; the VM turns it into a message that names the node.
enum class RunCode : uint8_t {
  kOk = 0,
  kIndexOutOfRange,  // value: the index; low, high: what is allowed
  kLibraryFailure,   // value: the library's status
};
struct RunStatus {
  RunCode code = RunCode::kOk;
  int64_t value = 0;
  int64_t low = 0;
  int64_t high = 0;
  bool ok() const { return code == RunCode::kOk; }
};

struct RunArgs {
  const void* const* inputs;  // nullptr for absent operands and for lists.
  void* const* outputs;       // nullptr for absent outputs.
  std::byte* scratch;         // scratch_bytes() of it, 64-byte aligned.
  int64_t slice_begin;        // Runs slices [slice_begin, slice_end).
  int64_t slice_end;
  int worker;  // 0 .. threads - 1; picks a part of scratch.
};

// An operator made ready for given shapes. Immutable after Prepare.
class Prepared {
 public:
  virtual ~Prepared() = default;
  virtual RunStatus Run(const RunArgs& args) const noexcept = 0;

  // For all workers of Request::threads together.
  int64_t scratch_bytes() const { return scratch_bytes_; }
  // Pieces of about equal work that may run at the same time; 0: no work.
  int64_t slice_count() const { return slice_count_; }
  // Rough cost of the whole in bytes moved or multiply-adds, to decide
  // whether sharing it among workers pays.
  int64_t cost() const { return cost_; }

 protected:
  int64_t scratch_bytes_ = 0;
  int64_t slice_count_ = 1;
  int64_t cost_ = 0;
};

using PreparedPtr = std::unique_ptr<const Prepared>;

// What operands look like in memory. The compiler inserts a copy where an
// operand has a form that a kernel does not take; kernels never copy.
enum class Form : uint8_t {
  kDense,       // Row-major, no gaps.
  kRowPitched,  // Innermost dim dense, any stride above.
  kAny,         // Any strides, 0 (broadcast) and negative included.
  kDenseOrder,  // No gaps, dims in any order; all tensors the same order.
};

struct KernelRow {
  // Never nullptr.
  Expected<PreparedPtr> (*prepare)(const Request& request);
  Form data_form = Form::kDense;   // Input 0.
  Form other_form = Form::kDense;  // Further inputs.
  Form output_form = Form::kDense;
};

// The row of the portable family.
const KernelRow& PortableKernel(OperatorCode code);

// Chooses and prepares. kUnsupported names the operator and the dtypes when
// no kernel takes them.
Expected<PreparedPtr> Prepare(const Request& request);

// Runs all slices on the calling thread with `scratch` of scratch_bytes().
RunStatus RunAll(const Prepared& prepared, const void* const* inputs,
                 void* const* outputs, std::byte* scratch);

// The blocking in which the chosen kernel wants constant input `i`; nullopt
// when it takes the plain form. Dims that are not known yet may be any
// representative ones.
std::optional<Packing> WantedPacking(const Request& request, std::size_t i);

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_KERNEL_H_
