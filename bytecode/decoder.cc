#include "bytecode/decoder.h"

#include <limits>
#include <string>
#include <vector>

#include "bytecode/operand_visitor.h"

namespace ebb::bytecode {
namespace {

void DecodeInt(ByteReader& in, std::vector<int64_t>& words) {
  bool is_register = false;
  const int64_t value = in.Tagged(&is_register);
  words.push_back(is_register ? 1 : 0);
  words.push_back(value);
}

void DecodeIn(ByteReader& in, std::vector<int64_t>& words) {
  const uint64_t kind = in.Uleb();
  words.push_back(static_cast<int64_t>(kind));
  if (kind == kInHold) {
    words.push_back(in.Unsigned());
  } else if (kind == kInInts) {
    const std::size_t count = in.Count(1);
    words.push_back(static_cast<int64_t>(count));
    for (std::size_t i = 0; i < count && in.ok(); ++i) DecodeInt(in, words);
  } else if (kind != kInNone) {
    in.Fail("operator input of kind " + std::to_string(kind));
  }
}

void DecodeEntry(ByteReader& in, Role role, std::vector<int64_t>& words) {
  if (role == Role::kIns) {
    DecodeIn(in, words);
  } else if (role == Role::kInt || role == Role::kIntList) {
    DecodeInt(in, words);
  } else if (MayBeNone(role)) {
    words.push_back(in.Unsigned() - 1);
  } else {
    words.push_back(in.Unsigned());
  }
}

}  // namespace

void DecodeCode(ByteReader& in, std::size_t count, Function& function) {
  static_assert(kNoRegister == -1);
  std::vector<int64_t>& words = function.words;
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    if (words.size() > std::numeric_limits<uint32_t>::max()) {
      in.Fail("a function has more than 2^32 words of operands");
      return;
    }
    const uint8_t code = in.U8();
    const OpcodeInfo* info = FindOpcode(code);
    if (info == nullptr) {
      in.Fail("instruction " + std::to_string(i) + ": opcode " +
              std::to_string(code) + " is not known");
      return;
    }
    function.code.push_back(
        {.opcode = info->opcode,
         .first_word = static_cast<uint32_t>(words.size())});
    for (const Role role : info->roles) {
      std::size_t entries = 1;
      if (IsListRole(role)) {
        entries = in.Count(1);
        words.push_back(static_cast<int64_t>(entries));
      }
      for (std::size_t e = 0; e < entries && in.ok(); ++e) {
        DecodeEntry(in, role, words);
      }
    }
  }
}

}  // namespace ebb::bytecode
