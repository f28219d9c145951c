// The table of kernels and the choice between its two families.
#include <cassert>
#include <utility>

#include "vm/kernels/kernel.h"
#include "vm/kernels/portable/rows.h"
#ifdef EBB_HAVE_ONEDNN
#include "vm/kernels/onednn/onednn.h"
#endif

namespace ebb::kernels {

Backend DefaultBackend() {
#ifdef EBB_HAVE_ONEDNN
  return Backend::kOneDnn;
#else
  return Backend::kPortable;
#endif
}

const KernelRow& PortableKernel(OperatorCode code) {
  switch (code) {
#define OPERATOR(number, Name, ...) \
  case OperatorCode::k##Name:       \
    return k##Name##Kernel;
#include "bytecode/operators.def"
#undef OPERATOR
  }
  assert(false && "operator code is not in the table");
  std::unreachable();
}

Expected<PreparedPtr> Prepare(const Request& request) {
#ifdef EBB_HAVE_ONEDNN
  if (request.backend == Backend::kOneDnn) {
    if (const KernelRow* row = OneDnnKernel(request.info.code)) {
      Expected<PreparedPtr> prepared = row->prepare(request);
      if (prepared.has_value() ||
          prepared.error().code != ErrorCode::kUnsupported) {
        return prepared;
      }
    }
  }
#endif
  return PortableKernel(request.info.code).prepare(request);
}

RunStatus RunAll(const Prepared& prepared, const void* const* inputs,
                 void* const* outputs, std::byte* scratch) {
  if (prepared.slice_count() == 0) return {};
  return prepared.Run(RunArgs{.inputs = inputs,
                              .outputs = outputs,
                              .scratch = scratch,
                              .slice_begin = 0,
                              .slice_end = prepared.slice_count(),
                              .worker = 0});
}

std::optional<Packing> WantedPacking(const Request& request, std::size_t i) {
#ifdef EBB_HAVE_ONEDNN
  if (request.backend == Backend::kOneDnn) {
    return OneDnnWantedPacking(request, i);
  }
#endif
  static_cast<void>(request);
  static_cast<void>(i);
  return std::nullopt;
}

}  // namespace ebb::kernels
