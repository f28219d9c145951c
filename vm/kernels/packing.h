// Packs a dense constant into the blocking that a kernel asks for, and back.
// A `Packing` (bytecode/packing.h) says all there is to know, so these work
// for every kernel's weights. Dims that are blocked are padded with zeros.
// Pure functions over the caller's memory; `CheckPacking` comes first when the
// packing was read from a file.
//
//   RETURN_IF_ERROR(CheckPacking(packing, dims));
//   std::vector<std::byte> packed(*PackedBytes(packing, dims, 4));
//   PackConstant(packing, dims, 4, plain, packed.data());
#ifndef EBB_VM_KERNELS_PACKING_H_
#define EBB_VM_KERNELS_PACKING_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "bytecode/error.h"
#include "bytecode/packing.h"

namespace ebb::kernels {

// Outer order is a permutation of the dims, every block names a dim and is at
// least 1, and the padded count of elements fits int64.
Status CheckPacking(const Packing& packing, std::span<const int64_t> dims);

// Bytes of the packed form, padding included; nullopt on overflow.
std::optional<int64_t> PackedBytes(const Packing& packing,
                                   std::span<const int64_t> dims,
                                   int64_t element_bytes);

// `element_bytes` is 1, 2, 4, 8 or 16. The two buffers do not overlap. `done`
// is told of each part of `plain`, a few pages at least, that has been read for
// the last time; together they are the whole.
void PackConstant(
    const Packing& packing, std::span<const int64_t> dims,
    int64_t element_bytes, const void* plain, void* packed,
    const std::function<void(std::span<const std::byte>)>& done = {});
void UnpackConstant(const Packing& packing, std::span<const int64_t> dims,
                    int64_t element_bytes, const void* packed, void* plain);

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PACKING_H_
