#include <algorithm>

#include "tests/reference/operand.h"

namespace ebb::reference {
namespace {

void Shape(const Call& call) {
  const Index& dims = call.in(0).dims;
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t start = std::clamp<int64_t>(
      call.Axis(call.attributes.Int("start", 0), dims.size()), 0, rank);
  for (int64_t i = 0; i < call.out().count(); ++i) {
    SetInt(call.out(), i, dims[static_cast<std::size_t>(start + i)]);
  }
}

void Range(const Call& call) {
  for (int64_t i = 0; i < call.out().count(); ++i) {
    if (IsFloat(call.out().dtype)) {
      SetFloat(call.out(), i,
               GetFloat(call.in(0), 0) +
                   static_cast<double>(i) * GetFloat(call.in(2), 0));
    } else {
      SetInt(call.out(), i, GetInt(call.in(0), 0) + i * GetInt(call.in(2), 0));
    }
  }
}

}  // namespace

Status RunMaker(const Call& call) {
  switch (call.code) {
    case OperatorCode::kShape:
      Shape(call);
      return {};
    case OperatorCode::kSize:
      SetInt(call.out(), 0, call.in(0).count());
      return {};
    case OperatorCode::kFull:
      for (int64_t i = 0; i < call.out().count(); ++i) {
        CopyElement(call.in(1), 0, call.out(), i);
      }
      return {};
    default:
      Range(call);
      return {};
  }
}

}  // namespace ebb::reference
