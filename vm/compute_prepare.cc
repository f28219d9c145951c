// The slow path of compute.h: everything that is checked and made when an
// operator meets operands that it has not seen.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "bytecode/shape_rules/geometry.h"
#include "bytecode/shape_rules/rule.h"
#include "vm/compute.h"
#include "vm/form.h"
#include "vm/tensor_contents.h"
#include "vm/tensor_view.h"

namespace ebb::vm {
namespace {

std::string OperandText(const char* what, std::size_t index) {
  return std::string(what) + " " + std::to_string(index);
}

Status CheckForm(kernels::Form form, std::span<const int64_t> dims,
                 std::span<const int64_t> strides, const char* what,
                 std::size_t index) {
  if (HasForm(form, dims, strides)) return {};
  return Fail(ErrorCode::kShapeMismatch,
              OperandText(what, index) + " of strides " + DimsText(strides) +
                  " is not " + FormName(form) + ", as the kernel needs it");
}

}  // namespace

Status Compute::CheckArity(const OperatorInfo& info) const {
  const auto inputs = static_cast<int64_t>(ins_.size());
  const auto outputs = static_cast<int64_t>(outs_.size());
  if (inputs < info.min_inputs || inputs > info.max_inputs) {
    return Fail(ErrorCode::kInvalidFile,
                std::to_string(inputs) + " inputs, must be between " +
                    std::to_string(info.min_inputs) + " and " +
                    std::to_string(info.max_inputs));
  }
  if (outputs < 1 || outputs > info.max_outputs) {
    return Fail(ErrorCode::kInvalidFile,
                std::to_string(outputs) + " outputs, must be between 1 and " +
                    std::to_string(info.max_outputs));
  }
  if (!allocates_ && outs_[0] == nullptr) {
    return Fail(ErrorCode::kInvalidFile, "output 0 is missing");
  }
  for (std::size_t i = 0; i < ins_.size(); ++i) {
    if (ins_[i].is_list && !info.ReadsValue(i)) {
      return Fail(ErrorCode::kInvalidFile,
                  OperandText("input", i) + " must be a tensor, not a list");
    }
    if (ins_[i].tensor == nullptr && !ins_[i].is_list &&
        static_cast<int64_t>(i) < info.min_inputs) {
      return Fail(ErrorCode::kInvalidFile,
                  OperandText("input", i) + " is missing");
    }
  }
  return {};
}

// Runs the shape rule and keeps its answer.
Status Compute::InferResults(const bytecode::Site& site,
                             const OperatorInfo& info, Handle& handle) {
  std::vector<Shaped<int64_t>> shapes(ins_.size());
  std::vector<std::optional<Contents<int64_t>>> contents(ins_.size());
  for (std::size_t i = 0; i < ins_.size(); ++i) {
    Input& input = ins_[i];
    if (input.is_list) {
      shapes[i].dtype = DType::kI64;
      shapes[i].dims = {static_cast<int64_t>(input.count)};
    } else if (input.tensor != nullptr) {
      shapes[i].dtype = input.tensor->dtype;
      shapes[i].dims.assign(input.tensor->dims,
                            input.tensor->dims + input.tensor->rank);
      if (info.ReadsValue(i) && !input.is_read) {
        if (input.tensor->form == ConstantForm::kPacked) {
          return Fail(ErrorCode::kInvalidFile,
                      OperandText("input", i) +
                          " is read for its contents and must not be packed");
        }
        RETURN_IF_ERROR(ReadContents(input));
      }
    }
    if (!input.is_read) continue;
    contents[i].emplace();
    const auto first = static_cast<std::ptrdiff_t>(input.first);
    const auto end = static_cast<std::ptrdiff_t>(input.first + input.count);
    if (IsFloat(shapes[i].dtype)) {
      contents[i]->floats.assign(floats_.begin() + first,
                                 floats_.begin() + end);
    } else {
      contents[i]->ints.assign(ints_.begin() + first, ints_.begin() + end);
    }
  }
  IntArith arith;
  handle.results.resize(outs_.size());
  RuleContext<IntArith> context{.arith = arith,
                                .info = info,
                                .attributes = site.attributes,
                                .inputs = shapes,
                                .contents = contents,
                                .outputs = handle.results};
  RETURN_IF_ERROR(InferShapes(context));
  for (std::size_t i = 0; i < handle.results.size(); ++i) {
    const Shaped<int64_t>& shape = handle.results[i];
    if (std::ranges::find(shape.dims, IntArith::kUnknown) != shape.dims.end()) {
      return Fail(
          ErrorCode::kUnsupported,
          OperandText("output", i) + " has a shape that depends on data");
    }
    if (shape.rank() > kMaxRank) {
      return Fail(ErrorCode::kLimit,
                  OperandText("output", i) + " has " +
                      std::to_string(shape.rank()) + " dims, at most " +
                      std::to_string(kMaxRank) + " are possible");
    }
  }
  return {};
}

Status Compute::CheckOutputs(kernels::Form form, const Handle& handle) const {
  for (std::size_t i = 0; i < outs_.size(); ++i) {
    if (outs_[i] == nullptr) continue;
    const Shaped<int64_t>& shape = handle.results[i];
    const Tensor& out = *outs_[i];
    if (out.dtype != shape.dtype ||
        !std::ranges::equal(out.Dims(), shape.dims)) {
      return Fail(
          ErrorCode::kShapeMismatch,
          OperandText("output", i) + " is " + ShapeText(out.dtype, out.Dims()) +
              ", the operator makes " + ShapeText(shape.dtype, shape.dims));
    }
    RETURN_IF_ERROR(CheckForm(form, out.Dims(), out.Strides(), "output", i));
    // Two indexes of one output in one place would be written twice.
    if (!HasForm(kernels::Form::kDenseOrder, out.Dims(), out.Strides())) {
      for (std::size_t d = 0; d < out.rank; ++d) {
        if (out.dims[d] > 1 && out.strides[d] == 0) {
          return Fail(ErrorCode::kInvalidFile, OperandText("output", i) +
                                                   " has stride 0 in dim " +
                                                   std::to_string(d));
        }
      }
    }
  }
  return {};
}

Status Compute::UsePlain(const Tensor& tensor, kernels::Operand& operand,
                         std::vector<int64_t>& strides, Handle::Input& input) {
  const bytecode::Constant& constant =
      program_.module().constants[tensor.constant.index()];
  // A view of a repeated value may have other dims, not more elements.
  if (*ElementCount(tensor.Dims()) > *ElementCount(constant.dims)) {
    return Fail(ErrorCode::kInvalidFile,
                "view " + ShapeText(tensor.dtype, tensor.Dims()) +
                    " is larger than its constant " +
                    ShapeText(constant.dtype, constant.dims));
  }
  TRY(const std::byte* plain, program_.PlainConstant(tensor.constant));
  strides.resize(tensor.rank);
  DenseStrides(tensor.Dims(), strides.data());
  operand.strides = strides;
  operand.constant_data = plain;
  operand.packing = nullptr;
  input.fixed = plain;
  return {};
}

Status Compute::DescribeInput(std::size_t index, kernels::Operand& operand,
                              Handle::Input& input) {
  const Input& in = ins_[index];
  if (in.tensor != nullptr) {
    operand.dtype = in.tensor->dtype;
    operand.dims = in.tensor->Dims();
    operand.strides = in.tensor->Strides();
  }
  if (in.is_read) {
    operand.kind = kernels::OperandKind::kList;
    if (in.is_list) operand.dtype = DType::kI64;
    if (IsFloat(operand.dtype)) {
      operand.floats = std::span(floats_).subspan(in.first, in.count);
    } else {
      operand.ints = std::span(ints_).subspan(in.first, in.count);
    }
    return {};
  }
  if (in.tensor == nullptr) return {};
  operand.kind = kernels::OperandKind::kTensor;
  input.is_tensor = true;
  if (operand.dtype == DType::kString) return {};
  const auto extent = ExtentOf(operand.dtype, operand.dims, operand.strides);
  if (!extent.has_value()) {
    return Fail(ErrorCode::kInvalidFile,
                OperandText("input", index) + " is out of bounds");
  }
  input.extent = *extent;
  return {};
}

Status Compute::MakeHandle(const bytecode::Site& site, const OperatorInfo& info,
                           Handle& handle) {
  RETURN_IF_ERROR(CheckArity(info));
  RETURN_IF_ERROR(InferResults(site, info, handle));
  const kernels::KernelRow& row = kernels::PortableKernel(site.code);
  RETURN_IF_ERROR(CheckOutputs(row.output_form, handle));

  std::vector<kernels::Operand> outputs(outs_.size());
  std::vector<std::vector<int64_t>> output_strides(outs_.size());
  handle.outputs.resize(outs_.size());
  for (std::size_t i = 0; i < outs_.size(); ++i) {
    if (outs_[i] == nullptr && !(allocates_ && wanted_[i])) continue;
    const Shaped<int64_t>& shape = handle.results[i];
    outputs[i].kind = kernels::OperandKind::kTensor;
    outputs[i].dtype = shape.dtype;
    outputs[i].dims = shape.dims;
    if (outs_[i] != nullptr) {
      outputs[i].strides = outs_[i]->Strides();
    } else {
      output_strides[i].resize(shape.dims.size());
      DenseStrides(shape.dims, output_strides[i].data());
      outputs[i].strides = output_strides[i];
    }
    const auto extent = ExtentOf(shape.dtype, shape.dims, outputs[i].strides);
    if (!extent.has_value()) {
      return Fail(ErrorCode::kLimit, OperandText("output", i) + ": " +
                                         ShapeText(shape.dtype, shape.dims) +
                                         " has no size in bytes");
    }
    handle.outputs[i] = *extent;
  }

  std::vector<kernels::Operand> inputs(ins_.size());
  std::vector<std::vector<int64_t>> input_strides(ins_.size());
  handle.inputs.resize(ins_.size());
  for (std::size_t i = 0; i < ins_.size(); ++i) {
    RETURN_IF_ERROR(DescribeInput(i, inputs[i], handle.inputs[i]));
  }
  const kernels::Request request{.info = info,
                                 .attributes = site.attributes,
                                 .inputs = inputs,
                                 .outputs = outputs,
                                 .backend = backend_,
                                 .threads = threads_};
  for (std::size_t i = 0; i < ins_.size(); ++i) {
    if (!handle.inputs[i].is_tensor) continue;
    const Tensor& tensor = *ins_[i].tensor;
    const kernels::Form form = i == 0 ? row.data_form : row.other_form;
    if (tensor.form == ConstantForm::kPacked) {
      // The kernel is asked what it would want; any other blocking is undone.
      const auto& packing =
          program_.module().constants[tensor.constant.index()].packing;
      if (kernels::WantedPacking(request, i) == packing) {
        inputs[i].constant_data = tensor.data;
        inputs[i].packing = &*packing;
        continue;
      }
      RETURN_IF_ERROR(
          UsePlain(tensor, inputs[i], input_strides[i], handle.inputs[i]));
    } else if (tensor.form == ConstantForm::kRepeat &&
               !HasForm(form, tensor.Dims(), tensor.Strides())) {
      RETURN_IF_ERROR(
          UsePlain(tensor, inputs[i], input_strides[i], handle.inputs[i]));
    } else if (tensor.form == ConstantForm::kPlain &&
               IsDense(tensor.Dims(), tensor.Strides())) {
      inputs[i].constant_data = tensor.data;
    }
    RETURN_IF_ERROR(
        CheckForm(form, inputs[i].dims, inputs[i].strides, "input", i));
    if (form == kernels::Form::kDenseOrder && outputs[0].present() &&
        !SameOrder(inputs[i].dims, inputs[i].strides, outputs[0].dims,
                   outputs[0].strides)) {
      return Fail(ErrorCode::kShapeMismatch,
                  OperandText("input", i) + " of strides " +
                      DimsText(inputs[i].strides) +
                      " lies in another order than output 0");
    }
    handle.inputs[i].may_be_output =
        i < 32 && ((info.reuse_inputs >> i) & 1U) != 0 &&
        inputs[i].dtype == outputs[0].dtype &&
        SameLayout(inputs[i].dims, inputs[i].strides, outputs[0].dims,
                   outputs[0].strides);
  }
  TRY(handle.kernel, kernels::Prepare(request));
  return {};
}

}  // namespace ebb::vm
