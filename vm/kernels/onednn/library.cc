#include "vm/kernels/onednn/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

namespace ebb::kernels::onednn {
namespace {

// The OpenMP runtime comes with oneDNN, whichever it was built with; there is
// none to link against of our own.
struct OpenMp {
  int (*get_max_threads)() = nullptr;
  void (*set_num_threads)(int) = nullptr;
};

const OpenMp& TheOpenMp() {
  static const OpenMp openmp = [] {
    OpenMp found;
    void* get = dlsym(RTLD_DEFAULT, "omp_get_max_threads");
    void* set = dlsym(RTLD_DEFAULT, "omp_set_num_threads");
    if (get != nullptr && set != nullptr) {
      found.get_max_threads = reinterpret_cast<int (*)()>(get);
      found.set_num_threads = reinterpret_cast<void (*)(int)>(set);
    }
    return found;
  }();
  return openmp;
}

Expected<Owned<dnnl_primitive_attr>> UserScratchpad() {
  dnnl_primitive_attr_t attr = nullptr;
  RETURN_IF_ERROR(Check(dnnl_primitive_attr_create(&attr), "attributes"));
  Owned<dnnl_primitive_attr> owned(attr);
  RETURN_IF_ERROR(Check(
      dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user),
      "scratchpad mode"));
  return owned;
}

std::vector<int64_t> BlockProducts(const MemoryDesc& desc) {
  const dnnl_blocking_desc_t& blocking = desc.format_desc.blocking;
  std::vector<int64_t> products(desc.ndims, 1);
  for (int b = 0; b < blocking.inner_nblks; ++b) {
    products[blocking.inner_idxs[b]] *= blocking.inner_blks[b];
  }
  return products;
}

}  // namespace

SingleThread::SingleThread() {
  const OpenMp& openmp = TheOpenMp();
  if (openmp.set_num_threads == nullptr) return;
  before_ = openmp.get_max_threads();
  openmp.set_num_threads(1);
}

SingleThread::~SingleThread() {
  const OpenMp& openmp = TheOpenMp();
  if (openmp.set_num_threads != nullptr) openmp.set_num_threads(before_);
}

Status Check(dnnl_status_t status, std::string_view what) {
  if (status == dnnl_success) return {};
  const ErrorCode code = status == dnnl_out_of_memory ? ErrorCode::kOutOfMemory
                                                      : ErrorCode::kUnsupported;
  return Fail(code, "onednn: " + std::string(what) + ": status " +
                        std::to_string(static_cast<int>(status)));
}

Expected<Owned<dnnl_engine>> MakeEngine() {
  dnnl_engine_t engine = nullptr;
  RETURN_IF_ERROR(Check(dnnl_engine_create(&engine, dnnl_cpu, 0), "engine"));
  return Owned<dnnl_engine>(engine);
}

MemoryDesc StridedDesc(std::span<const int64_t> dims,
                       std::span<const int64_t> strides) {
  MemoryDesc desc{};
  desc.ndims = static_cast<int>(dims.size());
  desc.data_type = dnnl_f32;
  desc.format_kind = dnnl_blocked;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    desc.dims[d] = desc.padded_dims[d] = dims[d];
    desc.format_desc.blocking.strides[d] = strides[d];
  }
  return desc;
}

MemoryDesc AnyDesc(std::span<const int64_t> dims) {
  MemoryDesc desc{};
  desc.ndims = static_cast<int>(dims.size());
  desc.data_type = dnnl_f32;
  desc.format_kind = dnnl_format_kind_any;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    desc.dims[d] = desc.padded_dims[d] = dims[d];
  }
  return desc;
}

MemoryDesc PackedDesc(const Packing& packing, std::span<const int64_t> dims) {
  MemoryDesc desc = StridedDesc(dims, dims);
  dnnl_blocking_desc_t& blocking = desc.format_desc.blocking;
  blocking.inner_nblks = static_cast<int>(packing.blocks.size());
  int64_t stride = 1;
  for (std::size_t b = 0; b < packing.blocks.size(); ++b) {
    blocking.inner_idxs[b] = packing.blocks[b].dim;
    blocking.inner_blks[b] = packing.blocks[b].size;
    stride *= packing.blocks[b].size;
  }
  const std::vector<int64_t> products = BlockProducts(desc);
  for (std::size_t o = packing.outer_order.size(); o-- > 0;) {
    const int32_t d = packing.outer_order[o];
    const int64_t outer = (dims[d] + products[d] - 1) / products[d];
    desc.padded_dims[d] = outer * products[d];
    blocking.strides[d] = stride;
    stride *= outer;
  }
  return desc;
}

std::optional<Packing> PackingOf(const MemoryDesc& desc) {
  if (desc.format_kind != dnnl_blocked || desc.offset0 != 0 ||
      desc.extra.flags != dnnl_memory_extra_flag_none) {
    return std::nullopt;
  }
  const dnnl_blocking_desc_t& blocking = desc.format_desc.blocking;
  Packing packing;
  packing.outer_order.resize(desc.ndims);
  std::iota(packing.outer_order.begin(), packing.outer_order.end(), 0);
  const std::vector<int64_t> products = BlockProducts(desc);
  std::sort(packing.outer_order.begin(), packing.outer_order.end(),
            [&](int32_t a, int32_t b) {
              if (blocking.strides[a] != blocking.strides[b]) {
                return blocking.strides[a] > blocking.strides[b];
              }
              // Of equal strides one dim has a single outer element.
              const int64_t outer_a = desc.padded_dims[a] / products[a];
              const int64_t outer_b = desc.padded_dims[b] / products[b];
              return outer_a != outer_b ? outer_a > outer_b : a < b;
            });
  for (int b = 0; b < blocking.inner_nblks; ++b) {
    packing.blocks.push_back(
        {.dim = static_cast<int32_t>(blocking.inner_idxs[b]),
         .size = static_cast<int32_t>(blocking.inner_blks[b])});
  }
  const MemoryDesc same =
      PackedDesc(packing, std::span<const int64_t>(desc.dims, desc.ndims));
  if (!SameLayout(desc, same)) return std::nullopt;
  return packing;
}

