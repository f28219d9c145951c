#include "vm/kernels/portable/gemm_product.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "vm/kernels/portable/gemm.h"
#include "vm/kernels/portable/gemm_elements.h"
#include "vm/kernels/portable/request.h"
#include "vm/kernels/portable/scalar.h"

namespace ebb::kernels {
namespace {

// Less than this is not worth sharing among workers.
constexpr int64_t kSharedCost = 1 << 18;

// Where the blocks of one run go; lives on the stack of that run.
template <class T>
struct Epilogue {
  const Product* product;
  const void* c;
  void* out;  // Of this batch.
  int64_t out_offset;
  bool whole_factors;  // Integers: alpha and beta are whole numbers.
};

// x = alpha * x + beta * c, both of the compute type.
template <class T>
void Scale(const Epilogue<T>& e, T* row, const T* c, int64_t count) {
  const Product& product = *e.product;
  if constexpr (std::is_floating_point_v<T>) {
    const T alpha = static_cast<T>(product.alpha);
    const T beta = static_cast<T>(product.beta);
    if (c == nullptr) {
      for (int64_t j = 0; j < count; ++j) row[j] *= alpha;
    } else {
      for (int64_t j = 0; j < count; ++j) {
        row[j] = alpha * row[j] + beta * c[j];
      }
    }
  } else if (e.whole_factors) {
    const T alpha = static_cast<T>(static_cast<int64_t>(product.alpha));
    const T beta = static_cast<T>(static_cast<int64_t>(product.beta));
    for (int64_t j = 0; j < count; ++j) {
      row[j] = alpha * row[j] + (c == nullptr ? T{0} : beta * c[j]);
    }
  } else {
    using Signed = std::make_signed_t<T>;
    const bool is_signed = IsSignedInteger(product.dtype);
    const auto wide = [is_signed](T x) {
      return is_signed ? static_cast<double>(static_cast<Signed>(x))
                       : static_cast<double>(x);
    };
    for (int64_t j = 0; j < count; ++j) {
      const double value = product.alpha * wide(row[j]) +
                           (c == nullptr ? 0 : product.beta * wide(c[j]));
      row[j] = is_signed ? static_cast<T>(FloatToInt<Signed>(value))
                         : FloatToInt<T>(value);
    }
  }
}

template <class T>
void FinishBlock(const void* context, T* block, int64_t stride, int64_t m,
                 int64_t rows, int64_t n, int64_t columns) {
  const auto& e = *static_cast<const Epilogue<T>*>(context);
  const Product& product = *e.product;
  const bool scaled = product.alpha != 1 || product.c.has_value();
  constexpr int64_t kChunk = 512;
  T c[kChunk];
  for (int64_t i = 0; i < rows; ++i) {
    T* row = block + i * stride;
    for (int64_t j = 0; scaled && j < columns; j += kChunk) {
      const int64_t count = std::min(kChunk, columns - j);
      if (product.c.has_value()) {
        LoadRow<T>(product.dtype, e.c,
                   (m + i) * product.c->row_stride +
                       (n + j) * product.c->column_stride,
                   product.c->column_stride, count, c);
      }
      Scale(e, row + j, product.c.has_value() ? c : nullptr, count);
    }
    if (IsHalf(product.dtype)) {
      StoreRow<T>(product.dtype, row, columns, e.out,
                  e.out_offset + (m + i) * product.n + n, 1);
    }
  }
}

template <class T>
class ProductPrepared final : public Prepared {
 public:
  ProductPrepared(const Request& request, Product product)
      : product_(std::move(product)),
        a_(InputOf(request, product_.a.input)),
        b_(InputOf(request, product_.b.input)),
        plan_(Settings(1, 1)) {
    for (const int64_t dim : product_.batch) batch_count_ *= dim;
    const int64_t per_batch = product_.m * product_.n * product_.k;
    cost_ = std::max(batch_count_ * per_batch,
                     batch_count_ * product_.m * product_.n);
    if (batch_count_ == 0 || product_.m == 0 || product_.n == 0) {
      slice_count_ = 0;
      return;
    }
    CutSlices(per_batch);
    slice_count_ = batch_count_ * m_slices_ * n_slices_;
    scratch_bytes_ = plan_.scratch_bytes() * product_.threads;
    const auto whole = [](double x) {
      return x == std::trunc(x) && std::fabs(x) < 0x1p62;
    };
    whole_factors_ = whole(product_.alpha) && whole(product_.beta);
  }

  RunStatus Run(const RunArgs& args) const noexcept override {
    std::byte* scratch = args.scratch + args.worker * plan_.scratch_bytes();
    for (int64_t s = args.slice_begin; s < args.slice_end; ++s) {
      RunSlice(args, s, scratch);
    }
    return {};
  }

 private:
  GemmSettings Settings(int64_t m, int64_t n) const {
    return {.m = m,
            .n = n,
            .k = product_.k,
            .a_dtype = product_.dtype,
            .b_dtype = product_.dtype,
            .b = {nullptr, product_.b.row_stride, product_.b.column_stride},
            .tile_output = IsHalf(product_.dtype),
            .whole_m = product_.m};
  }

