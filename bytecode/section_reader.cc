#include "bytecode/section_reader.h"

#include <bit>
#include <limits>
#include <string>
#include <utility>

#include "bytecode/decoder.h"
#include "bytecode/section_writer.h"

namespace ebb::bytecode {
namespace {

// Flag bytes have no bits but the known ones.
uint8_t Flags(ByteReader& in, uint8_t known) {
  const uint8_t flags = in.U8();
  if ((flags & ~known) != 0) {
    in.Fail("flags " + std::to_string(flags) + " are not known");
  }
  return flags;
}

DType ReadDType(ByteReader& in) {
  const uint8_t code = in.U8();
  if (code != 0 && !IsValidDType(code)) {
    in.Fail("dtype " + std::to_string(code) + " is not known");
    return DType::kInvalid;
  }
  return static_cast<DType>(code);
}

void ReadMetadata(ByteReader& in, Module& module) {
  module.producer = in.Text();
  module.target = in.Text();
  module.entry = in.OptionalId<FunctionId>();
  const std::size_t external_count = in.Count(1);
  module.externals.reserve(external_count);
  for (std::size_t i = 0; i < external_count; ++i) {
    module.externals.push_back(in.OptionalId<StringId>());
  }
  const std::size_t metadata_count = in.Count(2);
  for (std::size_t i = 0; i < metadata_count && in.ok(); ++i) {
    const std::string_view key = in.Text();
    module.metadata.emplace_back(key, in.Text());
  }
}

void ReadStrings(ByteReader& in, Module& module) {
  const std::size_t count = in.Count(1);
  module.strings.reserve(count);
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    module.strings.emplace_back(in.Text());
  }
}

void ReadTypes(ByteReader& in, Module& module) {
  const std::size_t count = in.Count(5);
  module.types.reserve(count);
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    Type& type = module.types.emplace_back();
    const uint8_t kind = in.U8();
    if (kind < static_cast<uint8_t>(TypeKind::kTensor) ||
        kind > static_cast<uint8_t>(TypeKind::kObject)) {
      in.Fail("type " + std::to_string(i) + ": kind " + std::to_string(kind) +
              " is not known");
      return;
    }
    type.kind = static_cast<TypeKind>(kind);
    type.dtype = ReadDType(in);
    type.ranked = Flags(in, 1) != 0;
    type.dims.resize(in.Count(2));
    for (DimSpec& dim : type.dims) {
      dim.size = in.Zigzag();
      dim.symbol = in.OptionalId<StringId>();
    }
    type.fields.resize(in.Count(1));
    for (TypeId& field : type.fields) field = in.OptionalId<TypeId>();
  }
}

int32_t ReadInt32(ByteReader& in) {
  const int64_t value = in.Zigzag();
  if (value < std::numeric_limits<int32_t>::min() ||
      value > std::numeric_limits<int32_t>::max()) {
    in.Fail("the number " + std::to_string(value) + " is too large");
    return 0;
  }
  return static_cast<int32_t>(value);
}

Packing ReadPacking(ByteReader& in) {
  Packing packing;
  packing.outer_order.resize(in.Count(1));
  for (int32_t& dim : packing.outer_order) dim = ReadInt32(in);
  packing.blocks.resize(in.Count(2));
  for (Packing::Block& block : packing.blocks) {
    block.dim = ReadInt32(in);
    block.size = ReadInt32(in);
  }
  return packing;
}

// Constants stand one after the other, each at the next aligned place.
void ReadConstants(ByteReader& in, std::span<const std::byte> data,
                   Module& module) {
  uint64_t end = 0;
  const std::size_t count = in.Count(7);
  module.constants.reserve(count);
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    Constant& constant = module.constants.emplace_back();
    const uint8_t kind = in.U8();
    if (kind < static_cast<uint8_t>(ConstantKind::kData) ||
        kind > static_cast<uint8_t>(ConstantKind::kRepeat)) {
      in.Fail("constant " + std::to_string(i) + ": kind " +
              std::to_string(kind) + " is not known");
      return;
    }
    constant.kind = static_cast<ConstantKind>(kind);
    constant.dtype = ReadDType(in);
    const bool packed = Flags(in, 1) != 0;
    constant.name = in.OptionalId<StringId>();
    constant.dims.resize(in.Count(1));
    for (int64_t& dim : constant.dims) dim = in.Zigzag();
    if (packed) constant.packing = ReadPacking(in);
    const uint64_t offset = in.Uleb();
    const uint64_t bytes = in.Uleb();
    if (!in.ok()) return;
    if (offset != ConstantOffset(end) || offset > data.size() ||
        bytes > data.size() - offset) {
      in.Fail("constant " + std::to_string(i) + ": " + std::to_string(bytes) +
              " bytes at " + std::to_string(offset) +
              " do not fit constants of " + std::to_string(data.size()) +
              " bytes, " + std::to_string(end) + " taken");
      return;
    }
    constant.data = data.subspan(offset, bytes);
    end = offset + bytes;
  }
  if (in.ok() && end != data.size()) {
    in.Fail("constants end at " + std::to_string(end) + " of " +
            std::to_string(data.size()) + " bytes");
  }
}

