// LRN across channels: y = x / (bias + alpha / size * sum of squares)^beta,
// the sum over the channels around. A slice is a run of pixels of one image;
// the squares of a window are added afresh for every channel (size is about
// 5), so no error builds up along the channels.
#include <algorithm>
#include <cmath>
#include <vector>

#include "vm/kernels/portable/gemm_elements.h"
#include "vm/kernels/portable/request.h"
#include "vm/kernels/portable/rows.h"
#include "vm/kernels/portable/target.h"

namespace ebb::kernels {
namespace {

// Pixels that are worked on at a time.
constexpr int64_t kPixels = 256;

template <class T>
EBB_TARGET_CLONES void AddSquares(const T* x, int64_t count, T* sums) {
  for (int64_t i = 0; i < count; ++i) sums[i] += x[i] * x[i];
}

template <class T>
EBB_TARGET_CLONES void Divide(const T* x, const T* sums, int64_t count,
                              T factor, T bias, T beta, T* y) {
  if (beta == T{0.75}) {
    // By far the usual exponent: two square roots instead of a power.
    for (int64_t i = 0; i < count; ++i) {
      const T root = std::sqrt(bias + factor * sums[i]);
      y[i] = x[i] / (root * std::sqrt(root));
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    y[i] = x[i] / std::pow(bias + factor * sums[i], beta);
  }
}

template <class T>
class Lrn final : public Prepared {
 public:
  explicit Lrn(const Request& request)
      : dtype_(InputOf(request, 0).dtype),
        size_(request.attributes.Int("size", 1)),
        factor_(static_cast<T>(request.attributes.Float("alpha", 1e-4F)) /
                static_cast<T>(size_)),
        beta_(static_cast<T>(request.attributes.Float("beta", 0.75F))),
        bias_(static_cast<T>(request.attributes.Float("bias", 1))) {
    const DimSpan dims = InputOf(request, 0).dims;
    channels_ = dims[1];
    pixels_ = CountOf(dims.subspan(2));
    blocks_ = CeilDiv(pixels_, kPixels);
    slice_count_ = channels_ == 0 ? 0 : dims[0] * blocks_;
    cost_ = CountOf(dims) * (std::min(size_, channels_) + 8);
  }

  RunStatus Run(const RunArgs& args) const noexcept override {
    for (int64_t s = args.slice_begin; s < args.slice_end; ++s) {
      const int64_t pixel = s % blocks_ * kPixels;
      const int64_t count = std::min(kPixels, pixels_ - pixel);
      const int64_t base = s / blocks_ * channels_ * pixels_ + pixel;
      for (int64_t c = 0; c < channels_; ++c) {
        RunChannel(args, base, c, count);
      }
    }
    return {};
  }

 private:
  void RunChannel(const RunArgs& args, int64_t base, int64_t channel,
                  int64_t count) const {
    T sums[kPixels] = {};
    T row[kPixels];
    const int64_t before = (size_ - 1) / 2;
    const int64_t begin = std::max<int64_t>(channel - before, 0);
    // `size` may be anything: what is left of it, not the sum, is bounded.
    const int64_t after = std::min(size_ - 1 - before, channels_ - 1 - channel);
    for (int64_t c = begin; c <= channel + after; ++c) {
      LoadRow<T>(dtype_, args.inputs[0], base + c * pixels_, 1, count, row);
      AddSquares(row, count, sums);
    }
    LoadRow<T>(dtype_, args.inputs[0], base + channel * pixels_, 1, count, row);
    Divide(row, sums, count, factor_, bias_, beta_, row);
    StoreRow<T>(dtype_, row, count, args.outputs[0], base + channel * pixels_,
                1);
  }

  DType dtype_;
  int64_t size_;
  T factor_, beta_, bias_;
  int64_t channels_ = 0, pixels_ = 0, blocks_ = 0;
};

Expected<PreparedPtr> PrepareLrn(const Request& request) {
  const int64_t size = request.attributes.Int("size", 1);
  if (size < 1) {
    return BadRequest(request, "size " + std::to_string(size) + " is below 1");
  }
  if (InputOf(request, 0).dims.size() < 2) {
    return BadRequest(
        request, "rank " + std::to_string(InputOf(request, 0).dims.size()) +
                     ", at least 2 is needed");
  }
  PreparedPtr prepared;
  const bool taken =
      WithComputeType(InputOf(request, 0).dtype, false, [&]<class T>(T) {
        if constexpr (std::is_floating_point_v<T>) {
          prepared = std::make_unique<Lrn<T>>(request);
        }
      });
  if (!taken) return UnsupportedDTypes(request);
  return prepared;
}

}  // namespace

const KernelRow kLrnKernel = {.prepare = PrepareLrn};

}  // namespace ebb::kernels
