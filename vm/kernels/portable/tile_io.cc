#include "vm/kernels/portable/tile_io.h"

#include <cassert>

namespace ebb::kernels {

TileReader::TileReader(const Walk& walk, DType stored, DType computed)
    : walk_(walk), bytes_(DTypeBits(stored) / 8) {
  if (stored != computed) {
    convert_ = FindConversion(stored, computed);
    assert(convert_ != nullptr);
  }
}

const void* TileReader::Read(const void* base, int64_t begin, int64_t n,
                             TileSlot& slot, TileBuffer& raw) const {
  const std::byte* bytes = static_cast<const std::byte*>(base);
  std::byte* result = slot.buffer.bytes;
  const std::byte* run = nullptr;
  if (walk_.IsDense()) {
    run = bytes + begin * bytes_;
  } else {
    int64_t left = 0;
    const std::byte* at = bytes + walk_.OffsetOf(begin, left) * bytes_;
    if (walk_.IsOneElement()) left = n;
    if (left >= n && walk_.row_stride() == 1) {
      run = at;
    } else if (left >= n && walk_.row_stride() == 0) {
      if (slot.repeated == at && slot.repeated_n >= n) return result;
      slot.repeated = at;
      slot.repeated_n = n;
    } else {
      slot.repeated = nullptr;
    }
  }
  if (run != nullptr && convert_ == nullptr) return run;
  if (run == nullptr) {
    std::byte* dense = convert_ == nullptr ? result : raw.bytes;
    GatherElements(walk_, bytes_, bytes, begin, n, dense);
    run = dense;
  } else {
    slot.repeated = nullptr;
  }
  if (convert_ != nullptr) convert_(run, result, n);
  return result;
}

TileWriter::TileWriter(const Walk& walk, DType stored, DType computed)
    : walk_(walk), bytes_(DTypeBits(stored) / 8) {
  if (stored != computed) {
    convert_ = FindConversion(computed, stored);
    assert(convert_ != nullptr);
  }
}

std::byte* TileWriter::DenseRun(void* base, int64_t begin, int64_t n) const {
  std::byte* bytes = static_cast<std::byte*>(base);
  if (walk_.IsDense()) return bytes + begin * bytes_;
  if (walk_.row_stride() != 1) return nullptr;
  int64_t left = 0;
  const int64_t offset = walk_.OffsetOf(begin, left);
  return left >= n ? bytes + offset * bytes_ : nullptr;
}

void* TileWriter::Target(void* base, int64_t begin, int64_t n,
                         TileBuffer& buffer) const {
  if (convert_ == nullptr) {
    if (std::byte* run = DenseRun(base, begin, n)) return run;
  }
  return buffer.bytes;
}

void TileWriter::Commit(void* base, int64_t begin, int64_t n,
                        const TileBuffer& buffer, TileBuffer& raw) const {
  std::byte* run = DenseRun(base, begin, n);
  if (convert_ == nullptr) {
    if (run != nullptr) return;
    ScatterElements(walk_, bytes_, static_cast<std::byte*>(base), begin, n,
                    buffer.bytes);
    return;
  }
  if (run != nullptr) {
    convert_(buffer.bytes, run, n);
    return;
  }
  convert_(buffer.bytes, raw.bytes, n);
  ScatterElements(walk_, bytes_, static_cast<std::byte*>(base), begin, n,
                  raw.bytes);
}

}  // namespace ebb::kernels
