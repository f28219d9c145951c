// The place of an element in the packed form is a sum over the dims: each dim
// adds its outer index times an outer stride and, per inner block of it, a
// digit times that block's stride. So one table of offsets per dim is enough,
// and packing is a walk over the plain elements in order.
#include "vm/kernels/packing.h"

#include <cassert>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

namespace ebb::kernels {
namespace {

// Product of the block sizes of every dim; nullopt on overflow.
std::optional<std::vector<int64_t>> BlockProducts(const Packing& packing,
                                                  std::size_t rank) {
  std::vector<int64_t> products(rank, 1);
  for (const Packing::Block& block : packing.blocks) {
    int64_t& product = products[block.dim];
    if (__builtin_mul_overflow(product, int64_t{block.size}, &product)) {
      return std::nullopt;
    }
  }
  return products;
}

std::optional<int64_t> PaddedCount(const Packing& packing,
                                   std::span<const int64_t> dims) {
  const auto products = BlockProducts(packing, dims.size());
  if (!products.has_value()) return std::nullopt;
  int64_t count = 1;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const int64_t product = (*products)[d];
    const int64_t outer = dims[d] / product + (dims[d] % product != 0 ? 1 : 0);
    int64_t padded = 0;
    if (__builtin_mul_overflow(outer, product, &padded) ||
        __builtin_mul_overflow(count, padded, &count)) {
      return std::nullopt;
    }
  }
  return count;
}

using OffsetTables = std::vector<std::vector<int64_t>>;

// offsets[d][i]: what index i of dim d adds, in elements.
OffsetTables MakeOffsets(const Packing& packing,
                         std::span<const int64_t> dims) {
  const std::size_t rank = dims.size();
  const std::vector<int64_t> products = *BlockProducts(packing, rank);

  std::vector<int64_t> block_strides(packing.blocks.size());
  int64_t stride = 1;
  for (std::size_t b = packing.blocks.size(); b-- > 0;) {
    block_strides[b] = stride;
    stride *= packing.blocks[b].size;
  }
  std::vector<int64_t> outer_strides(rank);
  for (std::size_t o = rank; o-- > 0;) {
    const int32_t d = packing.outer_order[o];
    outer_strides[d] = stride;
    stride *= (dims[d] + products[d] - 1) / products[d];
  }

  OffsetTables offsets(rank);
  for (std::size_t d = 0; d < rank; ++d) {
    offsets[d].resize(dims[d]);
    for (int64_t i = 0; i < dims[d]; ++i) {
      int64_t offset = i / products[d] * outer_strides[d];
      int64_t rest = i % products[d];
      // The last block of a dim holds its lowest digit.
      for (std::size_t b = packing.blocks.size(); b-- > 0;) {
        if (packing.blocks[b].dim != static_cast<int32_t>(d)) continue;
        offset += rest % packing.blocks[b].size * block_strides[b];
        rest /= packing.blocks[b].size;
      }
      offsets[d][i] = offset;
    }
  }
  return offsets;
}

// Calls copy(plain index, packed index, offsets of the last dim) for every
// row of the plain form.
template <class CopyRow>
void ForEachRow(std::span<const int64_t> dims, const OffsetTables& offsets,
                CopyRow copy) {
  for (int64_t dim : dims) {
    if (dim == 0) return;
  }
  if (dims.empty()) {
    const int64_t zero = 0;
    copy(int64_t{0}, int64_t{0}, std::span<const int64_t>(&zero, 1));
    return;
  }
  const std::size_t last = dims.size() - 1;
  std::vector<int64_t> index(dims.size(), 0);
  int64_t plain = 0;
  while (true) {
    int64_t base = 0;
    for (std::size_t d = 0; d < last; ++d) base += offsets[d][index[d]];
    copy(plain, base, std::span<const int64_t>(offsets[last]));
    plain += dims[last];
    std::size_t d = last;
    while (d > 0 && ++index[d - 1] == dims[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

using Done = std::function<void(std::span<const std::byte>)>;

// Tells `done` of the plain form in parts of about this size.
constexpr std::ptrdiff_t kDoneBytes = 1 << 20;

template <bool kPack, std::size_t kBytes>
void Walk(std::span<const int64_t> dims, const OffsetTables& offsets,
          std::byte* plain, std::byte* packed, const Done& done) {
  std::byte* begin = plain;
  std::byte* at = plain;
  ForEachRow(dims, offsets,
             [&](int64_t row, int64_t base, std::span<const int64_t> inner) {
               at = plain + row * static_cast<int64_t>(kBytes);
               if (done && at - begin >= kDoneBytes) {
                 done({begin, at});
                 begin = at;
               }
               for (int64_t offset : inner) {
                 std::byte* place =
                     packed + (base + offset) * static_cast<int64_t>(kBytes);
                 std::memcpy(kPack ? place : at, kPack ? at : place, kBytes);
                 at += kBytes;
               }
             });
  if (done) done({begin, at});
}

template <bool kPack>
void WalkBytes(const Packing& packing, std::span<const int64_t> dims,
               int64_t element_bytes, std::byte* plain, std::byte* packed,
               const Done& done) {
  const OffsetTables offsets = MakeOffsets(packing, dims);
  switch (element_bytes) {
    case 1:
      return Walk<kPack, 1>(dims, offsets, plain, packed, done);
    case 2:
      return Walk<kPack, 2>(dims, offsets, plain, packed, done);
    case 4:
      return Walk<kPack, 4>(dims, offsets, plain, packed, done);
    case 8:
      return Walk<kPack, 8>(dims, offsets, plain, packed, done);
    case 16:
      return Walk<kPack, 16>(dims, offsets, plain, packed, done);
    default:
      assert(false && "element size is a power of two up to 16");
  }
}

}  // namespace

Status CheckPacking(const Packing& packing, std::span<const int64_t> dims) {
  const std::size_t rank = dims.size();
  if (packing.outer_order.size() != rank) {
    return Fail(ErrorCode::kInvalidFile,
                "packing: order of " +
                    std::to_string(packing.outer_order.size()) +
                    " dims for a tensor of rank " + std::to_string(rank));
  }
  std::vector<bool> seen(rank, false);
  for (int32_t dim : packing.outer_order) {
    if (dim < 0 || static_cast<std::size_t>(dim) >= rank || seen[dim]) {
      return Fail(ErrorCode::kInvalidFile,
                  "packing: dim " + std::to_string(dim) +
                      " in the order is out of range or stands twice, rank " +
                      std::to_string(rank));
    }
    seen[dim] = true;
  }
  for (const Packing::Block& block : packing.blocks) {
    if (block.dim < 0 || static_cast<std::size_t>(block.dim) >= rank ||
        block.size < 1) {
      return Fail(ErrorCode::kInvalidFile,
                  "packing: block of " + std::to_string(block.size) +
                      " at dim " + std::to_string(block.dim) +
                      " does not fit rank " + std::to_string(rank));
    }
  }
  for (int64_t dim : dims) {
    if (dim < 0) {
      return Fail(ErrorCode::kInvalidFile,
                  "packing: dim " + std::to_string(dim) + " is negative");
    }
  }
  if (!PaddedCount(packing, dims).has_value()) {
    return Fail(ErrorCode::kInvalidFile,
                "packing: the padded dims hold more elements than 64 bits "
                "can count");
  }
  return {};
}

std::optional<int64_t> PackedBytes(const Packing& packing,
                                   std::span<const int64_t> dims,
                                   int64_t element_bytes) {
  std::optional<int64_t> count = PaddedCount(packing, dims);
  int64_t bytes = 0;
  if (!count.has_value() ||
      __builtin_mul_overflow(*count, element_bytes, &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

void PackConstant(const Packing& packing, std::span<const int64_t> dims,
                  int64_t element_bytes, const void* plain, void* packed,
                  const Done& done) {
  const std::optional<int64_t> bytes =
      PackedBytes(packing, dims, element_bytes);
  assert(bytes.has_value());
  if (*bytes == 0) return;
  std::memset(packed, 0, *bytes);
  // The walk only reads `plain` in this direction.
  WalkBytes<true>(packing, dims, element_bytes,
                  static_cast<std::byte*>(const_cast<void*>(plain)),
                  static_cast<std::byte*>(packed), done);
}

void UnpackConstant(const Packing& packing, std::span<const int64_t> dims,
                    int64_t element_bytes, const void* packed, void* plain) {
  WalkBytes<false>(packing, dims, element_bytes, static_cast<std::byte*>(plain),
                   static_cast<std::byte*>(const_cast<void*>(packed)), {});
}

}  // namespace ebb::kernels
