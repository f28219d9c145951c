// How a packed constant lies in memory, described by its blocking so that any
// loader can unpack it: the outer dims in an order of strides (slowest
// first), then inner blocks, slowest first. A dim that is blocked is padded
// with zeros to a multiple of its blocks' product.
//
// oneDNN's `Acdb64a` of dims [a, b, c, d] is {0, 2, 3, 1} and {{0, 64}}.
#ifndef EBB_BYTECODE_PACKING_H_
#define EBB_BYTECODE_PACKING_H_

#include <cstdint>
#include <vector>

namespace ebb {

struct Packing {
  struct Block {
    int32_t dim = 0;
    int32_t size = 1;
    friend bool operator==(const Block&, const Block&) = default;
  };
  std::vector<int32_t> outer_order;  // A permutation of the dims.
  std::vector<Block> blocks;

  friend bool operator==(const Packing&, const Packing&) = default;
};

}  // namespace ebb

#endif  // EBB_BYTECODE_PACKING_H_
