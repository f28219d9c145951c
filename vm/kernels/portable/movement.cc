// Operators that only copy: what each of them means is a set of dims, two
// sets of strides and two starting places, all known in Prepare. One kernel
// runs the copies of all of them.
#include <memory>
#include <vector>

#include "vm/kernels/portable/request.h"
#include "vm/kernels/portable/rows.h"
#include "vm/kernels/portable/strided_copy.h"

namespace ebb::kernels {
namespace {

// One copy from an input to an output. Offsets are in elements.
struct Part {
  std::size_t input = 0;
  std::size_t output = 0;
  int64_t from_offset = 0;
  int64_t to_offset = 0;
  StridedCopy copy;
  int64_t first_slice = 0;
};

class CopiesKernel final : public Prepared {
 public:
  CopiesKernel(int element_bytes, std::vector<Part> parts)
      : element_bytes_(element_bytes), parts_(std::move(parts)) {
    slice_count_ = 0;
    for (Part& part : parts_) {
      part.first_slice = slice_count_;
      slice_count_ += part.copy.slice_count();
      cost_ += 2 * part.copy.bytes();
    }
  }

  RunStatus Run(const RunArgs& args) const noexcept override {
    for (const Part& part : parts_) {
      const int64_t begin =
          std::max(args.slice_begin - part.first_slice, int64_t{0});
      const int64_t end =
          std::min(args.slice_end - part.first_slice, part.copy.slice_count());
      if (begin >= end) continue;
      const void* input = args.inputs[part.input];
      void* output = args.outputs[part.output];
      // A view that the compiler gave its source's buffer.
      if (input == output) continue;
      part.copy.Run(
          static_cast<const std::byte*>(input) +
              part.from_offset * element_bytes_,
          static_cast<std::byte*>(output) + part.to_offset * element_bytes_,
          begin, end);
    }
    return {};
  }

 private:
  int element_bytes_;
  std::vector<Part> parts_;
};

// Appends a part unless it copies nothing.
void Append(std::vector<Part>& parts, const Part& part) {
  if (part.copy.slice_count() > 0) parts.push_back(part);
}

Expected<int> BytesOf(const Request& request) {
  const std::optional<int> bytes = ElementBytes(InputOf(request, 0).dtype);
  if (!bytes.has_value()) return UnsupportedDTypes(request);
  return *bytes;
}

Expected<PreparedPtr> MakeCopies(int bytes, std::vector<Part> parts) {
  return std::make_unique<CopiesKernel>(bytes, std::move(parts));
}

// Identity, and the operators that give the same elements other dims. Their
// output is dense, so the input's dims and order serve for both sides.
Expected<PreparedPtr> PrepareIdentity(const Request& request) {
  TRY(const int bytes, BytesOf(request));
  const Operand& x = InputOf(request, 0);
  const Operand& y = OutputOf(request, 0);
  std::vector<Part> parts;
  Append(parts, {.copy = StridedCopy(bytes, x.dims, y.strides, x.strides)});
  return MakeCopies(bytes, std::move(parts));
}

Expected<PreparedPtr> PrepareReshape(const Request& request) {
  TRY(const int bytes, BytesOf(request));
  const Operand& x = InputOf(request, 0);
  const Dims to = DenseStrides(x.dims);
  std::vector<Part> parts;
  Append(parts, {.copy = StridedCopy(bytes, x.dims, to, x.strides)});
  return MakeCopies(bytes, std::move(parts));
}

Expected<PreparedPtr> PrepareTranspose(const Request& request) {
  TRY(const int bytes, BytesOf(request));
  const Operand& x = InputOf(request, 0);
  const Operand& y = OutputOf(request, 0);
  const int rank = static_cast<int>(x.dims.size());
  TRY(const std::vector<int> perm,
      ResolvePermutation(request.attributes.Ints("perm"), rank));
  Dims from;
  for (const int d : perm) from.push_back(x.strides[d]);
  std::vector<Part> parts;
  Append(parts, {.copy = StridedCopy(bytes, y.dims, y.strides, from)});
  return MakeCopies(bytes, std::move(parts));
}

Expected<PreparedPtr> PrepareExpand(const Request& request) {
  TRY(const int bytes, BytesOf(request));
  const Operand& x = InputOf(request, 0);
  const Operand& y = OutputOf(request, 0);
  const std::size_t missing = y.dims.size() - x.dims.size();
  Dims from(y.dims.size(), 0);
  for (std::size_t d = 0; d < x.dims.size(); ++d) {
    if (x.dims[d] != 1) from[missing + d] = x.strides[d];
  }
  std::vector<Part> parts;
  Append(parts, {.copy = StridedCopy(bytes, y.dims, y.strides, from)});
  return MakeCopies(bytes, std::move(parts));
}

// Each dim becomes two: which repeat, and where in the source.
Expected<PreparedPtr> PrepareTile(const Request& request) {
  TRY(const int bytes, BytesOf(request));
  const Operand& x = InputOf(request, 0);
  const Operand& y = OutputOf(request, 0);
  Dims dims, to, from;
  for (std::size_t d = 0; d < x.dims.size(); ++d) {
    const int64_t repeats = x.dims[d] == 0 ? 0 : y.dims[d] / x.dims[d];
    dims.insert(dims.end(), {repeats, x.dims[d]});
    to.insert(to.end(), {x.dims[d] * y.strides[d], y.strides[d]});
    from.insert(from.end(), {0, x.strides[d]});
  }
  std::vector<Part> parts;
  Append(parts, {.copy = StridedCopy(bytes, dims, to, from)});
  return MakeCopies(bytes, std::move(parts));
}

Expected<PreparedPtr> PrepareSlice(const Request& request) {
  TRY(const int bytes, BytesOf(request));
  const Operand& x = InputOf(request, 0);
  const Operand& y = OutputOf(request, 0);
  TRY(const std::vector<SliceAxis> axes,
      ResolveSlice(x.dims, *ListOf(request, 1), *ListOf(request, 2),
                   ListOf(request, 3), ListOf(request, 4)));
  Part part;
  Dims dims, from;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    const SliceAxis& axis = axes[d];
    dims.push_back(axis.count);
    // The step of a single element may be any number and is never taken.
    from.push_back(axis.count > 1 ? axis.step * x.strides[d] : 0);
    if (axis.count > 0) part.from_offset += axis.start * x.strides[d];
  }
  part.copy = StridedCopy(bytes, dims, y.strides, from);
  std::vector<Part> parts;
  Append(parts, part);
  return MakeCopies(bytes, std::move(parts));
}

Expected<PreparedPtr> PrepareConcat(const Request& request) {
  TRY(const int bytes, BytesOf(request));
  const Operand& y = OutputOf(request, 0);
  TRY(const int axis, NormalizeAxis(request.attributes.Int("axis", 0),
                                    static_cast<int>(y.dims.size())));
  std::vector<Part> parts;
  int64_t at = 0;
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    const Operand& x = request.inputs[i];
    Append(parts, {.input = i,
                   .to_offset = at * y.strides[axis],
                   .copy = StridedCopy(bytes, x.dims, y.strides, x.strides)});
    at += x.dims[axis];
  }
  return MakeCopies(bytes, std::move(parts));
}

