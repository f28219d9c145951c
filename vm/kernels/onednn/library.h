// oneDNN's C interface with owners, errors and nothing else: memory
// descriptions from dims, strides and packings, and a primitive together with
// the argument objects of every worker, made once so that a run only sets
// pointers.
//
// A Step is immutable but for its pointers, which belong to one worker each.
// Scratchpads are always the caller's: the library's own are a data race when
// a primitive is shared.
//
//   SingleThread single;               // while primitives are made and run
//   TRY(Step step, Step::Make(engine, description, {{DNNL_ARG_SRC, x}}, 2));
//   step.Run(worker, {{x_data, y_data}}, scratch);
#ifndef EBB_VM_KERNELS_ONEDNN_LIBRARY_H_
#define EBB_VM_KERNELS_ONEDNN_LIBRARY_H_

#include <oneapi/dnnl/dnnl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bytecode/error.h"
#include "bytecode/packing.h"
#include "vm/kernels/kernel.h"

namespace ebb::kernels::onednn {

using MemoryDesc = dnnl_memory_desc_t;

struct Destroy {
  void operator()(dnnl_engine* engine) const { dnnl_engine_destroy(engine); }
  void operator()(dnnl_stream* stream) const { dnnl_stream_destroy(stream); }
  void operator()(dnnl_memory* memory) const { dnnl_memory_destroy(memory); }
  void operator()(dnnl_primitive* p) const { dnnl_primitive_destroy(p); }
  void operator()(dnnl_primitive_desc* d) const {
    dnnl_primitive_desc_destroy(d);
  }
  void operator()(dnnl_primitive_attr* a) const {
    dnnl_primitive_attr_destroy(a);
  }
};
template <class T>
using Owned = std::unique_ptr<T, Destroy>;

// For as long as it lives the calling thread runs OpenMP regions alone; the
// number it had before comes back. The count is baked into primitives, so it
// must be the same when they are made and when they run.
class SingleThread {
 public:
  SingleThread();
  ~SingleThread();
  SingleThread(const SingleThread&) = delete;
  SingleThread& operator=(const SingleThread&) = delete;

 private:
  int before_ = 0;
};

// An error from the library: what it does not implement is kUnsupported, so
// that the portable kernel takes over.
Status Check(dnnl_status_t status, std::string_view what);

Expected<Owned<dnnl_engine>> MakeEngine();

// All f32.
MemoryDesc StridedDesc(std::span<const int64_t> dims,
                       std::span<const int64_t> strides);
MemoryDesc AnyDesc(std::span<const int64_t> dims);
MemoryDesc PackedDesc(const Packing& packing, std::span<const int64_t> dims);
// nullopt when the description holds more than blocking.
std::optional<Packing> PackingOf(const MemoryDesc& desc);
int64_t BytesOf(const MemoryDesc& desc);
bool SameLayout(const MemoryDesc& a, const MemoryDesc& b);

// `operation` is one of oneDNN's operation descriptors. kUnsupported when
// only reference code would do it.
Expected<Owned<dnnl_primitive_desc>> Describe(dnnl_engine* engine,
                                              const void* operation);
Expected<Owned<dnnl_primitive_desc>> DescribeReorder(dnnl_engine* engine,
                                                     const MemoryDesc& from,
                                                     const MemoryDesc& to);
MemoryDesc QueryDesc(const dnnl_primitive_desc* description, dnnl_query_t what);

class Step {
 public:
  struct Argument {
    int number;  // DNNL_ARG_…
    MemoryDesc desc;
  };

  static Expected<Step> Make(dnnl_engine* engine,
                             const dnnl_primitive_desc* description,
                             std::span<const Argument> arguments, int workers);

  // Of one worker.
  int64_t scratch_bytes() const { return scratch_bytes_; }

  // `data`: one pointer per argument of Make, in order.
  RunStatus Run(int worker, std::span<void* const> data,
                std::byte* scratch) const noexcept;

 private:
  struct Worker {
    Owned<dnnl_stream> stream;
    std::vector<Owned<dnnl_memory>> memories;  // The scratchpad is the last.
    std::vector<dnnl_exec_arg_t> arguments;
  };
  Owned<dnnl_primitive> primitive_;
  std::vector<Worker> workers_;
  int64_t scratch_bytes_ = 0;
};

}  // namespace ebb::kernels::onednn

#endif  // EBB_VM_KERNELS_ONEDNN_LIBRARY_H_
