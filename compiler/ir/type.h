// Types of IR values. Plain data; dims belong to the module's DimTable.
//
// Text: f32[n, 4]   f32[] (rank 0)   f32[*] (rank unknown)   shape[3]   int
//       storage   tuple(f32[n], i64[])   sequence(f32[*])   optional(f32[n])
//       closure   object   f32[1, c, h, w]{channels_last}
//       f32[4, 8]{strides=[1, 4]}
#ifndef EBB_COMPILER_IR_TYPE_H_
#define EBB_COMPILER_IR_TYPE_H_

#include <cstdint>
#include <vector>

#include "bytecode/dtype.h"
#include "compiler/ir/dim.h"

namespace ebb::ir {

enum class TypeKind : uint8_t {
  kUnknown,  // Not inferred yet; printed as no type.
  kTensor,
  kShape,  // A list of dims, `rank` of them; costs nothing at run time.
  kInt,    // One dim or integer.
  kStorage,
  kTuple,
  kSequence,
  kOptional,
  kClosure,
  kObject,  // Anything else, or not known what.
};

enum class Layout : uint8_t {
  kRowMajor,
  kChannelsLast,  // dims [n, c, …] stored as [n, …, c]
  kStrided,       // `strides` tell
};

struct Type {
  TypeKind kind = TypeKind::kUnknown;
  DType dtype = DType::kInvalid;  // kTensor
  bool ranked = true;             // kTensor
  Layout layout = Layout::kRowMajor;
  std::vector<Dim> dims;       // kTensor; logical order of ONNX
  std::vector<Dim> strides;    // kStrided: in elements
  int shape_rank = 0;          // kShape
  std::vector<Type> elements;  // kTuple; the one of kSequence, kOptional

  friend bool operator==(const Type&, const Type&) = default;

  static Type Tensor(DType dtype, std::vector<Dim> dims) {
    Type type;
    type.kind = TypeKind::kTensor;
    type.dtype = dtype;
    type.dims = std::move(dims);
    return type;
  }
  static Type Unranked(DType dtype) {
    Type type = Tensor(dtype, {});
    type.ranked = false;
    return type;
  }
  static Type Of(TypeKind kind) {
    Type type;
    type.kind = kind;
    return type;
  }
  static Type Shape(int rank) {
    Type type = Of(TypeKind::kShape);
    type.shape_rank = rank;
    return type;
  }
  bool IsTensor() const { return kind == TypeKind::kTensor; }
  // Shapes and integers (rule 5 of the kills): no buffer, no register hold.
  bool HoldsBuffer() const {
    return kind != TypeKind::kShape && kind != TypeKind::kInt;
  }
};

}  // namespace ebb::ir

#endif  // EBB_COMPILER_IR_TYPE_H_
