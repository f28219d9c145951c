#include "compiler/analysis/contents.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "bytecode/half.h"
#include "bytecode/shape_rules/geometry.h"

namespace ebb::ir {
namespace {

using List = std::vector<Dim>;
using MaybeList = std::optional<List>;

template <class T>
T LoadAs(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::optional<int64_t> LoadInteger(DType dtype, const std::byte* at) {
  switch (dtype) {
    case DType::kI64:
      return LoadAs<int64_t>(at);
    case DType::kI32:
      return LoadAs<int32_t>(at);
    case DType::kI16:
      return LoadAs<int16_t>(at);
    case DType::kI8:
      return LoadAs<int8_t>(at);
    case DType::kU8:
      return LoadAs<uint8_t>(at);
    case DType::kU16:
      return LoadAs<uint16_t>(at);
    case DType::kU32:
      return LoadAs<uint32_t>(at);
    case DType::kBool:
      return LoadAs<uint8_t>(at) != 0 ? 1 : 0;
    default:
      return std::nullopt;
  }
}

std::optional<double> LoadFloat(DType dtype, const std::byte* at) {
  switch (dtype) {
    case DType::kF32:
      return LoadAs<float>(at);
    case DType::kF64:
      return LoadAs<double>(at);
    case DType::kF16:
      return F16ToF32(LoadAs<uint16_t>(at));
    case DType::kBF16:
      return BF16ToF32(LoadAs<uint16_t>(at));
    default:
      return std::nullopt;
  }
}

// Elements of a constant through `load`; nullopt when it is large or its
// bytes are not there.
template <class T, class Load>
std::optional<std::vector<T>> Elements(const Constant& constant, Load load) {
  int64_t count = 1;
  for (const int64_t dim : constant.dims) {
    if (dim < 0 || dim > static_cast<int64_t>(kMaxContents)) {
      return std::nullopt;
    }
    count *= dim;
    if (count > static_cast<int64_t>(kMaxContents)) return std::nullopt;
  }
  const int bits = DTypeBits(constant.dtype);
  if (constant.declared_only || constant.packing.has_value() || bits < 8) {
    return std::nullopt;
  }
  const auto size = static_cast<std::size_t>(bits / 8);
  std::vector<T> elements;
  for (int64_t i = 0; i < count; ++i) {
    const std::size_t at =
        constant.repeat ? 0 : static_cast<std::size_t>(i) * size;
    if (at + size > constant.data.size()) return std::nullopt;
    const auto element = load(constant.dtype, constant.data.data() + at);
    if (!element.has_value()) return std::nullopt;
    elements.push_back(static_cast<T>(*element));
  }
  return elements;
}

// The view of one operator that the rules below work on.
class Evaluator {
 public:
  Evaluator(Module& module, const Function& function, const Instr& instr)
      : dims_(module.dims), function_(function), instr_(instr) {}

  MaybeList Result();

 private:
  const MaybeList& In(std::size_t i) const {
    static const MaybeList kNothing;
    if (i >= instr_.operands.size() || !instr_.operands[i].value.valid()) {
      return kNothing;
    }
    return function_.value(instr_.operands[i].value).contents;
  }
  const Type& TypeOf(std::size_t i) const {
    return function_.value(instr_.operands[i].value).type;
  }
  bool Has(std::size_t i) const {
    return i < instr_.operands.size() && instr_.operands[i].value.valid();
  }
  // The number of dims of operand i; a shape value is a rank-1 tensor.
  std::size_t RankOf(std::size_t i) const {
    const Type& type = TypeOf(i);
    return type.kind == TypeKind::kShape ? 1 : type.dims.size();
  }
  const Type& ResultType() const {
    return function_.value(instr_.results[0]).type;
  }
  // All elements as plain numbers.
  std::optional<std::vector<int64_t>> Numbers(std::size_t i) const {
    if (!In(i).has_value()) return std::nullopt;
    std::vector<int64_t> numbers;
    for (const Dim dim : *In(i)) {
      const auto number = dims_.Known(dim);
      if (!number.has_value()) return std::nullopt;
      numbers.push_back(*number);
    }
    return numbers;
  }

  MaybeList ShapeOf() const;
  MaybeList SizeOf() const;
  MaybeList Concat() const;
  MaybeList Gather() const;
  MaybeList Slice() const;
  MaybeList Binary();
  MaybeList CompareBinary();
  MaybeList Select() const;
  MaybeList Cast() const;
  MaybeList Fill() const;
  MaybeList Range();
  MaybeList Reduce();
  Dim Divide(Dim a, Dim b);

  DimTable& dims_;
  const Function& function_;
  const Instr& instr_;
};

MaybeList Evaluator::ShapeOf() const {
  const Type& type = TypeOf(0);
  if (!type.IsTensor() || !type.ranked) return std::nullopt;
  const auto rank = static_cast<int64_t>(type.dims.size());
  const auto clamp = [rank](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const int64_t start = clamp(instr_.attributes.Int("start", 0));
  const int64_t end = clamp(instr_.attributes.Int("end", rank));
  if (end <= start) return List();
  return List(type.dims.begin() + start, type.dims.begin() + end);
}

MaybeList Evaluator::SizeOf() const {
  const Type& type = TypeOf(0);
  if (!type.IsTensor() || !type.ranked) return std::nullopt;
  const Dim count = dims_.Product(type.dims);
  if (!count.valid()) return std::nullopt;
  return List{count};
}

MaybeList Evaluator::Concat() const {
  List all;
  for (std::size_t i = 0; i < instr_.operands.size(); ++i) {
    if (!In(i).has_value() || RankOf(i) != 1) return std::nullopt;
    all.insert(all.end(), In(i)->begin(), In(i)->end());
    if (all.size() > kMaxContents) return std::nullopt;
  }
  return all;
}

MaybeList Evaluator::Gather() const {
  const auto indices = Numbers(1);
  if (!In(0).has_value() || RankOf(0) != 1 || !indices.has_value()) {
    return std::nullopt;
  }
  const auto size = static_cast<int64_t>(In(0)->size());
  List picked;
  for (int64_t index : *indices) {
    if (index < 0) index += size;
    if (index < 0 || index >= size) return std::nullopt;
    picked.push_back((*In(0))[static_cast<std::size_t>(index)]);
  }
  return picked;
}

MaybeList Evaluator::Slice() const {
  const auto starts = Numbers(1);
  const auto ends = Numbers(2);
  const auto steps = Has(4) ? Numbers(4) : std::vector<int64_t>{1};
  if (!In(0).has_value() || RankOf(0) != 1 || !starts || !ends || !steps) {
    return std::nullopt;
  }
  const int64_t size = static_cast<int64_t>(In(0)->size());
  const int64_t axis = 0;
  const auto slice = ResolveSlice(DimSpan(&size, 1), *starts, *ends,
                                  DimSpan(&axis, 1), DimSpan(*steps));
  if (!slice.has_value()) return std::nullopt;
  List picked;
  for (int64_t i = 0; i < slice->front().count; ++i) {
    const int64_t at = slice->front().start + i * slice->front().step;
    picked.push_back((*In(0))[static_cast<std::size_t>(at)]);
  }
  return picked;
}

// Integer Div of ONNX truncates; dims divide rounding down, the same where
// neither is negative.
Dim Evaluator::Divide(Dim a, Dim b) {
  const auto x = dims_.Known(a);
  const auto y = dims_.Known(b);
  if (x.has_value() && y.has_value()) {
    if (*y == 0 || (*y == -1 && *x == INT64_MIN)) return Dim();
    return dims_.Constant(*x / *y);
  }
  if (dims_.RangeOf(a).low < 0 || dims_.RangeOf(b).low <= 0) return Dim();
  return dims_.FloorDiv(a, b);
}

// Broadcasting of contents: equal counts, or one of them is one element.
MaybeList Evaluator::Binary() {
  if (!In(0).has_value() || !In(1).has_value()) return std::nullopt;
  const List& a = *In(0);
  const List& b = *In(1);
  if (RankOf(0) > 1 || RankOf(1) > 1) return std::nullopt;
  if (a.size() != b.size() && a.size() != 1 && b.size() != 1) {
    return std::nullopt;
  }
  // Arithmetic of narrow types wraps; only 64 bits are followed.
  if (ResultType().dtype != DType::kI64) return std::nullopt;
  const std::size_t count = a.size() == 1 ? b.size() : a.size();
  List result;
  for (std::size_t i = 0; i < count; ++i) {
    const Dim x = a[a.size() == 1 ? 0 : i];
    const Dim y = b[b.size() == 1 ? 0 : i];
    Dim r;
    switch (instr_.code) {
      case OperatorCode::kAdd:
        r = dims_.Add(x, y);
        break;
      case OperatorCode::kSub:
        r = dims_.Sub(x, y);
        break;
      case OperatorCode::kMul:
        r = dims_.Mul(x, y);
        break;
      case OperatorCode::kDiv:
        r = Divide(x, y);
        break;
      case OperatorCode::kMin:
        r = dims_.Min(x, y);
        break;
      case OperatorCode::kMax:
        r = dims_.Max(x, y);
        break;
      default:
        return std::nullopt;
    }
    if (!r.valid()) return std::nullopt;
    result.push_back(r);
  }
  return result;
}

MaybeList Evaluator::CompareBinary() {
  if (!In(0).has_value() || !In(1).has_value()) return std::nullopt;
  const List& a = *In(0);
  const List& b = *In(1);
  if (RankOf(0) > 1 || RankOf(1) > 1) return std::nullopt;
  if (a.size() != b.size() && a.size() != 1 && b.size() != 1) {
    return std::nullopt;
  }
  const std::size_t count = a.size() == 1 ? b.size() : a.size();
  List result;
  for (std::size_t i = 0; i < count; ++i) {
    const Dim x = a[a.size() == 1 ? 0 : i];
    const Dim y = b[b.size() == 1 ? 0 : i];
    const DimRange rx = dims_.RangeOf(x);
    const DimRange ry = dims_.RangeOf(y);
    std::optional<bool> holds;
    switch (instr_.code) {
      case OperatorCode::kEqual:
        if (x == y) holds = true;
        if (rx.high < ry.low || ry.high < rx.low) holds = false;
        break;
      case OperatorCode::kLess:
        if (rx.high < ry.low) holds = true;
        if (x == y || rx.low >= ry.high) holds = false;
        break;
      case OperatorCode::kGreater:
        if (rx.low > ry.high) holds = true;
        if (x == y || rx.high <= ry.low) holds = false;
        break;
      case OperatorCode::kLessOrEqual:
        if (x == y || rx.high <= ry.low) holds = true;
        if (rx.low > ry.high) holds = false;
        break;
      case OperatorCode::kGreaterOrEqual:
        if (x == y || rx.low >= ry.high) holds = true;
        if (rx.high < ry.low) holds = false;
        break;
      default:
        break;
    }
    if (!holds.has_value()) return std::nullopt;
    result.push_back(dims_.Constant(*holds ? 1 : 0));
  }
  return result;
}

MaybeList Evaluator::Select() const {
  const auto condition = Numbers(0);
  if (!condition.has_value() || !In(1).has_value() || !In(2).has_value() ||
      RankOf(0) > 1 || RankOf(1) > 1 || RankOf(2) > 1) {
    return std::nullopt;
  }
  const std::size_t count =
      std::max({condition->size(), In(1)->size(), In(2)->size()});
  List result;
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = [i, count](const auto& list) {
      return list.size() == 1 ? 0 : (list.size() == count ? i : list.size());
    };
    const std::size_t c = at(*condition);
    if (c >= condition->size()) return std::nullopt;
    const List& from = (*condition)[c] != 0 ? *In(1) : *In(2);
    const std::size_t place = at(from);
    if (place >= from.size()) return std::nullopt;
    result.push_back(from[place]);
  }
  return result;
}

// Widening casts and those that cannot lose anything of a known number.
MaybeList Evaluator::Cast() const {
  const DType to = ResultType().dtype;
  if (!In(0).has_value()) return std::nullopt;
  if (to == DType::kI64) return In(0);
  int64_t low = 0;
  int64_t high = 0;
  if (to == DType::kI32) {
    low = INT32_MIN;
    high = INT32_MAX;
  } else if (to == DType::kBool) {
    high = 1;
  } else {
    return std::nullopt;
  }
  for (const Dim dim : *In(0)) {
    const DimRange range = dims_.RangeOf(dim);
    // A dim of a tensor that exists is taken to fit 32 bits only when proved.
    if (range.low < low || range.high > high) return std::nullopt;
  }
  return In(0);
}

MaybeList Evaluator::Fill() const {
  const auto shape = Numbers(0);
  if (!shape.has_value() || !In(1).has_value() || In(1)->size() != 1) {
    return std::nullopt;
  }
  std::size_t count = 1;
  for (const int64_t dim : *shape) {
    if (dim < 0 || static_cast<std::size_t>(dim) > kMaxContents) {
      return std::nullopt;
    }
    count *= static_cast<std::size_t>(dim);
    if (count > kMaxContents) return std::nullopt;
  }
  return List(count, In(1)->front());
}

MaybeList Evaluator::Range() {
  const auto start = Numbers(0);
  const auto limit = Numbers(1);
  const auto delta = Numbers(2);
  if (!start || !limit || !delta || start->size() != 1 || limit->size() != 1 ||
      delta->size() != 1 || delta->front() == 0) {
    return std::nullopt;
  }
  List result;
  int64_t at = start->front();
  while (delta->front() > 0 ? at < limit->front() : at > limit->front()) {
    if (result.size() == kMaxContents) return std::nullopt;
    result.push_back(dims_.Constant(at));
    if (__builtin_add_overflow(at, delta->front(), &at)) return std::nullopt;
  }
  return result;
}

// A sum, minimum or maximum of a whole list.
MaybeList Evaluator::Reduce() {
  if (!In(0).has_value() || RankOf(0) != 1 || In(0)->empty() ||
      ResultType().dtype != DType::kI64) {
    return std::nullopt;
  }
  if (instr_.attributes.Int("noop_with_empty_axes", 0) != 0 && !Has(1)) {
    return In(0);
  }
  if (Has(1) && !(In(1).has_value() && In(1)->size() == 1)) {
    return std::nullopt;
  }
  Dim all = In(0)->front();
  for (std::size_t i = 1; i < In(0)->size(); ++i) {
    const Dim next = (*In(0))[i];
    if (instr_.code == OperatorCode::kReduceSum) {
      all = dims_.Add(all, next);
    } else if (instr_.code == OperatorCode::kReduceMin) {
      all = dims_.Min(all, next);
    } else {
      all = dims_.Max(all, next);
    }
    if (!all.valid()) return std::nullopt;
  }
  return List{all};
}

MaybeList Evaluator::Result() {
  switch (instr_.code) {
    case OperatorCode::kShape:
      return ShapeOf();
    case OperatorCode::kSize:
      return SizeOf();
    case OperatorCode::kConcat:
      return Concat();
    case OperatorCode::kGather:
      return Gather();
    case OperatorCode::kSlice:
      return Slice();
    case OperatorCode::kAdd:
    case OperatorCode::kSub:
    case OperatorCode::kMul:
    case OperatorCode::kDiv:
    case OperatorCode::kMin:
    case OperatorCode::kMax:
      return Binary();
    case OperatorCode::kEqual:
    case OperatorCode::kLess:
    case OperatorCode::kGreater:
    case OperatorCode::kLessOrEqual:
    case OperatorCode::kGreaterOrEqual:
      return CompareBinary();
    case OperatorCode::kWhere:
      return Select();
    case OperatorCode::kCast:
      return Cast();
    case OperatorCode::kFull:
      return Fill();
    case OperatorCode::kRange:
      return Range();
    case OperatorCode::kReduceSum:
    case OperatorCode::kReduceMin:
    case OperatorCode::kReduceMax:
      return Reduce();
    case OperatorCode::kIdentity:
    case OperatorCode::kReshape:
    case OperatorCode::kFlatten:
    case OperatorCode::kSqueeze:
    case OperatorCode::kUnsqueeze:
      return In(0);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<std::vector<Dim>> ContentsOfConstant(DimTable& dims,
                                                   const Constant& constant) {
  const auto numbers = Elements<int64_t>(constant, LoadInteger);
  if (!numbers.has_value()) return std::nullopt;
  std::vector<Dim> contents;
  for (const int64_t number : *numbers) {
    contents.push_back(dims.Constant(number));
  }
  return contents;
}

std::optional<std::vector<double>> FloatsOfConstant(const Constant& constant) {
  return Elements<double>(constant, LoadFloat);
}

std::optional<std::vector<Dim>> ContentsOfOperator(Module& module,
                                                   const Function& function,
                                                   const Instr& instr) {
  if (instr.results.empty() || !instr.results[0].valid()) return std::nullopt;
  const Type& type = function.value(instr.results[0]).type;
  if (!type.IsTensor() ||
      (!IsInteger(type.dtype) && type.dtype != DType::kBool)) {
    return std::nullopt;
  }
  return Evaluator(module, function, instr).Result();
}

}  // namespace ebb::ir
