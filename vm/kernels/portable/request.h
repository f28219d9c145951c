// Small things that every `prepare` does: errors that name the operator and
// the dtypes, counts, and how work is cut into slices. Pure functions.
#ifndef EBB_VM_KERNELS_PORTABLE_REQUEST_H_
#define EBB_VM_KERNELS_PORTABLE_REQUEST_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "bytecode/shape_rules/geometry.h"
#include "vm/kernels/kernel.h"

namespace ebb::kernels {

// Output elements of one slice of a kernel that is bound by memory.
inline constexpr int64_t kSliceElements = 16384;

constexpr int64_t CeilDiv(int64_t a, int64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

// kUnsupported: "relu: no kernel for dtypes (string) -> (string)".
std::unexpected<Error> UnsupportedDTypes(const Request& request);
// kInvalidArgument with the operator in front: "gather: …".
std::unexpected<Error> BadRequest(const Request& request, std::string message);

// Operand `i`, or an absent one beyond the end.
const Operand& InputOf(const Request& request, std::size_t i);
const Operand& OutputOf(const Request& request, std::size_t i);

// The list of value input `i`; nullopt when it is absent. An operand that is
// there holds a list of integers, or the VM broke the contract.
OptionalList ListOf(const Request& request, std::size_t i);

// Product of dims that the shape rule has accepted.
int64_t CountOf(DimSpan dims);

// Bytes of one element: 1, 2, 4, 8 or 16; nullopt for strings and for types
// that share a byte.
std::optional<int> ElementBytes(DType dtype);

bool IsDenseOperand(const Operand& operand);

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PORTABLE_REQUEST_H_