int64_t BytesOf(const MemoryDesc& desc) {
  return static_cast<int64_t>(dnnl_memory_desc_get_size(&desc));
}

bool SameLayout(const MemoryDesc& a, const MemoryDesc& b) {
  if (a.ndims != b.ndims || a.format_kind != b.format_kind ||
      a.extra.flags != b.extra.flags) {
    return false;
  }
  const dnnl_blocking_desc_t& x = a.format_desc.blocking;
  const dnnl_blocking_desc_t& y = b.format_desc.blocking;
  if (x.inner_nblks != y.inner_nblks) return false;
  for (int i = 0; i < x.inner_nblks; ++i) {
    if (x.inner_blks[i] != y.inner_blks[i] ||
        x.inner_idxs[i] != y.inner_idxs[i]) {
      return false;
    }
  }
  const std::vector<int64_t> products = BlockProducts(a);
  for (int d = 0; d < a.ndims; ++d) {
    if (a.padded_dims[d] != b.padded_dims[d]) return false;
    // The stride of a single element means nothing.
    if (a.padded_dims[d] != products[d] && x.strides[d] != y.strides[d]) {
      return false;
    }
  }
  return true;
}

Expected<Owned<dnnl_primitive_desc>> Describe(dnnl_engine* engine,
                                              const void* operation) {
  TRY(const Owned<dnnl_primitive_attr> attr, UserScratchpad());
  dnnl_primitive_desc_t desc = nullptr;
  RETURN_IF_ERROR(Check(
      dnnl_primitive_desc_create(&desc, operation, attr.get(), engine, nullptr),
      "primitive description"));
  Owned<dnnl_primitive_desc> owned(desc);
  const char* implementation = nullptr;
  RETURN_IF_ERROR(
      Check(dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0,
                                      static_cast<void*>(&implementation)),
            "implementation"));
  if (implementation != nullptr &&
      std::strstr(implementation, "ref") != nullptr) {
    return Fail(ErrorCode::kUnsupported,
                "onednn: only reference code for these operands");
  }
  return owned;
}

Expected<Owned<dnnl_primitive_desc>> DescribeReorder(dnnl_engine* engine,
                                                     const MemoryDesc& from,
                                                     const MemoryDesc& to) {
  TRY(const Owned<dnnl_primitive_attr> attr, UserScratchpad());
  dnnl_primitive_desc_t desc = nullptr;
  RETURN_IF_ERROR(Check(dnnl_reorder_primitive_desc_create(
                            &desc, &from, engine, &to, engine, attr.get()),
                        "reorder description"));
  return Owned<dnnl_primitive_desc>(desc);
}

MemoryDesc QueryDesc(const dnnl_primitive_desc* description,
                     dnnl_query_t what) {
  const MemoryDesc* found = dnnl_primitive_desc_query_md(description, what, 0);
  return found == nullptr ? MemoryDesc{} : *found;
}

Expected<Step> Step::Make(dnnl_engine* engine,
                          const dnnl_primitive_desc* description,
                          std::span<const Argument> arguments, int workers) {
  Step step;
  dnnl_primitive_t primitive = nullptr;
  RETURN_IF_ERROR(
      Check(dnnl_primitive_create(&primitive, description), "primitive"));
  step.primitive_.reset(primitive);

  std::vector<Argument> all(arguments.begin(), arguments.end());
  all.push_back(
      {DNNL_ARG_SCRATCHPAD, QueryDesc(description, dnnl_query_scratchpad_md)});
  step.scratch_bytes_ = (BytesOf(all.back().desc) + 63) / 64 * 64;
  for (int w = 0; w < workers; ++w) {
    Worker worker;
    dnnl_stream_t stream = nullptr;
    RETURN_IF_ERROR(
        Check(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags),
              "stream"));
    worker.stream.reset(stream);
    for (const Argument& argument : all) {
      dnnl_memory_t memory = nullptr;
      RETURN_IF_ERROR(Check(
          dnnl_memory_create(&memory, &argument.desc, engine, DNNL_MEMORY_NONE),
          "memory"));
      worker.memories.emplace_back(memory);
      worker.arguments.push_back({argument.number, memory});
    }
    step.workers_.push_back(std::move(worker));
  }
  return step;
}

RunStatus Step::Run(int worker, std::span<void* const> data,
                    std::byte* scratch) const noexcept {
  const Worker& own = workers_[worker];
  dnnl_status_t status = dnnl_success;
  // The library takes no null pointer, not even for an empty scratchpad.
  for (std::size_t i = 0; i < own.memories.size(); ++i) {
    void* handle = i < data.size() ? data[i] : scratch;
    status = dnnl_memory_set_data_handle_v2(own.memories[i].get(), handle,
                                            own.stream.get());
    if (status != dnnl_success) break;
  }
  if (status == dnnl_success) {
    status = dnnl_primitive_execute(primitive_.get(), own.stream.get(),
                                    static_cast<int>(own.arguments.size()),
                                    own.arguments.data());
  }
  if (status == dnnl_success) return {};
  return {.code = RunCode::kLibraryFailure,
          .value = static_cast<int64_t>(status)};
}

}  // namespace ebb::kernels::onednn
