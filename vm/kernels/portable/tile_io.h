// Turns operands of any strides and storage dtype into tiles: dense runs of
// at most kTileElements elements, in the dtype that a loop computes in. Tile
// functions therefore see nothing but pointers and a count. Where the operand
// already is such a run, the tile is the operand's own memory and nothing is
// copied. Readers and writers are made in Prepare and are immutable; the
// buffers belong to one Run, on its stack.
//
//   const void* a = reader.Read(base, begin, n, slot, raw);
//   void* out = writer.Target(base_out, begin, n, out_slot);
//   Compute(a, out, n);
//   writer.Commit(base_out, begin, n, out_slot, raw);
#ifndef EBB_VM_KERNELS_PORTABLE_TILE_IO_H_
#define EBB_VM_KERNELS_PORTABLE_TILE_IO_H_

#include <cstddef>
#include <cstdint>

#include "bytecode/dtype.h"
#include "vm/kernels/portable/convert.h"
#include "vm/kernels/portable/walk.h"

namespace ebb::kernels {

inline constexpr int64_t kTileBytes = 8192;
// Elements of up to 8 bytes; half as many of 16.
inline constexpr int64_t kTileElements = kTileBytes / 8;

// Left uninitialised on purpose: filling it would cost more than a tile.
struct alignas(64) TileBuffer {
  std::byte bytes[kTileBytes];
};

// A buffer of a reader, with what it holds when that is one element repeated
// (a broadcast operand), so that the next tile of it costs nothing.
struct TileSlot {
  TileBuffer buffer;
  const std::byte* repeated = nullptr;
  int64_t repeated_n = 0;
};

class TileReader {
 public:
  TileReader() = default;
  // `computed` must be reachable from `stored` by FindConversion when the two
  // differ.
  TileReader(const Walk& walk, DType stored, DType computed);

  // Elements [begin, begin + n) as a dense run of `computed`.
  const void* Read(const void* base, int64_t begin, int64_t n, TileSlot& slot,
                   TileBuffer& raw) const;
  const Walk& walk() const { return walk_; }

 private:
  Walk walk_;
  ConvertFunction convert_ = nullptr;  // nullptr: stored as computed.
  int bytes_ = 0;                      // Of a stored element.
};

class TileWriter {
 public:
  TileWriter() = default;
  TileWriter(const Walk& walk, DType stored, DType computed);

  // Where to put elements [begin, begin + n) of `computed`.
  void* Target(void* base, int64_t begin, int64_t n, TileBuffer& buffer) const;
  // Brings them to their place, unless `Target` was the place already.
  void Commit(void* base, int64_t begin, int64_t n, const TileBuffer& buffer,
              TileBuffer& raw) const;
  const Walk& walk() const { return walk_; }

 private:
  // The place of a run that is dense in memory, or nullptr.
  std::byte* DenseRun(void* base, int64_t begin, int64_t n) const;

  Walk walk_;
  ConvertFunction convert_ = nullptr;
  int bytes_ = 0;
};

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PORTABLE_TILE_IO_H_
