#include "vm/kernels/portable/gemm_elements.h"

#include <cstring>
#include <type_traits>

#include "vm/kernels/portable/scalar.h"
#include "vm/kernels/portable/target.h"

namespace ebb::kernels {
namespace {

// The loops over dense rows are the ones that become vectors.
template <class From, class To>
EBB_ALWAYS_INLINE void ConvertLoop(const From* in, int64_t in_stride,
                                   int64_t count, To* out, int64_t out_stride) {
  if (in_stride == 1 && out_stride == 1) {
    for (int64_t i = 0; i < count; ++i) out[i] = ConvertElement<To>(in[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) {
      out[i * out_stride] = ConvertElement<To>(in[i * in_stride]);
    }
  }
}

EBB_TARGET_CLONES void WidenRow(const F16* in, int64_t stride, int64_t count,
                                float* out) {
  ConvertLoop(in, stride, count, out, 1);
}
EBB_TARGET_CLONES void WidenRow(const BF16* in, int64_t stride, int64_t count,
                                float* out) {
  ConvertLoop(in, stride, count, out, 1);
}
EBB_TARGET_CLONES void NarrowRow(const float* in, int64_t count, F16* out,
                                 int64_t stride) {
  ConvertLoop(in, 1, count, out, stride);
}
EBB_TARGET_CLONES void NarrowRow(const float* in, int64_t count, BF16* out,
                                 int64_t stride) {
  ConvertLoop(in, 1, count, out, stride);
}

template <class T>
void CopyRow(const T* in, int64_t in_stride, int64_t count, T* out,
             int64_t out_stride) {
  if (in_stride == 1 && out_stride == 1) {
    if (count > 0) std::memcpy(out, in, count * sizeof(T));
  } else if (in_stride == 2 && out_stride == 1) {
    // The usual stride of a convolution: known, it becomes shuffles.
    for (int64_t i = 0; i < count; ++i) out[i] = in[2 * i];
  } else {
    for (int64_t i = 0; i < count; ++i) out[i * out_stride] = in[i * in_stride];
  }
}

}  // namespace

template <class T>
void LoadRow(DType dtype, const void* data, int64_t offset, int64_t stride,
             int64_t count, T* out) {
  if constexpr (std::is_same_v<T, float>) {
    if (dtype == DType::kF16) {
      return WidenRow(static_cast<const F16*>(data) + offset, stride, count,
                      out);
    }
    if (dtype == DType::kBF16) {
      return WidenRow(static_cast<const BF16*>(data) + offset, stride, count,
                      out);
    }
  }
  CopyRow(static_cast<const T*>(data) + offset, stride, count, out, 1);
}

template <class T>
void StoreRow(DType dtype, const T* row, int64_t count, void* data,
              int64_t offset, int64_t stride) {
  if constexpr (std::is_same_v<T, float>) {
    if (dtype == DType::kF16) {
      return NarrowRow(row, count, static_cast<F16*>(data) + offset, stride);
    }
    if (dtype == DType::kBF16) {
      return NarrowRow(row, count, static_cast<BF16*>(data) + offset, stride);
    }
  }
  CopyRow(row, 1, count, static_cast<T*>(data) + offset, stride);
}

#define EBB_INSTANTIATE(T)                                                     \
  template void LoadRow<T>(DType, const void*, int64_t, int64_t, int64_t, T*); \
  template void StoreRow<T>(DType, const T*, int64_t, void*, int64_t, int64_t);
EBB_INSTANTIATE(float)
EBB_INSTANTIATE(double)
EBB_INSTANTIATE(uint32_t)
EBB_INSTANTIATE(uint64_t)
#undef EBB_INSTANTIATE

}  // namespace ebb::kernels
