// Elements of constants to text and back, by dtype. Text is only used where
// it gives back the very same bytes (NaN payloads, stray bits of bools);
// everything else is hex.
#ifndef EBB_COMPILER_IR_CONSTANT_TEXT_H_
#define EBB_COMPILER_IR_CONSTANT_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/dtype.h"
#include "compiler/ir/ir.h"

namespace ebb::ir {

// nullopt: this dtype or these bits have no spelling.
std::optional<std::string> ElementText(DType dtype,
                                       std::span<const std::byte> element);
// Appends the element's bytes; false when `text` does not spell a value of
// the dtype that fits. Strings are not elements in this sense.
bool ParseElement(DType dtype, std::string_view text,
                  std::vector<std::byte>& bytes);

// The block of a string tensor: offsets, then bytes.
std::vector<std::byte> PackStrings(std::span<const std::string> strings);
std::optional<std::vector<std::string>> UnpackStrings(
    std::span<const std::byte> block, int64_t count);

// Copies into memory aligned to 64 bytes that `module` keeps alive.
std::span<const std::byte> KeepBytes(Module& module,
                                     std::span<const std::byte> bytes);

// Elements of the dims; nullopt on overflow or for a negative dim.
std::optional<int64_t> ElementCount(std::span<const int64_t> dims);

}  // namespace ebb::ir

#endif  // EBB_COMPILER_IR_CONSTANT_TEXT_H_
