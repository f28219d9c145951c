#include <cmath>
#include <sstream>

#include "bytecode/shape_rules/geometry.h"
#include "tests/reference/operand.h"
#include "tests/reference/reference.h"

namespace ebb::reference {
namespace {

std::string TypeText(const ReferenceTensor& tensor) {
  return std::string(DTypeName(tensor.dtype)) + DimsText(tensor.dims);
}

// Prints int64 and uint64 without loss.
std::string ElementText(const ReferenceTensor& tensor, int64_t i) {
  std::ostringstream text;
  if (IsFloat(tensor.dtype)) {
    text.precision(9);
    text << GetFloat(tensor, i);
  } else if (tensor.dtype == DType::kU64) {
    text << static_cast<uint64_t>(GetInt(tensor, i));
  } else {
    text << static_cast<int64_t>(GetInt(tensor, i));
  }
  return text.str();
}

std::string IndexText(const Index& dims, int64_t flat) {
  Index index(dims.size());
  for (std::size_t i = dims.size(); i-- > 0;) {
    index[i] = flat % dims[i];
    flat /= dims[i];
  }
  return DimsText(index);
}

// How far apart; 0 when equal, infinity when only one is NaN.
double Distance(const ReferenceTensor& expected, const ReferenceTensor& actual,
                int64_t i) {
  if (!IsFloat(expected.dtype)) {
    const Wide difference = GetInt(expected, i) - GetInt(actual, i);
    return std::abs(static_cast<double>(difference));
  }
  const double a = GetFloat(expected, i);
  const double b = GetFloat(actual, i);
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double distance = std::abs(a - b);
  return std::isnan(distance) ? HUGE_VAL : distance;
}

}  // namespace

std::string Mismatch(const ReferenceTensor& expected,
                     const ReferenceTensor& actual, double rtol, double atol) {
  if (expected.dtype != actual.dtype || expected.dims != actual.dims) {
    return "expected " + TypeText(expected) + ", got " + TypeText(actual);
  }
  if (expected.bytes.size() != actual.bytes.size()) {
    return TypeText(expected) + ": expected " +
           std::to_string(expected.bytes.size()) + " bytes, got " +
           std::to_string(actual.bytes.size());
  }
  int64_t wrong = 0;
  int64_t first = 0;
  int64_t worst = 0;
  double worst_distance = 0;
  for (int64_t i = 0; i < expected.count(); ++i) {
    const double distance = Distance(expected, actual, i);
    double allowed = 0;
    if (IsFloat(expected.dtype) && std::isfinite(GetFloat(expected, i))) {
      allowed = atol + rtol * std::abs(GetFloat(expected, i));
    }
    if (distance <= allowed) continue;
    if (wrong++ == 0) first = i;
    if (distance > worst_distance) {
      worst = i;
      worst_distance = distance;
    }
  }
  if (wrong == 0) return "";
  std::ostringstream text;
  text << TypeText(expected) << ": " << wrong << " of " << expected.count()
       << " elements differ";
  const auto describe = [&](const char* which, int64_t i) {
    text << "; " << which << " at " << IndexText(expected.dims, i)
         << ": expected " << ElementText(expected, i) << ", got "
         << ElementText(actual, i);
  };
  describe("first", first);
  if (worst != first) describe("worst", worst);
  return text.str();
}

}  // namespace ebb::reference
