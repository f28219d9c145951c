#include "bytecode/section_writer.h"

#include <bit>
#include <type_traits>
#include <variant>

#include "bytecode/encoder.h"

namespace ebb::bytecode {
namespace {

void WriteMetadata(const Module& module, ByteWriter& out) {
  out.Text(module.producer);
  out.Text(module.target);
  out.OptionalId(module.entry);
  out.Uleb(module.externals.size());
  for (const StringId name : module.externals) out.OptionalId(name);
  out.Uleb(module.metadata.size());
  for (const auto& [key, value] : module.metadata) {
    out.Text(key);
    out.Text(value);
  }
}

void WriteStrings(const Module& module, ByteWriter& out) {
  out.Uleb(module.strings.size());
  for (const std::string& text : module.strings) out.Text(text);
}

void WriteTypes(const Module& module, ByteWriter& out) {
  out.Uleb(module.types.size());
  for (const Type& type : module.types) {
    out.U8(static_cast<uint8_t>(type.kind));
    out.U8(static_cast<uint8_t>(type.dtype));
    out.U8(type.ranked ? 1 : 0);
    out.Uleb(type.dims.size());
    for (const DimSpec& dim : type.dims) {
      out.Zigzag(dim.size);
      out.OptionalId(dim.symbol);
    }
    out.Uleb(type.fields.size());
    for (const TypeId field : type.fields) out.OptionalId(field);
  }
}

void WriteConstants(const Module& module, ByteWriter& out) {
  uint64_t end = 0;
  out.Uleb(module.constants.size());
  for (const Constant& constant : module.constants) {
    out.U8(static_cast<uint8_t>(constant.kind));
    out.U8(static_cast<uint8_t>(constant.dtype));
    out.U8(constant.packing.has_value() ? 1 : 0);
    out.OptionalId(constant.name);
    out.Uleb(constant.dims.size());
    for (const int64_t dim : constant.dims) out.Zigzag(dim);
    if (constant.packing.has_value()) {
      out.Uleb(constant.packing->outer_order.size());
      for (const int32_t dim : constant.packing->outer_order) out.Zigzag(dim);
      out.Uleb(constant.packing->blocks.size());
      for (const Packing::Block& block : constant.packing->blocks) {
        out.Zigzag(block.dim);
        out.Zigzag(block.size);
      }
    }
    const uint64_t offset = ConstantOffset(end);
    out.Uleb(offset);
    out.Uleb(constant.data.size());
    end = offset + constant.data.size();
  }
}

void WriteItem(int64_t value, ByteWriter& out) { out.Zigzag(value); }
void WriteItem(float value, ByteWriter& out) {
  out.U32(std::bit_cast<uint32_t>(value));
}
void WriteItem(const std::string& value, ByteWriter& out) { out.Text(value); }
template <class T>
void WriteItem(const std::vector<T>& values, ByteWriter& out) {
  out.Uleb(values.size());
  for (const T& value : values) WriteItem(value, out);
}

void WriteSites(const Module& module, ByteWriter& out) {
  out.Uleb(module.sites.size());
  for (const Site& site : module.sites) {
    out.Uleb(static_cast<uint16_t>(site.code));
    out.Uleb(site.attributes.entries().size());
    for (const auto& [name, value] : site.attributes.entries()) {
      out.Text(name);
      out.U8(static_cast<uint8_t>(value.index()));
      std::visit([&](const auto& item) { WriteItem(item, out); }, value);
    }
  }
}

Status WriteFunctions(const Module& module, ByteWriter& out) {
  out.Uleb(module.functions.size());
  for (const Function& function : module.functions) {
    out.OptionalId(function.name);
    out.Uleb(function.params.size());
    for (const Param& param : function.params) {
      out.OptionalId(param.name);
      out.OptionalId(param.type);
      out.U8(static_cast<uint8_t>((param.donated ? 1 : 0) |
                                  (param.optional_feed ? 2 : 0)));
      out.OptionalId(param.default_value);
    }
    out.Uleb(function.results.size());
    for (const Result& result : function.results) {
      out.OptionalId(result.name);
      out.OptionalId(result.type);
    }
    out.Uleb(function.int_register_count);
    out.Uleb(function.hold_register_count);
    out.Uleb(function.code.size());
    if (auto status = EncodeCode(function, out); !status.has_value()) {
      Error error = std::move(status).error();
      error.message =
          "function " + module.string(function.name) + ", " + error.message;
      return std::unexpected(std::move(error));
    }
  }
  return {};
}

void WriteSourceNodes(const Module& module, ByteWriter& out) {
  for (const Site& site : module.sites) out.OptionalId(site.node);
}

void WriteDebugNames(const Module& module, ByteWriter& out) {
  for (const Function& function : module.functions) {
    out.U8(function.value_names.empty() ? 0 : 1);
    for (const StringId name : function.value_names) out.OptionalId(name);
  }
}

}  // namespace

Status WriteSection(SectionKind kind, const Module& module, ByteWriter& out) {
  switch (kind) {
    case SectionKind::kMetadata:
      WriteMetadata(module, out);
      return {};
    case SectionKind::kStrings:
      WriteStrings(module, out);
      return {};
    case SectionKind::kTypes:
      WriteTypes(module, out);
      return {};
    case SectionKind::kConstants:
      WriteConstants(module, out);
      return {};
    case SectionKind::kSites:
      WriteSites(module, out);
      return {};
    case SectionKind::kFunctions:
      return WriteFunctions(module, out);
    case SectionKind::kSourceNodes:
      WriteSourceNodes(module, out);
      return {};
    case SectionKind::kDebugNames:
      WriteDebugNames(module, out);
      return {};
  }
  return {};
}

}  // namespace ebb::bytecode
