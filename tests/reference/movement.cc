#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "tests/reference/operand.h"

namespace ebb::reference {
namespace {

// Fills an output: `source` gives the index in `from` for each of its own.
void Fill(const ReferenceTensor& from, ReferenceTensor& to,
          const std::function<Index(Index)>& source) {
  int64_t at = 0;
  ForEach(to.dims, [&](const Index& index) {
    CopyElement(from, Flat(from.dims, source(index)), to, at++);
  });
}

void Concat(const Call& call) {
  const auto axis = static_cast<std::size_t>(
      call.Axis(call.attributes.Int("axis", 0), call.out().dims.size()));
  int64_t offset = 0;
  for (const ReferenceTensor& input : call.inputs) {
    int64_t at = 0;
    ForEach(input.dims, [&](Index index) {
      index[axis] += offset;
      CopyElement(input, at++, call.out(), Flat(call.out().dims, index));
    });
    offset += input.dims[axis];
  }
}

void Split(const Call& call) {
  const auto axis = static_cast<std::size_t>(
      call.Axis(call.attributes.Int("axis", 0), call.in(0).dims.size()));
  int64_t offset = 0;
  for (ReferenceTensor& output : call.outputs) {
    Fill(call.in(0), output, [&](Index index) {
      index[axis] += offset;
      return index;
    });
    offset += output.dims[axis];
  }
}

// Where a slice of an axis starts, as Python has it, but a start below the
// axis is its first element for negative steps too.
int64_t SliceStart(int64_t start, int64_t step, int64_t dim) {
  if (start < 0) start += dim;
  return std::clamp<int64_t>(start, 0, step > 0 ? dim : dim - 1);
}

void Slice(const Call& call) {
  const Index& dims = call.in(0).dims;
  const Index starts = call.Ints(1);
  Index first(dims.size(), 0);
  Index step(dims.size(), 1);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto axis = static_cast<std::size_t>(
        call.Has(3) ? call.Axis(call.Ints(3)[i], dims.size())
                    : static_cast<int64_t>(i));
    if (call.Has(4)) step[axis] = call.Ints(4)[i];
    if (call.out().dims[axis] == 0) continue;
    first[axis] = SliceStart(starts[i], step[axis], dims[axis]);
  }
  Fill(call.in(0), call.out(), [&](Index index) {
    for (std::size_t i = 0; i < dims.size(); ++i) {
      // The product of the last index and the step lies in the axis, but for
      // a step that is never taken.
      index[i] = index[i] == 0 ? first[i] : first[i] + index[i] * step[i];
    }
    return index;
  });
}

Status Gather(const Call& call) {
  const ReferenceTensor& x = call.in(0);
  const ReferenceTensor& indices = call.in(1);
  const auto axis = static_cast<std::size_t>(
      call.Axis(call.attributes.Int("axis", 0), x.dims.size()));
  const std::size_t count = indices.dims.size();
  std::optional<int64_t> bad;
  int64_t at = 0;
  ForEach(call.out().dims, [&](const Index& index) {
    const Index where(index.begin() + static_cast<int64_t>(axis),
                      index.begin() + static_cast<int64_t>(axis + count));
    auto picked =
        static_cast<int64_t>(GetInt(indices, Flat(indices.dims, where)));
    if (picked < -x.dims[axis] || picked >= x.dims[axis]) {
      if (!bad.has_value()) bad = picked;
      return;
    }
    if (picked < 0) picked += x.dims[axis];
    Index from(index.begin(), index.begin() + static_cast<int64_t>(axis));
    from.push_back(picked);
    from.insert(from.end(), index.begin() + static_cast<int64_t>(axis + count),
                index.end());
    CopyElement(x, Flat(x.dims, from), call.out(), at++);
  });
  if (!bad.has_value()) return {};
  return Fail(ErrorCode::kOutOfRange,
              "index " + std::to_string(*bad) + " is outside axis " +
                  std::to_string(axis) + " of " + std::to_string(x.dims[axis]) +
                  " elements");
}

void Transpose(const Call& call) {
  const auto perm = call.attributes.Ints("perm");
  const std::size_t rank = call.in(0).dims.size();
  Fill(call.in(0), call.out(), [&](const Index& index) {
    Index from(rank);
    for (std::size_t i = 0; i < rank; ++i) {
      const std::size_t axis =
          perm.empty() ? rank - 1 - i : static_cast<std::size_t>(perm[i]);
      from[axis] = index[i];
    }
    return from;
  });
}

void Expand(const Call& call) {
  int64_t at = 0;
  ForEach(call.out().dims, [&](const Index& index) {
    CopyElement(call.in(0), BroadcastFlat(call.in(0).dims, index), call.out(),
                at++);
  });
}

void Tile(const Call& call) {
  Fill(call.in(0), call.out(), [&](Index index) {
    for (std::size_t i = 0; i < index.size(); ++i) {
      index[i] %= call.in(0).dims[i];
    }
    return index;
  });
}

// Element of [0, size) that a padded place repeats; nullopt: the constant.
std::optional<int64_t> Repeated(std::string_view mode, int64_t i,
                                int64_t size) {
  if (i >= 0 && i < size) return i;
  if (mode == "constant") return std::nullopt;
  if (mode == "edge") return i < 0 ? 0 : size - 1;
  if (mode == "wrap") return ((i % size) + size) % size;
  // Reflect: to and fro, the ends not doubled.
  if (size == 1) return 0;
  const int64_t period = 2 * (size - 1);
  const int64_t phase = ((i % period) + period) % period;
  return phase < size ? phase : period - phase;
}

void Pad(const Call& call) {
  const ReferenceTensor& x = call.in(0);
  const std::size_t rank = x.dims.size();
  const std::string_view mode = call.attributes.String("mode", "constant");
  const Index pads = call.Ints(1);
  Index begin(rank, 0);
  Index end(rank, 0);
  const std::size_t count = pads.size() / 2;
  for (std::size_t i = 0; i < count; ++i) {
    const auto axis =
        static_cast<std::size_t>(call.Has(3) ? call.Axis(call.Ints(3)[i], rank)
                                             : static_cast<int64_t>(i));
    begin[axis] = pads[i];
    end[axis] = pads[i + count];
  }
  int64_t at = 0;
  ForEach(call.out().dims, [&](const Index& index) {
    Index from(rank);
    bool constant = false;
    for (std::size_t i = 0; i < rank; ++i) {
      // Cropped first: what is left is [cropped, cropped + size).
      const int64_t cropped = std::max<int64_t>(0, -begin[i]);
      const int64_t size = x.dims[i] - cropped - std::max<int64_t>(0, -end[i]);
      const auto source =
          Repeated(mode, index[i] - std::max<int64_t>(0, begin[i]), size);
      constant = constant || !source.has_value();
      from[i] = cropped + source.value_or(0);
    }
    if (!constant) {
      CopyElement(x, Flat(x.dims, from), call.out(), at);
    } else if (call.Has(2)) {
      CopyElement(call.in(2), 0, call.out(), at);
    }
    ++at;
  });
}

}  // namespace

Status RunMovement(const Call& call) {
  switch (call.code) {
    case OperatorCode::kConcat:
      Concat(call);
      return {};
    case OperatorCode::kSplit:
      Split(call);
      return {};
    case OperatorCode::kSlice:
      Slice(call);
      return {};
    case OperatorCode::kGather:
      return Gather(call);
    case OperatorCode::kTranspose:
      Transpose(call);
      return {};
    case OperatorCode::kExpand:
      Expand(call);
      return {};
    case OperatorCode::kTile:
      Tile(call);
      return {};
    case OperatorCode::kPad:
      Pad(call);
      return {};
    default:  // Views: the same elements in the same order.
      call.out().bytes = call.in(0).bytes;
      return {};
  }
}

}  // namespace ebb::reference
