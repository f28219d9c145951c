#include "tools/input_source.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <utility>

#include "tools/element.h"
#include "tools/model_options.h"
#include "tools/npy.h"
#include "tools/program_text.h"
#include "tools/tensor_file.h"

namespace ebb::tools {
namespace {

using bytecode::Module;
using bytecode::Param;
using bytecode::Type;

constexpr std::array kMakers = {
    std::string_view("random"), std::string_view("ones"),
    std::string_view("zeros"), std::string_view("iota")};

// An input and the part of its `--input` after the name.
struct Source {
  std::size_t input = 0;
  std::string text;
};

class InputMaker {
 public:
  InputMaker(const Module& module, const InputOptions& options)
      : module_(module),
        options_(options),
        params_(module.function(module.entry).params),
        tensors_(params_.size()) {}

  Expected<std::vector<std::optional<HostTensor>>> Run();

 private:
  Expected<Source> Match(const std::string& text) const;
  Status ReadFile(const Source& source);
  Status MakeOne(std::size_t input, std::string_view how,
                 std::string_view dims_text);
  Expected<std::vector<int64_t>> DimsOf(std::size_t input,
                                        std::string_view text) const;
  std::optional<int64_t> SizeOfSymbol(bytecode::StringId symbol) const;
  Expected<const Type*> TensorTypeOf(std::size_t input) const;
  Status CheckShapeNames() const;
  Status CheckAllGiven() const;

  const std::string& Name(std::size_t input) const {
    return module_.string(params_[input].name);
  }
  // "input "x" (f32[n, 4])".
  std::string Where(std::size_t input) const {
    return "input \"" + Name(input) + "\" (" +
           TypeText(module_, params_[input].type) + ")";
  }

