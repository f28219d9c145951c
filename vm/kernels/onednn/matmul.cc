// MatMul and Gemm by oneDNN: one 2-D primitive per shape of a slice, run for
// every batch element. Operands that the portable kernel is faster with (few
// rows times a plain matrix, tiny or narrow matrices) are left to it.
//
// The library's good kernels want every matrix without gaps. Slices by rows
// are; slices by columns (few rows, shared by workers) are computed dense in
// scratch and copied.
#include <algorithm>
#include <array>
#include <utility>

#include "vm/kernels/onednn/library.h"
#include "vm/kernels/onednn/products.h"
#include "vm/kernels/packing.h"
#include "vm/kernels/portable/gemm_product.h"
#include "vm/kernels/portable/request.h"

namespace ebb::kernels::onednn {
namespace {

// Columns of a packed panel: slices along n start at multiples of it.
constexpr int64_t kPanel = 64;
// Below this a call costs more than the product.
constexpr int64_t kLeastWork = 1 << 15;
constexpr int64_t kSharedCost = 1 << 18;
// Rows per worker from which they, not columns, are shared out.
constexpr int64_t kRowsToShare = 32;
// Rows from which a plain matrix B is worth oneDNN's copying it.
constexpr int64_t kLeastPlainRows = 49;

std::unexpected<Error> LeaveToPortable() {
  return Fail(ErrorCode::kUnsupported, "onednn: better done by own code");
}

// The packing of B as the library sees it, k x n: Gemm's constant may stand
// the other way round.
Packing Transposed(Packing packing) {
  for (int32_t& dim : packing.outer_order) dim = 1 - dim;
  for (Packing::Block& block : packing.blocks) block.dim = 1 - block.dim;
  return packing;
}

bool IsTransposedB(const Request& request) {
  return request.info.code == OperatorCode::kGemm &&
         request.attributes.Int("transB", 0) != 0;
}

bool HasBias(const Product& product) {
  return product.c.has_value() && product.beta == 1 &&
         product.c->row_stride == 0 && product.c->column_stride == 1;
}

Expected<Owned<dnnl_primitive_desc>> DescribeProduct(dnnl_engine* engine,
                                                     const MemoryDesc& a,
                                                     const MemoryDesc& b,
                                                     const MemoryDesc* bias,
                                                     const MemoryDesc& c) {
  dnnl_matmul_desc_t operation;
  RETURN_IF_ERROR(
      Check(dnnl_matmul_desc_init(&operation, &a, &b, bias, &c), "matmul"));
  return Describe(engine, &operation);
}

class MatMul final : public Prepared {
 public:
  static Expected<PreparedPtr> Make(const Request& request, Product product) {
    auto made = std::make_unique<MatMul>(std::move(product));
    RETURN_IF_ERROR(made->Init(request));
    return PreparedPtr(std::move(made));
  }

  explicit MatMul(Product product) : product_(std::move(product)) {}

  RunStatus Run(const RunArgs& args) const noexcept override {
    const SingleThread single;
    std::byte* scratch = args.scratch + args.worker * worker_bytes_;
    for (int64_t s = args.slice_begin; s < args.slice_end; ++s) {
      const int64_t column = s % n_slices_;
      const int64_t row = s / n_slices_ % m_slices_;
      const int64_t batch = s / n_slices_ / m_slices_;
      const RunStatus status =
          RunSlice(args, batch, row * m_slice_, column * n_slice_, scratch);
      if (!status.ok()) return status;
    }
    return {};
  }

 private:
  Status Init(const Request& request) {
    const Operand& b = InputOf(request, product_.b.input);
    if (b.constant_data != nullptr && b.packing != nullptr) {
      packing_ = IsTransposedB(request) ? Transposed(*b.packing) : *b.packing;
      for (const Packing::Block& block : packing_->blocks) {
        if (block.dim == 1) n_block_ *= block.size;
      }
      n_block_stride_ = PackedDesc(*packing_, {{product_.k, product_.n}})
                            .format_desc.blocking.strides[1];
    }
    for (const int64_t dim : product_.batch) batch_count_ *= dim;
    cost_ = batch_count_ * product_.m * product_.n * product_.k;
    RETURN_IF_ERROR(CheckOperands());
    CutSlices();
    const SingleThread single;
    TRY(engine_, MakeEngine());
    for (const bool rest_m : {false, true}) {
      for (const bool rest_n : {false, true}) {
        const int64_t m = rest_m ? product_.m % m_slice_ : m_slice_;
        const int64_t n = rest_n ? product_.n % n_slice_ : n_slice_;
        if (m == 0 || n == 0) continue;
        TRY(Step step, MakeStep(m, n));
        worker_bytes_ = std::max(worker_bytes_, step.scratch_bytes());
        steps_[IndexOf(rest_m, rest_n)] = std::move(step);
      }
    }
    // Never empty: the library takes no null pointer.
    worker_bytes_ = std::max<int64_t>(worker_bytes_, 64);
    if (bounces_) {
      step_bytes_ = worker_bytes_;
      worker_bytes_ += CeilDiv(m_slice_ * n_slice_ * 4, 64) * 64;
    }
    scratch_bytes_ = worker_bytes_ * product_.threads;
    slice_count_ = batch_count_ * m_slices_ * n_slices_;
    return {};
  }

