// Elements seen only by their size, for kernels that move data and do not
// look at it. Calls `f` with an unsigned type of `bytes` bytes.
//
//   WithElementType(4, [&]<class T>(T) { CopyRun<T>(…); });
#ifndef EBB_VM_KERNELS_PORTABLE_ELEMENT_H_
#define EBB_VM_KERNELS_PORTABLE_ELEMENT_H_

#include <cassert>
#include <cstdint>

namespace ebb::kernels {

struct Element16 {
  uint64_t low, high;
};

template <class F>
void WithElementType(int bytes, F f) {
  switch (bytes) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    case 8:
      return f(uint64_t{});
    case 16:
      return f(Element16{});
    default:
      assert(false && "element size is a power of two up to 16");
  }
}

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PORTABLE_ELEMENT_H_