  const Module& module_;
  const InputOptions& options_;
  std::span<const Param> params_;
  std::vector<std::optional<HostTensor>> tensors_;
};

// "ones:2x3" is {"ones", "2x3"}; nullopt for what is a file.
std::optional<std::pair<std::string_view, std::string_view>> AsMaker(
    std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view how = text.substr(0, colon);
  if (std::ranges::find(kMakers, how) == kMakers.end()) return std::nullopt;
  return std::pair(how, text.substr(colon + 1));
}

// Names may hold '=' themselves, so the longest name that fits is meant.
Expected<Source> InputMaker::Match(const std::string& text) const {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < params_.size(); ++i) {
    const std::string& name = Name(i);
    if (text.starts_with(name + "=") &&
        (!best.has_value() || name.size() > Name(*best).size())) {
      best = i;
    }
  }
  if (best.has_value()) {
    return Source{*best, text.substr(Name(*best).size() + 1)};
  }
  if (params_.size() == 1 && text.find('=') == std::string::npos) {
    return Source{0, text};
  }
  return Fail(ErrorCode::kInvalidArgument,
              "\"" + text +
                  "\" names no input; the model has: " + InputListText(module_),
              "--input");
}

Expected<const Type*> InputMaker::TensorTypeOf(std::size_t input) const {
  const Type* type = TensorType(module_, params_[input].type);
  if (type == nullptr) {
    return Fail(ErrorCode::kUnsupported,
                "is no tensor and cannot be given here", Where(input));
  }
  return type;
}

std::optional<int64_t> InputMaker::SizeOfSymbol(
    bytecode::StringId symbol) const {
  if (!symbol.valid()) return std::nullopt;
  for (std::size_t i = 0; i < params_.size(); ++i) {
    const Type* type = TensorType(module_, params_[i].type);
    if (!tensors_[i].has_value() || type == nullptr || !type->ranked) continue;
    const auto dims = tensors_[i]->dims();
    for (std::size_t d = 0; d < std::min(dims.size(), type->dims.size()); ++d) {
      if (type->dims[d].size < 0 && type->dims[d].symbol == symbol) {
        return dims[d];
      }
    }
  }
  return std::nullopt;
}

// The sizes of a made-up or raw input. `text`: dims given with the source.
Expected<std::vector<int64_t>> InputMaker::DimsOf(std::size_t input,
                                                  std::string_view text) const {
  TRY(const Type* type, TensorTypeOf(input));
  std::vector<onnx::DimBound> bounds;
  if (!text.empty()) {
    TRY(ShapeOption shape, ParseShape("x=" + std::string(text)));
    bounds = std::move(shape.second);
  } else if (const auto at = options_.shapes.find(Name(input));
             at != options_.shapes.end()) {
    bounds = at->second;
  }
  const bool given = !text.empty() || options_.shapes.contains(Name(input));
  if (!type->ranked && !given) {
    return Fail(
        ErrorCode::kInvalidArgument,
        "has an unknown rank: give sizes with --shape " + Name(input) + "=…",
        Where(input));
  }
  const std::size_t rank = type->ranked ? type->dims.size() : bounds.size();
  if (given && bounds.size() != rank) {
    return Fail(ErrorCode::kInvalidArgument,
                "has " + std::to_string(rank) + " dims, " +
                    std::to_string(bounds.size()) + " sizes are given",
                Where(input));
  }
  std::vector<int64_t> dims;
  for (std::size_t d = 0; d < rank; ++d) {
    const int64_t fixed = type->ranked ? type->dims[d].size : -1;
    std::optional<int64_t> size;
    if (fixed >= 0 && given &&
        (fixed < bounds[d].low || fixed > bounds[d].high.value_or(INT64_MAX))) {
      return Fail(ErrorCode::kInvalidArgument,
                  "dim " + std::to_string(d) + " is " + std::to_string(fixed) +
                      " in the model, another size is given",
                  Where(input));
    }
    if (fixed >= 0) size = fixed;
    if (!size && given && (bounds[d].IsFixed() || bounds[d].low > 0)) {
      size = bounds[d].low;
    }
    if (!size && type->ranked) size = SizeOfSymbol(type->dims[d].symbol);
    if (!size) {
      return Fail(ErrorCode::kInvalidArgument,
                  "dim " + std::to_string(d) +
                      " is unknown: give sizes with --shape " + Name(input) +
                      "=…",
                  Where(input));
    }
    dims.push_back(*size);
  }
  return dims;
}

Status InputMaker::MakeOne(std::size_t input, std::string_view how,
                           std::string_view dims_text) {
  TRY(const Type* type, TensorTypeOf(input));
  TRY(auto dims, DimsOf(input, dims_text));
  auto tensor = MakeUp(std::string(how), type->dtype, std::move(dims),
                       options_.seed + input);
  if (!tensor.has_value()) {
    Error error = std::move(tensor).error();
    error.where = Where(input);
    return std::unexpected(std::move(error));
  }
  tensors_[input] = std::move(*tensor);
  return {};
}

Status InputMaker::ReadFile(const Source& source) {
  TRY(const Type* type, TensorTypeOf(source.input));
  std::string path = source.text;
  Expected<HostTensor> tensor;
  if (path.ends_with(".npy")) {
    tensor = ReadNpy(path);
    if (tensor.has_value()) {
      tensor = ConvertFromNpy(std::move(*tensor), type->dtype);
    }
  } else if (path.ends_with(".pb")) {
    TRY(NamedTensor named, ReadPb(path));
    tensor = std::move(named.tensor);
  } else if (path.ends_with(".png") || path.ends_with(".PNG")) {
    tensor = ReadPictureInput(path, *type, options_.picture);
  } else {
    if (path.starts_with("raw:")) path = path.substr(4);
    TRY(auto dims, DimsOf(source.input, ""));
    tensor = ReadRaw(path, type->dtype, std::move(dims));
  }
  if (!tensor.has_value()) {
    Error error = std::move(tensor).error();
    if (error.where.empty()) {
      error.where =
          error.code == ErrorCode::kShapeMismatch ? Where(source.input) : path;
    }
    return std::unexpected(std::move(error));
  }
  tensors_[source.input] = std::move(*tensor);
  return {};
}

Status InputMaker::CheckAllGiven() const {
  std::string missing;
  for (std::size_t i = 0; i < params_.size(); ++i) {
    if (tensors_[i].has_value() || params_[i].optional_feed) continue;
    missing += (missing.empty() ? "" : ", ") + Name(i) + " (" +
               TypeText(module_, params_[i].type) + ")";
  }
  if (missing.empty()) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "not given: " + missing +
                  "; use --input NAME=FILE, or --fill random for all",
              "inputs");
}

