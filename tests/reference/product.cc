#include <cmath>

#include "tests/reference/operand.h"

namespace ebb::reference {
namespace {

// A matrix inside a tensor: element (row, column) is at
// base + row * row_stride + column * column_stride.
struct Matrix {
  const ReferenceTensor& tensor;
  int64_t base = 0;
  int64_t row_stride = 0;
  int64_t column_stride = 0;

  int64_t At(int64_t row, int64_t column) const {
    return base + row * row_stride + column * column_stride;
  }
};

double FloatDot(const Matrix& a, const Matrix& b, int64_t row, int64_t column,
                int64_t k) {
  double sum = 0;
  for (int64_t i = 0; i < k; ++i) {
    sum +=
        GetFloat(a.tensor, a.At(row, i)) * GetFloat(b.tensor, b.At(i, column));
  }
  return sum;
}

// Wrapped to 64 bits step by step: any number of products fits.
Wide IntDot(const Matrix& a, const Matrix& b, int64_t row, int64_t column,
            int64_t k) {
  uint64_t sum = 0;
  for (int64_t i = 0; i < k; ++i) {
    sum += static_cast<uint64_t>(GetInt(a.tensor, a.At(row, i))) *
           static_cast<uint64_t>(GetInt(b.tensor, b.At(i, column)));
  }
  return static_cast<Wide>(sum);
}

void MatMul(const Call& call) {
  // A vector is a matrix of one row on the left, of one column on the right.
  Index a_dims = call.in(0).dims;
  Index b_dims = call.in(1).dims;
  const bool a_vector = a_dims.size() == 1;
  const bool b_vector = b_dims.size() == 1;
  if (a_vector) a_dims.insert(a_dims.begin(), 1);
  if (b_vector) b_dims.push_back(1);
  const int64_t m = a_dims[a_dims.size() - 2];
  const int64_t k = a_dims.back();
  const int64_t n = b_dims.back();
  Index batch = call.out().dims;
  batch.resize(batch.size() - (a_vector ? 0 : 1) - (b_vector ? 0 : 1));
  const Index a_batch(a_dims.begin(), a_dims.end() - 2);
  const Index b_batch(b_dims.begin(), b_dims.end() - 2);
  int64_t at = 0;
  ForEach(batch, [&](const Index& index) {
    const Matrix a{call.in(0), BroadcastFlat(a_batch, index) * m * k, k, 1};
    const Matrix b{call.in(1), BroadcastFlat(b_batch, index) * k * n, n, 1};
    for (int64_t row = 0; row < m; ++row) {
      for (int64_t column = 0; column < n; ++column, ++at) {
        if (IsFloat(call.out().dtype)) {
          SetFloat(call.out(), at, FloatDot(a, b, row, column, k));
        } else {
          SetInt(call.out(), at, IntDot(a, b, row, column, k));
        }
      }
    }
  });
}

void Gemm(const Call& call) {
  const bool trans_a = call.attributes.Int("transA", 0) != 0;
  const bool trans_b = call.attributes.Int("transB", 0) != 0;
  const auto alpha = static_cast<double>(call.attributes.Float("alpha", 1));
  const auto beta = static_cast<double>(call.attributes.Float("beta", 1));
  const int64_t a_columns = call.in(0).dims[1];
  const int64_t b_columns = call.in(1).dims[1];
  const int64_t k = call.in(0).dims[trans_a ? 0 : 1];
  const Matrix a{call.in(0), 0, trans_a ? 1 : a_columns,
                 trans_a ? a_columns : 1};
  const Matrix b{call.in(1), 0, trans_b ? 1 : b_columns,
                 trans_b ? b_columns : 1};
  const bool whole = alpha == std::floor(alpha) && beta == std::floor(beta);
  int64_t at = 0;
  ForEach(call.out().dims, [&](const Index& index) {
    const int64_t c = call.Has(2) ? BroadcastFlat(call.in(2).dims, index) : 0;
    // With beta 0 the third input does not count, NaN included.
    const bool adds = call.Has(2) && beta != 0;
    if (IsFloat(call.out().dtype)) {
      double value = alpha * FloatDot(a, b, index[0], index[1], k);
      if (adds) value += beta * GetFloat(call.in(2), c);
      SetFloat(call.out(), at++, value);
      return;
    }
    const Wide sum = IntDot(a, b, index[0], index[1], k);
    if (whole) {
      auto value = static_cast<uint64_t>(static_cast<int64_t>(alpha)) *
                   static_cast<uint64_t>(sum);
      if (adds) {
        value += static_cast<uint64_t>(static_cast<int64_t>(beta)) *
                 static_cast<uint64_t>(GetInt(call.in(2), c));
      }
      SetInt(call.out(), at++, static_cast<Wide>(value));
      return;
    }
    // The sum as the dtype holds it, then in double.
    ReferenceTensor one = MakeTensor(call.out().dtype, {});
    SetInt(one, 0, sum);
    double value = alpha * GetFloat(one, 0);
    if (adds) value += beta * GetFloat(call.in(2), c);
    SetInt(call.out(), at++, static_cast<Wide>(value));
  });
}

}  // namespace

Status RunProduct(const Call& call) {
  if (call.code == OperatorCode::kMatMul) {
    MatMul(call);
  } else {
    Gemm(call);
  }
  return {};
}

}  // namespace ebb::reference