Expected<PreparedPtr> PrepareSplit(const Request& request) {
  TRY(const int bytes, BytesOf(request));
  const Operand& x = InputOf(request, 0);
  TRY(const int axis, NormalizeAxis(request.attributes.Int("axis", 0),
                                    static_cast<int>(x.dims.size())));
  TRY(const Dims sizes,
      ResolveSplit(x.dims[axis], request.outputs.size(), ListOf(request, 1)));
  std::vector<Part> parts;
  int64_t at = 0;
  for (std::size_t i = 0; i < request.outputs.size(); ++i) {
    const Operand& y = request.outputs[i];
    if (y.present()) {
      Append(parts, {.output = i,
                     .from_offset = at * x.strides[axis],
                     .copy = StridedCopy(bytes, y.dims, y.strides, x.strides)});
    }
    at += sizes[i];
  }
  return MakeCopies(bytes, std::move(parts));
}

constexpr KernelRow AnyForms(Expected<PreparedPtr> (*prepare)(const Request&)) {
  return {.prepare = prepare,
          .data_form = Form::kAny,
          .other_form = Form::kAny,
          .output_form = Form::kAny};
}
constexpr KernelRow kReshapeRow = {.prepare = PrepareReshape,
                                   .data_form = Form::kAny,
                                   .other_form = Form::kAny,
                                   .output_form = Form::kDense};

}  // namespace

const KernelRow kIdentityKernel = AnyForms(PrepareIdentity);
const KernelRow kReshapeKernel = kReshapeRow;
const KernelRow kFlattenKernel = kReshapeRow;
const KernelRow kSqueezeKernel = kReshapeRow;
const KernelRow kUnsqueezeKernel = kReshapeRow;
const KernelRow kTransposeKernel = AnyForms(PrepareTranspose);
const KernelRow kExpandKernel = AnyForms(PrepareExpand);
const KernelRow kTileKernel = AnyForms(PrepareTile);
const KernelRow kSliceKernel = AnyForms(PrepareSlice);
const KernelRow kConcatKernel = AnyForms(PrepareConcat);
const KernelRow kSplitKernel = AnyForms(PrepareSplit);

}  // namespace ebb::kernels