Status InputMaker::CheckShapeNames() const {
  for (const auto& [name, bounds] : options_.shapes) {
    const bool known = std::ranges::any_of(params_, [&](const Param& param) {
      return module_.string(param.name) == name;
    });
    if (known) continue;
    return Fail(ErrorCode::kInvalidArgument,
                "\"" + name +
                    "\" is no input; the model has: " + InputListText(module_),
                "--shape");
  }
  return {};
}

Expected<std::vector<std::optional<HostTensor>>> InputMaker::Run() {
  RETURN_IF_ERROR(CheckShapeNames());
  std::vector<Source> made_up;
  std::vector<bool> named(params_.size());
  for (const std::string& text : options_.inputs) {
    TRY(Source source, Match(text));
    if (named[source.input]) {
      return Fail(ErrorCode::kInvalidArgument, "is given twice",
                  Where(source.input));
    }
    named[source.input] = true;
    if (AsMaker(source.text).has_value()) {
      made_up.push_back(std::move(source));
    } else {
      RETURN_IF_ERROR(ReadFile(source));
    }
  }
  // After the files, which may tell the sizes of dims that have a name.
  for (const Source& source : made_up) {
    const auto [how, dims] = *AsMaker(source.text);
    RETURN_IF_ERROR(MakeOne(source.input, how, dims));
  }
  if (!options_.fill.empty()) {
    for (std::size_t i = 0; i < params_.size(); ++i) {
      if (tensors_[i].has_value() || params_[i].optional_feed) continue;
      RETURN_IF_ERROR(MakeOne(i, options_.fill, ""));
    }
  }
  RETURN_IF_ERROR(CheckAllGiven());
  return std::move(tensors_);
}

// Largest integer that every dtype holds and iota may count to.
int64_t CycleOf(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return 2;
    case DType::kI4:
      return 8;
    case DType::kU4:
      return 16;
    case DType::kI8:
      return 128;
    case DType::kU8:
      return 256;
    case DType::kI16:
    case DType::kF16:
      return 2048;
    case DType::kBF16:
      return 256;
    default:
      return int64_t{1} << 24;
  }
}

}  // namespace

Expected<HostTensor> MakeUp(const std::string& how, DType dtype,
                            std::vector<int64_t> dims, uint64_t seed) {
  if (std::ranges::find(kMakers, how) == kMakers.end()) {
    return Fail(ErrorCode::kInvalidArgument,
                "\"" + how + "\" is not one of random, ones, zeros, iota");
  }
  if (!HasNumericValue(dtype)) {
    return Fail(ErrorCode::kUnsupported,
                "cannot make up elements of " + std::string(DTypeName(dtype)));
  }
  TRY(HostTensor tensor, HostTensor::Make(dtype, std::move(dims)));
  if (how == "zeros") return tensor;
  std::byte* const data = tensor.bytes().data();
  // The engine's numbers are the same everywhere; the standard library's
  // distributions are not.
  std::mt19937_64 engine(seed);
  for (int64_t i = 0; i < tensor.count(); ++i) {
    double value = 1;
    if (how == "iota") {
      value = static_cast<double>(i % CycleOf(dtype));
    } else if (how == "random") {
      const auto bits = static_cast<double>(engine() >> 40U);  // 24 of them
      value = bits * 0x1p-24;
      if (IsInteger(dtype)) {
        value = static_cast<double>(
            static_cast<int>(value * (DTypeBits(dtype) < 8 ? 8 : 10)));
      }
      if (dtype == DType::kBool) value = value < 0.5 ? 0 : 1;
    }
    SetElement(dtype, data, i, value);
  }
  return tensor;
}

Expected<std::vector<std::optional<HostTensor>>> MakeInputs(
    const Module& module, const InputOptions& options) {
  return InputMaker(module, options).Run();
}

}  // namespace ebb::tools
