#include "bytecode/table_verifier.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "bytecode/shape_rules/rule.h"
#include "bytecode/verifier.h"

namespace ebb::bytecode {
namespace {

std::unexpected<Error> Invalid(std::string where, std::string message) {
  return Fail(ErrorCode::kInvalidFile, std::move(message), std::move(where));
}

std::string Numbered(const char* what, std::size_t index) {
  return std::string(what) + " " + std::to_string(index);
}

// `id` is in a table of `count` rows.
template <class Tag>
Status CheckId(const std::string& where, const char* what, Id<Tag> id,
               std::size_t count) {
  if (!id.valid()) return Invalid(where, std::string(what) + " is missing");
  if (id.index() < count) return {};
  return Invalid(where, Numbered(what, id.index()) + " of " +
                            std::to_string(count) + " does not exist");
}

// The same, or none.
template <class Tag>
Status CheckOptionalId(const std::string& where, const char* what, Id<Tag> id,
                       std::size_t count) {
  return id.valid() ? CheckId(where, what, id, count) : Status();
}

Status CheckRank(const std::string& where, std::size_t rank) {
  if (rank <= static_cast<std::size_t>(kMaxRank)) return {};
  return Fail(ErrorCode::kLimit,
              "rank " + std::to_string(rank) + " is above the limit of " +
                  std::to_string(kMaxRank),
              where);
}

Status VerifyType(const Module& module, std::size_t index) {
  const Type& type = module.types[index];
  const std::string where = Numbered("type", index);
  if (type.kind < TypeKind::kTensor || type.kind > TypeKind::kObject) {
    return Invalid(where,
                   Numbered("kind", static_cast<std::size_t>(type.kind)) +
                       " is not known");
  }
  const bool is_tensor = type.kind == TypeKind::kTensor;
  if (type.dtype != DType::kInvalid &&
      (!is_tensor || !IsValidDType(static_cast<uint8_t>(type.dtype)))) {
    return Invalid(where, "has a dtype that does not fit");
  }
  if (!type.dims.empty() && (!is_tensor || !type.ranked)) {
    return Invalid(where, "has dims but is not a ranked tensor");
  }
  if (!type.ranked && !is_tensor) {
    return Invalid(where, "is unranked but is not a tensor");
  }
  RETURN_IF_ERROR(CheckRank(where, type.dims.size()));
  for (const DimSpec& dim : type.dims) {
    if (dim.size < -1) {
      return Invalid(where, "a dim is " + std::to_string(dim.size));
    }
    RETURN_IF_ERROR(
        CheckOptionalId(where, "string", dim.symbol, module.strings.size()));
  }
  const bool has_element =
      type.kind == TypeKind::kSequence || type.kind == TypeKind::kOptional;
  if (type.kind != TypeKind::kTuple &&
      type.fields.size() != (has_element ? 1 : 0)) {
    return Invalid(where, "has " + std::to_string(type.fields.size()) +
                              " fields, " + (has_element ? "1" : "0") +
                              " are right");
  }
  for (const TypeId field : type.fields) {
    RETURN_IF_ERROR(CheckId(where, "earlier type", field, index));
  }
  return {};
}

// Types are built from earlier ones, so one walk gives every depth.
Status VerifyTypes(const Module& module) {
  std::vector<int> depths(module.types.size(), 1);
  for (std::size_t i = 0; i < module.types.size(); ++i) {
    RETURN_IF_ERROR(VerifyType(module, i));
    for (const TypeId field : module.types[i].fields) {
      depths[i] = std::max(depths[i], depths[field.index()] + 1);
    }
    if (depths[i] > kMaxTypeNesting) {
      return Fail(ErrorCode::kLimit,
                  "is nested " + std::to_string(depths[i]) +
                      " deep, the limit is " + std::to_string(kMaxTypeNesting),
                  Numbered("type", i));
    }
  }
  return {};
}

// nullopt on a negative dim or overflow.
std::optional<int64_t> ElementCount(std::span<const int64_t> dims) {
  int64_t count = 1;
  bool overflow = false;
  bool empty = false;
  for (const int64_t dim : dims) {
    if (dim < 0) return std::nullopt;
    empty |= dim == 0;
    overflow |= __builtin_mul_overflow(count, dim, &count);
  }
  if (empty) return 0;
  return overflow ? std::nullopt : std::optional(count);
}

// Dims of the packed form: each padded to a multiple of its blocks.
std::optional<std::vector<int64_t>> PaddedDims(const Constant& constant) {
  const std::size_t rank = constant.dims.size();
  const Packing& packing = *constant.packing;
  std::vector<bool> seen(rank);
  for (const int32_t dim : packing.outer_order) {
    if (dim < 0 || static_cast<std::size_t>(dim) >= rank || seen[dim]) {
      return std::nullopt;
    }
    seen[dim] = true;
  }
  if (packing.outer_order.size() != rank) return std::nullopt;
  std::vector<int64_t> block_sizes(rank, 1);
  for (const Packing::Block& block : packing.blocks) {
    if (block.dim < 0 || static_cast<std::size_t>(block.dim) >= rank ||
        block.size < 1 ||
        __builtin_mul_overflow(block_sizes[block.dim], block.size,
                               &block_sizes[block.dim])) {
      return std::nullopt;
    }
  }
  std::vector<int64_t> dims = constant.dims;
  for (std::size_t d = 0; d < rank; ++d) {
    if (dims[d] < 0) return std::nullopt;
    const int64_t blocks =
        dims[d] / block_sizes[d] + (dims[d] % block_sizes[d] != 0);
    if (__builtin_mul_overflow(blocks, block_sizes[d], &dims[d])) {
      return std::nullopt;
    }
  }
  return dims;
}

std::string TypeText(const Constant& constant) {
  std::string text(DTypeName(constant.dtype));
  text += '[';
  for (std::size_t i = 0; i < constant.dims.size(); ++i) {
    text += (i > 0 ? "," : "") + std::to_string(constant.dims[i]);
  }
  return text + ']';
}

// (count + 1) offsets from the start of the block, then the bytes.
Status VerifyStringBlock(const std::string& where,
                         std::span<const std::byte> data, int64_t count) {
  const auto offset_at = [&](uint64_t index) {
    uint64_t value = 0;
    for (std::size_t b = 0; b < 8; ++b) {
      value |= static_cast<uint64_t>(data[index * 8 + b]) << (8 * b);
    }
    return value;
  };
  const auto needed = static_cast<uint64_t>(count) + 1;
  if (data.size() / 8 < needed) {
    return Invalid(where, "section holds " + std::to_string(data.size()) +
                              " bytes, the offsets of " +
                              std::to_string(count) + " strings need more");
  }
  uint64_t before = needed * 8;
  if (offset_at(0) != before) {
    return Invalid(where, "the first string is at " +
                              std::to_string(offset_at(0)) + ", " +
                              std::to_string(before) + " is right");
  }
  for (uint64_t i = 1; i < needed; ++i) {
    const uint64_t offset = offset_at(i);
    if (offset < before || offset > data.size()) {
      return Invalid(where, "string " + std::to_string(i - 1) + " ends at " +
                                std::to_string(offset) + ", it begins at " +
                                std::to_string(before) + " of " +
                                std::to_string(data.size()));
    }
    before = offset;
  }
  if (before != data.size()) {
    return Invalid(where, "strings end at " + std::to_string(before) +
                              ", the section holds " +
                              std::to_string(data.size()) + " bytes");
  }
  return {};
}

Status VerifyConstant(const Module& module, std::size_t index) {
  const Constant& constant = module.constants[index];
  const std::string where = Numbered("constant", index);
  RETURN_IF_ERROR(
      CheckOptionalId(where, "string", constant.name, module.strings.size()));
  if (constant.kind != ConstantKind::kData &&
      constant.kind != ConstantKind::kRepeat) {
    return Invalid(where,
                   Numbered("kind", static_cast<std::size_t>(constant.kind)) +
                       " is not known");
  }
  if (!IsValidDType(static_cast<uint8_t>(constant.dtype))) {
    return Invalid(where, "has no dtype");
  }
  RETURN_IF_ERROR(CheckRank(where, constant.dims.size()));
  const std::optional<int64_t> count = ElementCount(constant.dims);
  if (!count.has_value()) {
    return Invalid(where, "the dims of " + TypeText(constant) +
                              " are negative or too large");
  }
  if (constant.packing.has_value() &&
      (constant.kind != ConstantKind::kData || DTypeBits(constant.dtype) < 8 ||
       !PaddedDims(constant).has_value())) {
    return Invalid(where, "the packing does not fit " + TypeText(constant));
  }
  if (constant.dtype == DType::kString) {
    const bool repeats = constant.kind == ConstantKind::kRepeat;
    return VerifyStringBlock(where, constant.data, repeats ? 1 : *count);
  }
  const std::optional<int64_t> bytes = DataBytesOf(constant);
  if (!bytes.has_value()) {
    return Invalid(where, TypeText(constant) + " is too large");
  }
  if (constant.data.size() != static_cast<uint64_t>(*bytes)) {
    return Invalid(
        where, "section holds " + std::to_string(constant.data.size()) +
                   " bytes, " + TypeText(constant) +
                   (constant.kind == ConstantKind::kRepeat ? " repeated needs "
                                                           : " needs ") +
                   std::to_string(*bytes));
  }
  return {};
}

Status VerifySite(const Module& module, std::size_t index) {
  const Site& site = module.sites[index];
  const std::string where = Numbered("site", index);
  RETURN_IF_ERROR(
      CheckOptionalId(where, "string", site.node, module.strings.size()));
  const OperatorInfo* info = FindOperator(static_cast<uint16_t>(site.code));
  if (info == nullptr) {
    return Invalid(where,
                   Numbered("operator", static_cast<uint16_t>(site.code)) +
                       " is not known");
  }
  if (auto status = CheckAttributes(*info, site.attributes);
      !status.has_value()) {
    Error error = std::move(status).error();
    error.code = ErrorCode::kInvalidFile;
    error.message = error.ToString();
    error.where = where;
    return std::unexpected(std::move(error));
  }
  return {};
}

Status VerifySignature(const Module& module, std::size_t index) {
  const Function& function = module.functions[index];
  std::string where = Numbered("function", index);
  RETURN_IF_ERROR(
      CheckOptionalId(where, "string", function.name, module.strings.size()));
  where = "function " + module.string(function.name);
  for (const Param& param : function.params) {
    RETURN_IF_ERROR(
        CheckOptionalId(where, "string", param.name, module.strings.size()));
    RETURN_IF_ERROR(CheckId(where, "type", param.type, module.types.size()));
    if (param.optional_feed != param.default_value.valid()) {
      return Invalid(where,
                     "a parameter may be left out exactly when it has "
                     "a default value");
    }
    if (param.optional_feed && module.entry != FunctionId(index)) {
      return Invalid(where, "only the entry's parameters may be left out");
    }
    RETURN_IF_ERROR(CheckOptionalId(where, "constant", param.default_value,
                                    module.constants.size()));
  }
  for (const Result& result : function.results) {
    RETURN_IF_ERROR(
        CheckOptionalId(where, "string", result.name, module.strings.size()));
    RETURN_IF_ERROR(CheckId(where, "type", result.type, module.types.size()));
  }
  return {};
}

Status VerifyNames(const Module& module) {
  std::vector<bool> seen(module.strings.size());
  for (const StringId name : module.externals) {
    RETURN_IF_ERROR(CheckId("externals", "string", name, seen.size()));
    if (seen[name.index()]) {
      return Invalid("externals", module.string(name) + " stands twice");
    }
    seen[name.index()] = true;
  }
  for (std::size_t i = 1; i < module.metadata.size(); ++i) {
    if (module.metadata[i - 1].first >= module.metadata[i].first) {
      return Invalid("metadata", "key " + module.metadata[i].first +
                                     " is not sorted or stands twice");
    }
  }
  return {};
}

}  // namespace

std::optional<int64_t> DataBytesOf(const Constant& constant) {
  if (constant.kind == ConstantKind::kRepeat) {
    return DTypeBytes(constant.dtype, 1);
  }
  std::optional<std::vector<int64_t>> dims = constant.dims;
  if (constant.packing.has_value()) dims = PaddedDims(constant);
  const std::optional<int64_t> count =
      dims.has_value() ? ElementCount(*dims) : std::nullopt;
  return count.has_value() ? DTypeBytes(constant.dtype, *count) : std::nullopt;
}

Status VerifyTables(const Module& module) {
  RETURN_IF_ERROR(VerifyNames(module));
  RETURN_IF_ERROR(VerifyTypes(module));
  for (std::size_t i = 0; i < module.constants.size(); ++i) {
    RETURN_IF_ERROR(VerifyConstant(module, i));
  }
  for (std::size_t i = 0; i < module.sites.size(); ++i) {
    RETURN_IF_ERROR(VerifySite(module, i));
  }
  RETURN_IF_ERROR(
      CheckId("entry", "function", module.entry, module.functions.size()));
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    RETURN_IF_ERROR(VerifySignature(module, i));
  }
  return {};
}

}  // namespace ebb::bytecode
