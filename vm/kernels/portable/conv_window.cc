// The general convolution: tiles through a padded slab (conv_plan.h).
#include <algorithm>
#include <utility>

#include "vm/kernels/portable/conv_plan.h"
#include "vm/kernels/portable/conv_slab.h"
#include "vm/kernels/portable/gemm.h"
#include "vm/kernels/portable/gemm_constant.h"
#include "vm/kernels/portable/gemm_elements.h"
#include "vm/kernels/portable/request.h"

namespace ebb::kernels {
namespace {

// What the panels of weights in scratch are, so that neighbouring tiles do not
// pack them again.
struct PackedWeights {
  std::size_t phase = ~std::size_t{0};
  int64_t group = 0, m = 0, channel = 0;
  friend bool operator==(const PackedWeights&, const PackedWeights&) = default;
};

template <class T>
class ConvWindow final : public Prepared {
 public:
  ConvWindow(const Request& request, ConvProblem problem)
      : problem_(std::move(problem)), weights_(InputOf(request, 1)) {
    cost_ = problem_.Cost();
    slice_count_ = 0;
    int64_t elements = 0;
    for (const ConvPhase& phase : problem_.phases) {
      const int64_t count = problem_.batch * problem_.groups *
                            problem_.out_channels * phase.count[0] *
                            phase.count[1] * phase.count[2];
      if (count == 0) {
        plans_.emplace_back();
      } else {
        plans_.push_back(PlanConvPhase<T>(problem_, phase));
        elements = std::max(elements, plans_.back().scratch_elements());
      }
      slice_count_ += plans_.back().slices;
    }
    worker_bytes_ = elements * static_cast<int64_t>(sizeof(T));
    scratch_bytes_ = worker_bytes_ * problem_.threads;
  }

  RunStatus Run(const RunArgs& args) const noexcept override {
    PackedWeights packed;
    int64_t first = 0;
    for (std::size_t p = 0; p < plans_.size(); ++p) {
      const int64_t begin = std::max(args.slice_begin - first, int64_t{0});
      const int64_t end = std::min(args.slice_end - first, plans_[p].slices);
      for (int64_t s = begin; s < end; ++s) RunSlice(args, p, s, packed);
      first += plans_[p].slices;
    }
    return {};
  }

 private:
  ConvTile TileOf(const ConvPhase& phase, const ConvPlan<T>& plan,
                  int64_t slice) const {
    const auto digit = [&slice](int64_t base) {
      const int64_t value = slice % base;
      slice /= base;
      return value;
    };
    ConvTile tile;
    tile.x = digit(plan.column_tiles) * plan.columns;
    tile.y = digit(plan.row_tiles) * plan.rows;
    tile.z = digit(phase.count[0]);
    tile.m_begin = digit(plan.m_parts) * plan.m_part;
    tile.group = digit(problem_.groups);
    tile.batch = slice;
    tile.columns = std::min(plan.columns, phase.count[2] - tile.x);
    tile.rows = std::min(plan.rows, phase.count[1] - tile.y);
    tile.m_end = std::min(tile.m_begin + plan.m_part, problem_.out_channels);
    return tile;
  }

  void RunSlice(const RunArgs& args, std::size_t phase_index, int64_t slice,
                PackedWeights& packed) const {
    const ConvPhase& phase = problem_.phases[phase_index];
    const ConvPlan<T>& plan = plans_[phase_index];
    const ConvTile tile = TileOf(phase, plan, slice);
    T* slab = reinterpret_cast<T*>(args.scratch + args.worker * worker_bytes_);
    T* panels = slab + plan.slab_elements;
    T* sums = panels + plan.a_elements;
    const auto taps = static_cast<int64_t>(phase.taps.size());
    const void* bias = problem_.has_bias ? args.inputs[2] : nullptr;
    int64_t in_slab = -1;
    for (int64_t m = tile.m_begin; m < tile.m_end; m += plan.m_block) {
      const int64_t m_count = std::min(plan.m_block, tile.m_end - m);
      // One turn even without channels: the sums are zero then.
      for (int64_t c = 0; c == 0 || c < problem_.in_channels;
           c += plan.channels) {
        const int64_t count = std::min(plan.channels, problem_.in_channels - c);
        if (in_slab != c && count > 0) {
          FillSlab<T>(problem_, plan, tile, c, count, args.inputs[0], slab);
          in_slab = c;
        }
        const PackedWeights wanted{phase_index, tile.group, m, c};
        const T* a = Weights(args, phase, plan, wanted, m_count, count,
                             wanted == packed, panels);
        packed = wanted;
        Multiply(plan, a, slab, m_count, count * taps, tile.rows * plan.pitch,
                 c > 0, sums);
      }
      StoreSums<T>(problem_, phase, plan, tile, m, m_count, bias, sums,
                   args.outputs[0]);
    }
  }

  // Panels of the weights of `m_count` output and `count` input channels.
  const T* Weights(const RunArgs& args, const ConvPhase& phase,
                   const ConvPlan<T>& plan, const PackedWeights& block,
                   int64_t m_count, int64_t count, bool packed,
                   T* panels) const {
    const void* data = weights_.Data(args.inputs[1]);
    const int64_t offset = block.group * problem_.weight_group +
                           block.m * problem_.weight_out +
                           block.channel * problem_.weight_in;
    const int64_t depth = count * static_cast<int64_t>(phase.taps.size());
    const int64_t width = plan.kernel->rows;
    if (plan.weights_in_order && width == 1 && m_count == 1 &&
        !IsHalf(problem_.dtype)) {
      return static_cast<const T*>(data) + offset;
    }
    if (packed) return panels;
    if (plan.weights_in_order) {
      PackPanels<T>(problem_.dtype, data, offset, problem_.weight_out, 1,
                    m_count, depth, width, panels);
      return panels;
    }
    T* to = panels;
    for (int64_t m = 0; m < m_count; m += width) {
      const int64_t lanes = std::min(width, m_count - m);
      for (int64_t c = 0; c < count; ++c) {
        for (const int64_t tap : plan.weight_offsets) {
          LoadRow<T>(
              problem_.dtype, data,
              offset + m * problem_.weight_out + c * problem_.weight_in + tap,
              problem_.weight_out, lanes, to);
          for (int64_t i = lanes; i < width; ++i) to[i] = T{0};
          to += width;
        }
      }
    }
    return panels;
  }

  static void Multiply(const ConvPlan<T>& plan, const T* a, const T* slab,
                       int64_t m_count, int64_t depth, int64_t places,
                       bool accumulate, T* sums) {
    const MicroKernel<T>& kernel = *plan.kernel;
    for (int64_t j = 0; j < places; j += kernel.columns) {
      for (int64_t i = 0; i < m_count; i += kernel.rows) {
        kernel.run(depth, a + i * depth, slab + j, plan.offsets.data(),
                   sums + i * plan.places + j, plan.places, accumulate);
      }
    }
  }

  ConvProblem problem_;
  DenseConstant weights_;
  std::vector<ConvPlan<T>> plans_;  // One per phase.
  int64_t worker_bytes_ = 0;
};

}  // namespace

Expected<PreparedPtr> PrepareConvWindow(const Request& request,
                                        ConvProblem problem) {
  PreparedPtr prepared;
  const bool taken = WithComputeType(problem.dtype, false, [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T>) {
      prepared = std::make_unique<ConvWindow<T>>(request, std::move(problem));
    }
  });
  if (!taken) return UnsupportedDTypes(request);
  return prepared;
}

}  // namespace ebb::kernels
