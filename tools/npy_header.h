// The header of a `.npy` file: a Python dict literal with the keys descr,
// fortran_order and shape, after a magic, a version and a length.
#ifndef EBB_TOOLS_NPY_HEADER_H_
#define EBB_TOOLS_NPY_HEADER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/error.h"

namespace ebb::tools {

struct NpyHeader {
  bool big_endian = false;
  char kind = 0;     // NumPy's: b i u f c U S V
  int64_t size = 0;  // Bytes of an item; characters for U.
  bool fortran_order = false;
  std::vector<int64_t> shape;
  std::size_t data_offset = 0;

  int64_t item_bytes() const { return kind == 'U' ? 4 * size : size; }
};

Expected<NpyHeader> ParseNpyHeader(std::span<const std::byte> file);

// Magic to padding, with the data 64-byte aligned. `descr` as in "<f4".
std::string NpyHeaderText(std::string_view descr,
                          std::span<const int64_t> shape);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_NPY_HEADER_H_