  Status CheckOperands() const {
    const Product& p = product_;
    const int64_t work = p.m * p.n * p.k;
    if (p.dtype != DType::kF32 || batch_count_ == 0 || work == 0 ||
        p.alpha != 1 || (p.c.has_value() && !HasBias(p)) ||
        p.a.column_stride != 1 || (p.m > 1 && p.a.row_stride != p.k)) {
      return LeaveToPortable();
    }
    if (packing_.has_value()) return {};
    if (work < kLeastWork) return LeaveToPortable();
    const bool by_rows = p.b.column_stride == 1 && p.b.row_stride == p.n;
    const bool by_columns = p.b.row_stride == 1 && p.b.column_stride == p.k;
    if ((!by_rows && !by_columns) || p.m < kLeastPlainRows || p.n < 16 ||
        p.k < 16) {
      return LeaveToPortable();
    }
    return {};
  }

  void CutSlices() {
    m_slice_ = product_.m;
    n_slice_ = product_.n;
    const int64_t wanted = CeilDiv(2 * product_.threads, batch_count_);
    if (product_.threads > 1 && wanted > 1 &&
        product_.m * product_.n * product_.k >= kSharedCost) {
      const bool rows = product_.m > product_.n ||
                        product_.m >= kRowsToShare * product_.threads;
      int64_t& slice = rows ? m_slice_ : n_slice_;
      const int64_t grain = rows ? 16 : kPanel;
      slice = std::min(slice, CeilDiv(CeilDiv(slice, wanted), grain) * grain);
      bounces_ = product_.m > 1 && n_slice_ < product_.n;
    }
    m_slices_ = CeilDiv(product_.m, m_slice_);
    n_slices_ = CeilDiv(product_.n, n_slice_);
  }

  // Columns [0, n) of B; others start at an offset.
  MemoryDesc DescOfB(int64_t n) const {
    if (!packing_.has_value()) {
      return StridedDesc({{product_.k, n}},
                         {{product_.b.row_stride, product_.b.column_stride}});
    }
    MemoryDesc desc = PackedDesc(*packing_, {{product_.k, product_.n}});
    desc.dims[1] = n;
    desc.padded_dims[1] = CeilDiv(n, n_block_) * n_block_;
    return desc;
  }

  int64_t OffsetInB(int64_t n) const {
    return packing_.has_value() ? n / n_block_ * n_block_stride_
                                : n * product_.b.column_stride;
  }

  Expected<Step> MakeStep(int64_t m, int64_t n) const {
    const MemoryDesc a = StridedDesc(
        {{m, product_.k}}, {{m == 1 ? product_.k : product_.a.row_stride, 1}});
    const MemoryDesc b = DescOfB(n);
    const MemoryDesc bias = StridedDesc({{1, n}}, {{n, 1}});
    const MemoryDesc c = StridedDesc({{m, n}}, {{n, 1}});
    if (packing_.has_value() && kPanel % n_block_ != 0) {
      return LeaveToPortable();
    }
    const bool has_bias = product_.c.has_value();
    TRY(const Owned<dnnl_primitive_desc> description,
        DescribeProduct(engine_.get(), a, b, has_bias ? &bias : nullptr, c));
    std::vector<Step::Argument> arguments = {
        {DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}};
    if (has_bias) arguments.push_back({DNNL_ARG_BIAS, bias});
    return Step::Make(engine_.get(), description.get(), arguments,
                      product_.threads);
  }

  static std::size_t IndexOf(bool rest_m, bool rest_n) {
    return (rest_m ? 2U : 0U) + (rest_n ? 1U : 0U);
  }

