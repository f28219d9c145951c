#include "vm/kernels/onednn/onednn.h"

#include "vm/kernels/onednn/products.h"

namespace ebb::kernels {
namespace {

// Forms are those of the portable rows: the compiler lays operands out before
// it is known which of the two will take them.
constexpr KernelRow kMatMul = {.prepare = onednn::PrepareMatMul,
                               .data_form = Form::kAny,
                               .other_form = Form::kAny,
                               .output_form = Form::kDense};
constexpr KernelRow kGemm = {.prepare = onednn::PrepareGemm,
                             .data_form = Form::kAny,
                             .other_form = Form::kAny,
                             .output_form = Form::kDense};
constexpr KernelRow kConv = {.prepare = onednn::PrepareConv,
                             .data_form = Form::kDenseOrder,
                             .other_form = Form::kDense,
                             .output_form = Form::kDenseOrder};

}  // namespace

const KernelRow* OneDnnKernel(OperatorCode code) {
  if (code == OperatorCode::kMatMul) return &kMatMul;
  if (code == OperatorCode::kGemm) return &kGemm;
  if (code == OperatorCode::kConv) return &kConv;
  return nullptr;
}

std::optional<Packing> OneDnnWantedPacking(const Request& request,
                                           std::size_t input) {
  if (input != 1 || request.inputs.size() < 2) return std::nullopt;
  if (request.inputs[1].dtype != DType::kF32) return std::nullopt;
  switch (request.info.code) {
    case OperatorCode::kMatMul:
    case OperatorCode::kGemm:
      return onednn::WantedMatrixPacking(request);
    case OperatorCode::kConv:
      return onednn::WantedConvPacking(request);
    default:
      return std::nullopt;
  }
}

}  // namespace ebb::kernels