  void CutSlices(int64_t per_batch) {
    m_slice_ = product_.m;
    n_slice_ = product_.n;
    const int64_t wanted = CeilDiv(2 * product_.threads, batch_count_);
    plan_ = GemmPlan<T>(Settings(m_slice_, n_slice_));
    if (product_.threads == 1 || wanted == 1 || per_batch < kSharedCost) return;
    // The longer side is cut; the other operand is packed once per slice.
    const bool rows = product_.m > product_.n;
    const int64_t extent = rows ? product_.m : product_.n;
    const int64_t grain = rows ? plan_.row_grain() : plan_.column_grain();
    const int64_t size = CeilDiv(CeilDiv(extent, wanted), grain) * grain;
    (rows ? m_slice_ : n_slice_) = std::min(size, extent);
    m_slices_ = CeilDiv(product_.m, m_slice_);
    n_slices_ = CeilDiv(product_.n, n_slice_);
    plan_ = GemmPlan<T>(Settings(m_slice_, n_slice_));
  }

  MatrixView View(const ProductOperand& operand, const DenseConstant& constant,
                  const RunArgs& args, int64_t batch) const {
    const auto bytes = static_cast<int64_t>(DTypeBits(product_.dtype) / 8);
    const void* data = constant.Data(args.inputs[operand.input]);
    return {static_cast<const std::byte*>(data) +
                BatchOffset(product_, operand, batch) * bytes,
            operand.row_stride, operand.column_stride};
  }

  void RunSlice(const RunArgs& args, int64_t slice, std::byte* scratch) const {
    const int64_t column = slice % n_slices_;
    const int64_t row = slice / n_slices_ % m_slices_;
    const int64_t batch = slice / n_slices_ / m_slices_;
    const int64_t out_offset = batch * product_.m * product_.n;
    const bool half = IsHalf(product_.dtype);
    const Epilogue<T> epilogue{
        .product = &product_,
        .c = product_.c.has_value() ? args.inputs[product_.c->input] : nullptr,
        .out = args.outputs[0],
        .out_offset = out_offset,
        .whole_factors = whole_factors_};
    GemmSlice<T> work{
        .a = View(product_.a, a_, args, batch),
        .b = View(product_.b, b_, args, batch),
        .m_begin = row * m_slice_,
        .m_end = std::min((row + 1) * m_slice_, product_.m),
        .n_begin = column * n_slice_,
        .n_end = std::min((column + 1) * n_slice_, product_.n),
        .c = half ? nullptr : static_cast<T*>(args.outputs[0]) + out_offset,
        .c_stride = product_.n,
        .finish = {}};
    if (half || product_.alpha != 1 || product_.c.has_value()) {
      work.finish = {.run = FinishBlock<T>, .context = &epilogue};
    }
    plan_.Run(work, scratch);
  }

  Product product_;
  DenseConstant a_, b_;
  GemmPlan<T> plan_;
  int64_t batch_count_ = 1;
  int64_t m_slice_ = 0, n_slice_ = 0;
  int64_t m_slices_ = 1, n_slices_ = 1;
  bool whole_factors_ = true;
};

}  // namespace

void MergeBatchIntoRows(Product& product) {
  while (!product.batch.empty()) {
    const int64_t dim = product.batch.back();
    const int64_t stride = product.a.batch_strides.back();
    if (product.b.batch_strides.back() != 0 && dim != 1) return;
    if (dim != 1 && product.m != 1 &&
        stride != product.m * product.a.row_stride) {
      return;
    }
    if (dim != 1 && product.m == 1) product.a.row_stride = stride;
    product.m *= dim;
    product.batch.pop_back();
    product.a.batch_strides.pop_back();
    product.b.batch_strides.pop_back();
  }
}

int64_t BatchOffset(const Product& product, const ProductOperand& operand,
                    int64_t batch) {
  int64_t offset = 0;
  for (std::size_t d = product.batch.size(); d-- > 0;) {
    offset += batch % product.batch[d] * operand.batch_strides[d];
    batch /= product.batch[d];
  }
  return offset;
}

Expected<PreparedPtr> PrepareProduct(const Request& request, Product product) {
  MergeBatchIntoRows(product);
  if (product.n == 1 && product.m != 1 && !product.c.has_value()) {
    // A column vector: the transposed product reads the rows of A as they
    // stand. The output is the same run of elements.
    std::swap(product.a, product.b);
    std::swap(product.m, product.n);
    std::swap(product.a.row_stride, product.a.column_stride);
    std::swap(product.b.row_stride, product.b.column_stride);
  }
  // A dim of one element may be given any stride.
  if (product.n == 1) product.b.column_stride = 1;
  PreparedPtr prepared;
  const bool taken = WithComputeType(product.dtype, true, [&]<class T>(T) {
    prepared =
        std::make_unique<ProductPrepared<T>>(request, std::move(product));
  });
  if (!taken) return UnsupportedDTypes(request);
  return prepared;
}

}  // namespace ebb::kernels