  RunStatus RunSlice(const RunArgs& args, int64_t batch, int64_t m, int64_t n,
                     std::byte* scratch) const {
    const auto input = [&](const ProductOperand& operand, int64_t offset) {
      // The library's arguments are not const; inputs are only read.
      return const_cast<float*>(
          static_cast<const float*>(args.inputs[operand.input]) +
          BatchOffset(product_, operand, batch) + offset);
    };
    float* out = static_cast<float*>(args.outputs[0]) +
                 (batch * product_.m + m) * product_.n + n;
    std::array<void*, 4> data = {
        input(product_.a, m * product_.a.row_stride),
        input(product_.b, OffsetInB(n)),
        bounces_ ? reinterpret_cast<float*>(scratch + step_bytes_) : out,
        nullptr};
    std::size_t count = 3;
    if (product_.c.has_value()) {
      data[count++] = const_cast<float*>(
          static_cast<const float*>(args.inputs[product_.c->input]) + n);
    }
    const std::optional<Step>& step =
        steps_[IndexOf(m + m_slice_ > product_.m, n + n_slice_ > product_.n)];
    const RunStatus status = step->Run(
        args.worker, std::span<void* const>(data.data(), count), scratch);
    if (!bounces_ || !status.ok()) return status;
    const auto* row = static_cast<const float*>(data[2]);
    const int64_t columns = std::min(n_slice_, product_.n - n);
    for (int64_t i = 0; i < product_.m; ++i) {
      std::copy(row, row + columns, out + i * product_.n);
      row += columns;
    }
    return status;
  }

  Product product_;
  std::optional<Packing> packing_;  // Of B as k x n.
  int64_t n_block_ = 1;             // Columns of its panels,
  int64_t n_block_stride_ = 1;      // and how far apart they are.
  int64_t batch_count_ = 1;
  int64_t m_slice_ = 0, n_slice_ = 0;
  int64_t m_slices_ = 1, n_slices_ = 1;
  bool bounces_ = false;
  int64_t step_bytes_ = 0;  // Where the bounced slice begins.
  int64_t worker_bytes_ = 0;
  Owned<dnnl_engine> engine_;
  // Whole slices and what is left at the ends, by IndexOf.
  std::array<std::optional<Step>, 4> steps_;
};

Expected<Product> ProductOf(const Request& request) {
  return request.info.code == OperatorCode::kGemm ? GemmProduct(request)
                                                  : MatMulProduct(request);
}

Expected<PreparedPtr> PrepareProduct(const Request& request) {
  TRY(Product product, ProductOf(request));
  MergeBatchIntoRows(product);
  return MatMul::Make(request, std::move(product));
}

}  // namespace

Expected<PreparedPtr> PrepareMatMul(const Request& request) {
  return PrepareProduct(request);
}

Expected<PreparedPtr> PrepareGemm(const Request& request) {
  return PrepareProduct(request);
}

std::optional<Packing> WantedMatrixPacking(const Request& request) {
  const Operand& b = request.inputs[1];
  if (b.dims.size() != 2) return std::nullopt;
  const Expected<Product> product = ProductOf(request);
  if (!product.has_value()) return std::nullopt;
  const int64_t k = product->k;
  const int64_t n = product->n;
  if (k <= 0 || n <= 0 || product->alpha != 1 ||
      product->a.column_stride != 1 ||
      (product->c.has_value() && !HasBias(*product))) {
    return std::nullopt;
  }
  // The form does not depend on the rows of A.
  const int64_t m = 64;
  const SingleThread single;
  const Expected<Owned<dnnl_engine>> engine = MakeEngine();
  if (!engine.has_value()) return std::nullopt;
  const auto description = DescribeProduct(
      engine->get(), StridedDesc({{m, k}}, {{k, 1}}), AnyDesc({{k, n}}),
      nullptr, StridedDesc({{m, n}}, {{n, 1}}));
  if (!description.has_value()) return std::nullopt;
  std::optional<Packing> packing =
      PackingOf(QueryDesc(description->get(), dnnl_query_weights_md));
  if (!packing.has_value() || packing->blocks.empty()) return std::nullopt;
  // A narrow matrix would mostly be padding.
  const std::optional<int64_t> bytes = PackedBytes(*packing, {{k, n}}, 4);
  if (!bytes.has_value() || *bytes > 6 * k * n) return std::nullopt;
  return IsTransposedB(request) ? Transposed(*std::move(packing)) : packing;
}

}  // namespace ebb::kernels::onednn