void ReadItem(ByteReader& in, int64_t& value) { value = in.Zigzag(); }
void ReadItem(ByteReader& in, float& value) {
  value = std::bit_cast<float>(in.U32());
}
void ReadItem(ByteReader& in, std::string& value) { value = in.Text(); }
template <class T>
void ReadItem(ByteReader& in, std::vector<T>& values) {
  values.resize(in.Count(std::is_same_v<T, float> ? 4 : 1));
  for (T& value : values) ReadItem(in, value);
}

// Reads the alternative of this index.
template <std::size_t index = 0>
AttributeValue ReadAttribute(ByteReader& in, std::size_t wanted) {
  if constexpr (index < std::variant_size_v<AttributeValue>) {
    if (wanted != index) return ReadAttribute<index + 1>(in, wanted);
    std::variant_alternative_t<index, AttributeValue> value{};
    ReadItem(in, value);
    return value;
  } else {
    in.Fail("attribute of kind " + std::to_string(wanted));
    return {};
  }
}

void ReadSites(ByteReader& in, Module& module) {
  const std::size_t count = in.Count(2);
  module.sites.reserve(count);
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    Site& site = module.sites.emplace_back();
    const uint64_t code = in.Uleb();
    if (code > std::numeric_limits<uint16_t>::max()) {
      in.Fail("operator " + std::to_string(code) + " is not known");
      return;
    }
    site.code = static_cast<OperatorCode>(code);
    const std::size_t attribute_count = in.Count(3);
    std::string_view before;
    for (std::size_t a = 0; a < attribute_count && in.ok(); ++a) {
      const std::string_view name = in.Text();
      if (a > 0 && in.ok() && name <= before) {
        in.Fail("attributes are not sorted by name");
        return;
      }
      before = name;
      const std::size_t kind = in.U8();
      site.attributes.Set(name, ReadAttribute(in, kind));
    }
  }
}

void ReadFunctions(ByteReader& in, Module& module) {
  const std::size_t count = in.Count(6);
  module.functions.reserve(count);
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    Function& function = module.functions.emplace_back();
    function.name = in.OptionalId<StringId>();
    function.params.resize(in.Count(4));
    for (Param& param : function.params) {
      param.name = in.OptionalId<StringId>();
      param.type = in.OptionalId<TypeId>();
      const uint8_t flags = Flags(in, 3);
      param.donated = (flags & 1) != 0;
      param.optional_feed = (flags & 2) != 0;
      param.default_value = in.OptionalId<ConstantId>();
    }
    function.results.resize(in.Count(2));
    for (Result& result : function.results) {
      result.name = in.OptionalId<StringId>();
      result.type = in.OptionalId<TypeId>();
    }
    function.int_register_count = in.Unsigned32();
    function.hold_register_count = in.Unsigned32();
    const std::size_t code_count = in.Count(2);
    function.code.reserve(code_count);
    DecodeCode(in, code_count, function);
  }
}

void ReadSourceNodes(ByteReader& in, Module& module) {
  for (Site& site : module.sites) site.node = in.OptionalId<StringId>();
}

void ReadDebugNames(ByteReader& in, Module& module) {
  for (Function& function : module.functions) {
    if (Flags(in, 1) == 0) continue;
    if (function.code.empty()) {
      in.Fail("names for a function without code");
      return;
    }
    function.value_names.resize(function.code.size());
    for (StringId& name : function.value_names) {
      name = in.OptionalId<StringId>();
    }
  }
}

}  // namespace

Status ReadSection(SectionKind kind, std::span<const std::byte> bytes,
                   std::span<const std::byte> data, Module& module) {
  ByteReader in(bytes, SectionName(kind));
  switch (kind) {
    case SectionKind::kMetadata:
      ReadMetadata(in, module);
      break;
    case SectionKind::kStrings:
      ReadStrings(in, module);
      break;
    case SectionKind::kTypes:
      ReadTypes(in, module);
      break;
    case SectionKind::kConstants:
      ReadConstants(in, data, module);
      break;
    case SectionKind::kSites:
      ReadSites(in, module);
      break;
    case SectionKind::kFunctions:
      ReadFunctions(in, module);
      break;
    case SectionKind::kSourceNodes:
      ReadSourceNodes(in, module);
      break;
    case SectionKind::kDebugNames:
      ReadDebugNames(in, module);
      break;
  }
  return in.Done();
}

}  // namespace ebb::bytecode
