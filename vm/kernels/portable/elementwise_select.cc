// Elementwise operators that compare and choose: comparisons, logic, Where
// and Clip.
#include <cstdint>

#include "vm/kernels/portable/element.h"
#include "vm/kernels/portable/elementwise_loops.h"
#include "vm/kernels/portable/scalar.h"

namespace ebb::kernels {
namespace {

struct EqualOp {
  template <class T>
  EBB_ALWAYS_INLINE static uint8_t Do(T a, T b) {
    return Widen(a) == Widen(b) ? 1 : 0;
  }
};
struct LessOp {
  template <class T>
  EBB_ALWAYS_INLINE static uint8_t Do(T a, T b) {
    return Widen(a) < Widen(b) ? 1 : 0;
  }
};
struct LessOrEqualOp {
  template <class T>
  EBB_ALWAYS_INLINE static uint8_t Do(T a, T b) {
    return Widen(a) <= Widen(b) ? 1 : 0;
  }
};
struct AndOp {
  EBB_ALWAYS_INLINE static uint8_t Do(Bool a, Bool b) {
    return static_cast<uint8_t>(Widen(a) & Widen(b));
  }
};
struct OrOp {
  EBB_ALWAYS_INLINE static uint8_t Do(Bool a, Bool b) {
    return static_cast<uint8_t>(Widen(a) | Widen(b));
  }
};

void NotTile(const void* const* inputs, void* output, int64_t n,
             const TileParams&) {
  const uint8_t* x = static_cast<const uint8_t*>(inputs[0]);
  uint8_t* out = static_cast<uint8_t*>(output);
  EBB_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] == 0 ? 1 : 0;
}

template <class T>
EBB_TARGET_CLONES void WhereTile(const void* const* inputs, void* output,
                                 int64_t n, const TileParams&) {
  const uint8_t* condition = static_cast<const uint8_t*>(inputs[0]);
  const T* x = static_cast<const T*>(inputs[1]);
  const T* y = static_cast<const T*>(inputs[2]);
  T* out = static_cast<T*>(output);
  EBB_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const T yes = x[i];
    const T no = y[i];
    out[i] = condition[i] != 0 ? yes : no;
  }
}

// As numpy's minimum(maximum(x, lowest), highest): where the bounds cross the
// result is the highest, and a NaN anywhere is the result.
template <class T>
EBB_TARGET_CLONES void ClipTile(const void* const* inputs, void* output,
                                int64_t n, const TileParams&) {
  const T* x = static_cast<const T*>(inputs[0]);
  const T* lowest = static_cast<const T*>(inputs[1]);
  const T* highest = static_cast<const T*>(inputs[2]);
  T* out = static_cast<T*>(output);
  if (lowest != nullptr && highest != nullptr) {
    EBB_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      out[i] = MinOp::Do(MaxOp::Do(x[i], lowest[i]), highest[i]);
    }
  } else if (lowest != nullptr) {
    EBB_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) out[i] = MaxOp::Do(x[i], lowest[i]);
  } else if (highest != nullptr) {
    EBB_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) out[i] = MinOp::Do(x[i], highest[i]);
  } else {
    EBB_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) out[i] = x[i];
  }
}

// Calls `f` with an element of the C++ type that `dtype` computes in.
template <class F>
TileFunction WithNumber(DType dtype, F f) {
  switch (dtype) {
    case DType::kF32:
      return f(float{});
    case DType::kF64:
      return f(double{});
    case DType::kI8:
      return f(int8_t{});
    case DType::kI16:
      return f(int16_t{});
    case DType::kI32:
      return f(int32_t{});
    case DType::kI64:
      return f(int64_t{});
    case DType::kU8:
      return f(uint8_t{});
    case DType::kU16:
      return f(uint16_t{});
    case DType::kU32:
      return f(uint32_t{});
    case DType::kU64:
      return f(uint64_t{});
    default:
      return nullptr;
  }
}

}  // namespace

TileFunction FindCompareTile(OperatorCode code, DType dtype) {
  if (dtype == DType::kBool) {
    return code == OperatorCode::kEqual ? &BinaryTile<EqualOp, Bool, uint8_t>
                                        : nullptr;
  }
  return WithNumber(dtype, [&]<class T>(T) -> TileFunction {
    switch (code) {
      case OperatorCode::kEqual:
        return &BinaryTile<EqualOp, T, uint8_t>;
      case OperatorCode::kLess:
        return &BinaryTile<LessOp, T, uint8_t>;
      case OperatorCode::kLessOrEqual:
        return &BinaryTile<LessOrEqualOp, T, uint8_t>;
      default:
        return nullptr;
    }
  });
}

TileFunction FindLogicalTile(OperatorCode code) {
  switch (code) {
    case OperatorCode::kAnd:
      return &BinaryTile<AndOp, Bool, uint8_t>;
    case OperatorCode::kOr:
      return &BinaryTile<OrOp, Bool, uint8_t>;
    case OperatorCode::kNot:
      return &NotTile;
    default:
      return nullptr;
  }
}

TileFunction FindClipTile(DType dtype) {
  return WithNumber(dtype,
                    []<class T>(T) -> TileFunction { return &ClipTile<T>; });
}

TileFunction FindWhereTile(int bytes) {
  TileFunction function = nullptr;
  WithElementType(bytes, [&]<class T>(T) { function = &WhereTile<T>; });
  return function;
}

}  // namespace ebb::kernels
