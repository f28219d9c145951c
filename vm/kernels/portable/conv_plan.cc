#include "vm/kernels/portable/conv_plan.h"

#include <algorithm>
#include <map>

#include "vm/kernels/portable/request.h"

namespace ebb::kernels {
namespace {

// Places of a tile, depth of a block, and bytes of the three parts of scratch:
// they fit the second cache together.
constexpr int64_t kPlaces = 512;
constexpr int64_t kThinPlaces = 1024;
constexpr int64_t kDepth = 320;
constexpr int64_t kSlabBytes = 256 << 10;
constexpr int64_t kABytes = 192 << 10;
constexpr int64_t kSumBytes = 320 << 10;
// Up to this many output channels per group copying input costs more than
// the arithmetic.
constexpr int64_t kThinChannels = 4;
// Multiply-adds below which one slice is enough.
constexpr int64_t kSharedCost = 1 << 18;

int64_t RoundUp(int64_t value, int64_t multiple) {
  return CeilDiv(value, multiple) * multiple;
}

// About equal blocks of at most `limit`.
int64_t Balanced(int64_t extent, int64_t limit) {
  extent = std::max<int64_t>(extent, 1);
  return CeilDiv(extent, CeilDiv(extent, std::max<int64_t>(limit, 1)));
}

int64_t FloorMod(int64_t a, int64_t b) { return ((a % b) + b) % b; }

ConvPlanes PlanPlanes(const ConvPhase& phase, std::size_t axis, int64_t step,
                      bool shared) {
  // Lowest offset of every plane, by what its taps have in common.
  std::map<int64_t, int64_t> lowest;
  const auto key = [&](int64_t offset) {
    return shared ? FloorMod(offset, step) : offset;
  };
  for (const ConvTap& tap : phase.taps) {
    const int64_t offset = tap.offset[axis];
    const auto [at, added] = lowest.try_emplace(key(offset), offset);
    if (!added) at->second = std::min(at->second, offset);
  }
  ConvPlanes planes;
  std::map<int64_t, std::size_t> index;
  for (const auto& [k, start] : lowest) {
    index[k] = planes.starts.size();
    planes.starts.push_back(start);
  }
  for (const ConvTap& tap : phase.taps) {
    const std::size_t plane = index[key(tap.offset[axis])];
    planes.plane.push_back(plane);
    planes.shift.push_back((tap.offset[axis] - planes.starts[plane]) / step);
    planes.halo = std::max(planes.halo, planes.shift.back());
  }
  return planes;
}

// Sharing planes along x makes rows wider by the halo, which costs arithmetic;
// not sharing copies the input once per tap.
ConvPlanes PlanColumns(const ConvProblem& problem, const ConvPhase& phase) {
  ConvPlanes shared = PlanPlanes(phase, 2, problem.input_step[2], true);
  const int64_t columns = std::min(phase.count[2], kPlaces);
  const bool thin = problem.out_channels <= kThinChannels;
  if (shared.halo <= columns / 4 || (thin && shared.halo <= columns)) {
    return shared;
  }
  return PlanPlanes(phase, 2, problem.input_step[2], false);
}

// Along y only the copy counts.
ConvPlanes PlanRows(const ConvProblem& problem, const ConvPhase& phase,
                    int64_t rows) {
  ConvPlanes shared = PlanPlanes(phase, 1, problem.input_step[1], true);
  ConvPlanes apart = PlanPlanes(phase, 1, problem.input_step[1], false);
  const auto copied = [rows](const ConvPlanes& planes) {
    return static_cast<int64_t>(planes.starts.size()) * (rows + planes.halo);
  };
  return copied(shared) <= copied(apart) ? shared : apart;
}

// Cuts the places of a phase into tiles, and output channels into parts where
// the tiles are too few for the workers.
template <class T>
void PlanTiles(const ConvProblem& problem, const ConvPhase& phase,
               ConvPlan<T>& plan) {
  const bool thin = problem.out_channels <= kThinChannels;
  const int64_t places = thin ? kThinPlaces : kPlaces;
  const int64_t width = phase.count[2];
  plan.columns =
      Balanced(width, std::max(places - plan.planes[2].halo, places / 4));
  if (width + plan.planes[2].halo <= places * 3 / 2) plan.columns = width;
  plan.column_tiles = CeilDiv(width, plan.columns);
  plan.pitch = plan.columns + plan.planes[2].halo;
  plan.rows =
      plan.column_tiles > 1 ? 1 : Balanced(phase.count[1], places / plan.pitch);
  plan.uncut_rows = plan.rows;
  const int64_t outer = problem.batch * problem.groups * phase.count[0];
  plan.m_part = problem.out_channels;
  if (problem.threads > 1 && problem.Cost() >= kSharedCost) {
    const int64_t wanted = 2 * problem.threads;
    const auto tiles = [&] {
      return outer * plan.column_tiles * CeilDiv(phase.count[1], plan.rows);
    };
    while (tiles() < wanted && plan.rows > 1 &&
           plan.rows / 2 * plan.pitch >= 96) {
      plan.rows = CeilDiv(plan.rows, 2);
    }
    if (tiles() < wanted && problem.out_channels >= 32) {
      const int64_t parts = CeilDiv(wanted, tiles());
      plan.m_part = std::max<int64_t>(
          16, RoundUp(CeilDiv(problem.out_channels, parts), 8));
    }
  }
  plan.row_tiles = CeilDiv(phase.count[1], plan.rows);
  plan.m_parts = CeilDiv(problem.out_channels, plan.m_part);
  plan.slices = outer * plan.m_parts * plan.row_tiles * plan.column_tiles;
}

template <class T>
void PlanBlocks(const ConvProblem& problem, const ConvPhase& phase,
                ConvPlan<T>& plan) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  constexpr int64_t kLine = 64 / kBytes;
  const auto taps = static_cast<int64_t>(phase.taps.size());
  const int64_t visible = plan.rows * plan.pitch;
  plan.kernel = &ChooseMicroKernel<T>(plan.m_part, visible);
  plan.places = RoundUp(visible, plan.kernel->columns);
  plan.slab_rows = plan.rows + plan.planes[1].halo;
  plan.plane_elements = plan.slab_rows * plan.pitch;
  plan.channel_elements = plan.plane_elements;
  for (const ConvPlanes& planes : plan.planes) {
    plan.channel_elements *= static_cast<int64_t>(planes.starts.size());
  }
  // Blocks of channels group the sums, so they are those of tiles that are not
  // cut for workers: results do not depend on the number of threads.
  const ConvPlanes uncut = PlanRows(problem, phase, plan.uncut_rows);
  const auto uncut_elements =
      static_cast<int64_t>(plan.planes[0].starts.size() * uncut.starts.size() *
                           plan.planes[2].starts.size()) *
      (plan.uncut_rows + uncut.halo) * plan.pitch;
  const int64_t slab_limit =
      kSlabBytes / kBytes / std::max<int64_t>(uncut_elements, 1);
  const int64_t depth_limit = kDepth / std::max<int64_t>(taps, 1);
  plan.channels =
      Balanced(problem.in_channels, std::min(slab_limit, depth_limit));
  const int64_t depth = std::max<int64_t>(plan.channels * taps, 1);
  const int64_t m_limit =
      std::min(kABytes / kBytes / depth, kSumBytes / kBytes / plan.places);
  plan.m_block = RoundUp(Balanced(plan.m_part, std::max<int64_t>(m_limit, 1)),
                         plan.kernel->rows);
  // Rounded up past the limit where one fewer panel does as well.
  if (plan.m_block > m_limit && plan.m_block > plan.kernel->rows &&
      plan.m_block < plan.m_part) {
    plan.m_block -= plan.kernel->rows;
  }
  // The last row of the last plane is read past its end by the shift and by
  // what pads the places to whole vectors.
  plan.slab_elements = RoundUp(plan.channels * plan.channel_elements +
                                   plan.planes[2].halo + plan.kernel->columns,
                               kLine);
  plan.a_elements = RoundUp(plan.m_block * depth, kLine);
  plan.sum_elements = RoundUp(plan.m_block * plan.places, kLine);
}

template <class T>
void PlanOffsets(const ConvProblem& problem, const ConvPhase& phase,
                 ConvPlan<T>& plan) {
  const std::size_t taps = phase.taps.size();
  const auto& [z, y, x] = plan.planes;
  plan.weights_in_order = problem.weight_in == static_cast<int64_t>(taps);
  for (std::size_t t = 0; t < taps; ++t) {
    plan.weight_offsets.push_back(phase.taps[t].weight);
    if (phase.taps[t].weight != static_cast<int64_t>(t)) {
      plan.weights_in_order = false;
    }
  }
  plan.offsets.reserve(plan.channels * taps);
  for (int64_t c = 0; c < plan.channels; ++c) {
    for (std::size_t t = 0; t < taps; ++t) {
      const std::size_t plane =
          (z.plane[t] * y.starts.size() + y.plane[t]) * x.starts.size() +
          x.plane[t];
      plan.offsets.push_back(c * plan.channel_elements +
                             static_cast<int64_t>(plane) * plan.plane_elements +
                             y.shift[t] * plan.pitch + x.shift[t]);
    }
  }
}

}  // namespace

template <class T>
ConvPlan<T> PlanConvPhase(const ConvProblem& problem, const ConvPhase& phase) {
  ConvPlan<T> plan;
  plan.planes[0] = PlanPlanes(phase, 0, problem.input_step[0], false);
  plan.planes[2] = PlanColumns(problem, phase);
  PlanTiles(problem, phase, plan);
  plan.planes[1] = PlanRows(problem, phase, plan.rows);
  PlanBlocks(problem, phase, plan);
  PlanOffsets(problem, phase, plan);
  return plan;
}

template ConvPlan<float> PlanConvPhase<float>(const ConvProblem&,
                                              const ConvPhase&);
template ConvPlan<double> PlanConvPhase<double>(const ConvProblem&,
                                                const ConvPhase&);

}  // namespace ebb::kernels
