#include <algorithm>
#include <limits>
#include <utility>

#include "bytecode/shape_rules/geometry.h"

namespace ebb {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

std::unexpected<Error> Mismatch(std::string message) {
  return Fail(ErrorCode::kShapeMismatch, std::move(message));
}

std::unexpected<Error> BadArgument(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

std::string Number(auto value) { return std::to_string(value); }

// Magnitude of a step, also of the lowest int64.
uint64_t Magnitude(int64_t value) {
  return value < 0 ? ~static_cast<uint64_t>(value) + 1
                   : static_cast<uint64_t>(value);
}

SliceAxis ClampSlice(int64_t dim, int64_t start, int64_t end, int64_t step) {
  const int64_t low = step > 0 ? 0 : -1;
  const int64_t high = step > 0 ? dim : dim - 1;
  if (start < 0) start += dim;
  if (end < 0) end += dim;
  start = std::clamp(start, step > 0 ? int64_t{0} : std::min<int64_t>(0, high),
                     high);
  end = std::clamp(end, low, high);
  // Both lie in [-1, dim], so the difference cannot overflow.
  const int64_t length = step > 0 ? end - start : start - end;
  if (length <= 0) return {.start = 0, .step = step, .count = 0};
  const uint64_t steps = static_cast<uint64_t>(length - 1) / Magnitude(step);
  return {
      .start = start, .step = step, .count = static_cast<int64_t>(steps) + 1};
}

// The axes a list names, or 0, 1, … `count` when it is absent.
Expected<std::vector<int>> NamedAxes(OptionalList axes, std::size_t count,
                                     int rank) {
  std::vector<int> result;
  if (!axes.has_value()) {
    if (count > static_cast<std::size_t>(rank)) {
      return Mismatch(Number(count) + " axes given for rank " + Number(rank));
    }
    for (std::size_t i = 0; i < count; ++i) {
      result.push_back(static_cast<int>(i));
    }
    return result;
  }
  if (axes->size() != count) {
    return Mismatch("axes has " + Number(axes->size()) + " entries, expected " +
                    Number(count));
  }
  RETURN_IF_ERROR(AxesMask(*axes, rank));
  for (const int64_t axis : *axes) {
    TRY(const int at, NormalizeAxis(axis, rank));
    result.push_back(at);
  }
  return result;
}

}  // namespace

Expected<std::vector<SliceAxis>> ResolveSlice(DimSpan dims, DimSpan starts,
                                              DimSpan ends, OptionalList axes,
                                              OptionalList steps) {
  if (starts.size() != ends.size()) {
    return Mismatch("starts has " + Number(starts.size()) +
                    " entries, ends has " + Number(ends.size()));
  }
  if (steps.has_value() && steps->size() != starts.size()) {
    return Mismatch("steps has " + Number(steps->size()) +
                    " entries, starts has " + Number(starts.size()));
  }
  TRY(const std::vector<int> named,
      NamedAxes(axes, starts.size(), static_cast<int>(dims.size())));
  std::vector<SliceAxis> result(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) result[i].count = dims[i];
  for (std::size_t i = 0; i < named.size(); ++i) {
    const int64_t step = steps.has_value() ? (*steps)[i] : 1;
    if (step == 0)
      return BadArgument("step of axis " + Number(named[i]) + " is 0");
    const auto axis = static_cast<std::size_t>(named[i]);
    result[axis] = ClampSlice(dims[axis], starts[i], ends[i], step);
  }
  return result;
}

Expected<PadMode> PadModeFromName(std::string_view name) {
  if (name == "constant") return PadMode::kConstant;
  if (name == "reflect") return PadMode::kReflect;
  if (name == "edge") return PadMode::kEdge;
  if (name == "wrap") return PadMode::kWrap;
  return BadArgument("mode '" + std::string(name) +
                     "' is none of constant, reflect, edge, wrap");
}

Expected<std::vector<PadAxis>> ResolvePads(DimSpan dims, DimSpan pads,
                                           OptionalList axes, PadMode mode) {
  const std::size_t count = axes.has_value() ? axes->size() : dims.size();
  if (pads.size() % 2 != 0 || pads.size() / 2 != count) {
    return Mismatch("pads has " + Number(pads.size()) +
                    " entries, expected 2 for each of " + Number(count) +
                    " axes");
  }
  TRY(const std::vector<int> named,
      NamedAxes(axes, count, static_cast<int>(dims.size())));
  std::vector<PadAxis> result(dims.size());
  for (std::size_t i = 0; i < count; ++i) {
    const auto axis = static_cast<std::size_t>(named[i]);
    const PadAxis pad{.begin = pads[i], .end = pads[i + count]};
    // Negative amounts first, one by one: no sum of theirs can overflow.
    int64_t left = dims[axis];
    for (const int64_t amount : {pad.begin, pad.end}) {
      if (amount >= 0) continue;
      if (amount < -left) {
        return Mismatch("pads " + Number(pad.begin) + " and " +
                        Number(pad.end) + " crop more than the " +
                        Number(dims[axis]) + " elements of axis " +
                        Number(axis));
      }
      left += amount;
    }
    int64_t padded = left;
    for (const int64_t amount : {pad.begin, pad.end}) {
      if (amount > 0 && __builtin_add_overflow(padded, amount, &padded)) {
        return Fail(ErrorCode::kLimit,
                    "padded axis " + Number(axis) + " overflows int64");
      }
    }
    if (mode != PadMode::kConstant && left == 0 && padded > 0) {
      return Mismatch("axis " + Number(axis) +
                      " is empty, there is nothing to repeat");
    }
    result[axis] = pad;
  }
  return result;
}

Expected<Dims> ResolveSplit(int64_t dim, std::size_t parts,
                            OptionalList sizes) {
  Dims result;
  if (!sizes.has_value()) {
    if (parts == 0) return BadArgument("no outputs to split into");
    const auto count = static_cast<int64_t>(parts);
    const int64_t part = dim / count + (dim % count != 0 ? 1 : 0);
    int64_t left = dim;
    for (std::size_t i = 0; i < parts; ++i) {
      result.push_back(std::min(part, left));
      left -= result.back();
    }
    return result;
  }
  if (sizes->size() != parts) {
    return Mismatch("split has " + Number(sizes->size()) + " sizes for " +
                    Number(parts) + " outputs");
  }
  int64_t sum = 0;
  for (const int64_t size : *sizes) {
    if (size < 0) {
      return BadArgument("split size " + Number(size) + " is negative");
    }
    if (__builtin_add_overflow(sum, size, &sum)) sum = kMax;
    result.push_back(size);
  }
  if (sum != dim) {
    return Mismatch("split sizes sum to " + Number(sum) + ", the axis has " +
                    Number(dim) + " elements");
  }
  return result;
}

Expected<Dims> ResolveReshape(DimSpan dims, DimSpan shape, bool allowzero) {
  Dims result(shape.begin(), shape.end());
  std::optional<std::size_t> wild;
  bool zero = false;
  // Copied dims stand on both sides. They are left out of the division, so
  // that -1 has a value for an empty batch too.
  Dims from(dims.begin(), dims.end());
  Dims to;
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (result[i] < -1) {
      return BadArgument("dim " + Number(result[i]) + " of the shape " +
                         DimsText(shape) + " is below -1");
    }
    if (result[i] == -1) {
      if (wild.has_value()) {
        return BadArgument("the shape " + DimsText(shape) +
                           " has more than one -1");
      }
      wild = i;
    } else if (result[i] == 0 && !allowzero) {
      if (i >= dims.size()) {
        return Mismatch("the shape " + DimsText(shape) + " copies dim " +
                        Number(i) + " of rank " + Number(dims.size()));
      }
      result[i] = dims[i];
      from[i] = 1;
    } else {
      zero |= result[i] == 0;
      to.push_back(result[i]);
    }
  }
  if (zero && wild.has_value()) {
    return BadArgument("the shape " + DimsText(shape) +
                       " has both 0 and -1 with allowzero");
  }
  const std::optional<int64_t> from_count = ElementCount(from);
  const std::optional<int64_t> to_count = ElementCount(to);
  const bool fits = from_count.has_value() && to_count.has_value() &&
                    (wild.has_value() ? *from_count % *to_count == 0
                                      : *from_count == *to_count);
  if (!fits) {
    return Mismatch("cannot reshape " + DimsText(dims) + " to " +
                    DimsText(shape));
  }
  if (wild.has_value()) result[*wild] = *from_count / *to_count;
  return result;
}

Expected<std::vector<int>> ResolvePermutation(DimSpan perm, int rank) {
  std::vector<int> result;
  if (perm.empty()) {
    for (int i = rank; i-- > 0;) result.push_back(i);
    return result;
  }
  if (perm.size() != static_cast<std::size_t>(rank)) {
    return Mismatch("perm has " + Number(perm.size()) +
                    " entries, the rank is " + Number(rank));
  }
  RETURN_IF_ERROR(AxesMask(perm, rank));
  for (const int64_t axis : perm) {
    if (axis < 0) return BadArgument("perm " + Number(axis) + " is negative");
    result.push_back(static_cast<int>(axis));
  }
  return result;
}

}  // namespace ebb
