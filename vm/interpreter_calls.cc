// Frames: calls of functions, closures and the embedder's functions.
#include <algorithm>
#include <string>
#include <utility>

#include "vm/external.h"
#include "vm/interpreter.h"

namespace ebb::vm {
namespace {

// Registers of all frames together, of either bank.
constexpr std::size_t kMaxRegisterCount = std::size_t{1} << 24;

}  // namespace

// The value of a Pass operand, with a hold.
Value* Interpreter::TakePass(bytecode::OperandReader& in, Value** holds) {
  const int64_t word = in.Word();
  Value*& hold = holds[word >> 1];
  return (word & 1) != 0 ? std::exchange(hold, nullptr) : Memory::Hold(hold);
}

void Interpreter::TakePasses(bytecode::OperandReader& in, Value** holds) {
  const int64_t count = in.Word();
  passed_.reserve(passed_.size() + static_cast<std::size_t>(count));
  for (int64_t i = 0; i < count; ++i) passed_.push_back(TakePass(in, holds));
}

Status Interpreter::Enter(bytecode::FunctionId id, const int64_t* results) {
  const bytecode::Function& function = module_.function(id);
  if (function.params.size() != passed_.size()) {
    return Fail(ErrorCode::kInvalidFile,
                "function \"" + module_.string(function.name) + "\" takes " +
                    std::to_string(function.params.size()) +
                    " arguments, not " + std::to_string(passed_.size()));
  }
  if (frames_.size() >= depth_limit_) {
    return Fail(ErrorCode::kLimit, "call of \"" +
                                       module_.string(function.name) +
                                       "\": the depth of calls is limited to " +
                                       std::to_string(depth_limit_));
  }
  const std::size_t int_count = ints_.size() + function.int_register_count;
  const std::size_t hold_count = holds_.size() + function.hold_register_count;
  if (int_count > kMaxRegisterCount || hold_count > kMaxRegisterCount) {
    return Fail(ErrorCode::kLimit,
                "call of \"" + module_.string(function.name) +
                    "\": " + std::to_string(std::max(int_count, hold_count)) +
                    " registers, at most " + std::to_string(kMaxRegisterCount) +
                    " are possible");
  }
  const Frame frame{.function = &function,
                    .id = id,
                    .pc = 0,
                    .first_int = ints_.size(),
                    .first_hold = holds_.size(),
                    .results = results};
  frames_.push_back(frame);
  ints_.resize(int_count, 0);
  holds_.resize(hold_count, nullptr);
  for (std::size_t i = 0; i < passed_.size(); ++i) {
    holds_[frame.first_hold + i] = passed_[i];
  }
  passed_.clear();
  return {};
}

Status Interpreter::Call(bytecode::OperandReader& in, Value** holds) {
  const bytecode::FunctionId id(static_cast<std::size_t>(in.Word()));
  const int64_t* results = in.position();
  for (int64_t count = in.Word(); count > 0; --count) in.Word();
  TakePasses(in, holds);
  if (Status status = Enter(id, results); !status.has_value()) {
    return FailHere(std::move(status).error());
  }
  return {};
}

Status Interpreter::MakeClosure(bytecode::OperandReader& in, Value** holds) {
  const int64_t dst = in.Word();
  const bytecode::FunctionId id(static_cast<std::size_t>(in.Word()));
  TakePasses(in, holds);
  Object* closure = memory_.NewObject(ValueKind::kClosure);
  if (closure == nullptr) return NoMemory(sizeof(Object));
  closure->name = NameHere();
  closure->function = id;
  Define(holds, dst, closure);
  closure->fields.assign(passed_.begin(), passed_.end());
  passed_.clear();
  return {};
}

// What the closure captured comes after the arguments.
Status Interpreter::CallClosure(bytecode::OperandReader& in, Value** holds) {
  Value* callee = holds[in.Word()];
  const Object* closure = AsObject(callee);
  if (closure == nullptr || closure->kind != ValueKind::kClosure) {
    return WrongKind(callee, "a closure");
  }
  const int64_t* results = in.position();
  const int64_t result_count = in.Word();
  for (int64_t i = 0; i < result_count; ++i) in.Word();
  const bytecode::Function& function = module_.function(closure->function);
  if (function.results.size() != static_cast<std::size_t>(result_count)) {
    return FailHere(ErrorCode::kInvalidFile,
                    "closure of \"" + module_.string(function.name) +
                        "\" gives " + std::to_string(function.results.size()) +
                        " results, not " + std::to_string(result_count));
  }
  const bytecode::FunctionId id = closure->function;
  passed_.reserve(closure->fields.size());
  // The captured values are held before an argument that is moved, which may
  // be the closure itself, can let go of them.
  const auto captured = static_cast<int64_t>(closure->fields.size());
  for (Value* field : closure->fields) passed_.push_back(Memory::Hold(field));
  TakePasses(in, holds);
  std::rotate(passed_.begin(), passed_.begin() + captured, passed_.end());
  if (Status status = Enter(id, results); !status.has_value()) {
    return FailHere(std::move(status).error());
  }
  return {};
}

Status Interpreter::Return(bytecode::OperandReader& in, Value** holds) {
  TakePasses(in, holds);
  const Frame frame = frames_.back();
  for (std::size_t i = frame.first_hold; i < holds_.size(); ++i) {
    if (holds_[i] != nullptr) {
      memory_.Release(std::exchange(holds_[i], nullptr));
    }
  }
  if (frame.results == nullptr) {
    run_results_->swap(passed_);
    passed_.clear();
    frames_.pop_back();
    return {};
  }
  if (static_cast<std::size_t>(*frame.results) != passed_.size()) {
    return FailHere(ErrorCode::kInvalidFile,
                    std::to_string(passed_.size()) +
                        " results are returned, the caller takes " +
                        std::to_string(*frame.results));
  }
  holds_.resize(frame.first_hold);
  ints_.resize(frame.first_int);
  frames_.pop_back();
  // Debug names are those that the call gives.
  pc_ = frames_.back().pc - 1;
  Value** caller = holds_.data() + frames_.back().first_hold;
  for (std::size_t i = 0; i < passed_.size(); ++i) {
    const int64_t hold = frame.results[1 + i];
    Value* value = std::exchange(passed_[i], nullptr);
    if (hold == bytecode::kNoRegister) {
      memory_.Release(value);
    } else {
      Define(caller, hold, value);
    }
  }
  passed_.clear();
  return {};
}

Status Interpreter::CallExternal(bytecode::OperandReader& in,
                                 const int64_t* ints, Value** holds) {
  const bytecode::StringId name(static_cast<std::size_t>(in.Word()));
  const int64_t result_count = in.Word();
  const int64_t* results = in.position();
  for (int64_t i = 0; i < result_count; ++i) in.Word();
  external_arguments_.clear();
  for (int64_t count = in.Word(); count > 0; --count) {
    Value* value = holds[in.Word()];
    // Functions see plain elements only.
    if (Tensor* tensor = AsTensor(value);
        tensor != nullptr && (tensor->form == ConstantForm::kPacked ||
                              tensor->form == ConstantForm::kRepeat)) {
      TRY(value, Plain(*tensor));
      external_arguments_.push_back(value);
    } else if (value != nullptr) {
      external_arguments_.push_back(Memory::Hold(value));
    } else {
      return WrongKind(value, "a value");
    }
  }
  int_list_.clear();
  for (int64_t count = in.Word(); count > 0; --count) {
    int_list_.push_back(in.Int(ints));
  }
  external_results_.assign(static_cast<std::size_t>(result_count), nullptr);
  ExternalCall call(memory_, external_arguments_, int_list_, external_results_);
  Status status = program_.external(name)(call);
  for (Value* value : external_arguments_) memory_.Release(value);
  external_arguments_.clear();
  if (!status.has_value()) {
    Error error = std::move(status).error();
    return FailHere(error.code, "external function \"" + module_.string(name) +
                                    "\": " + error.ToString());
  }
  for (std::size_t i = 0; i < external_results_.size(); ++i) {
    if (external_results_[i] == nullptr &&
        results[i] != bytecode::kNoRegister) {
      return FailHere(ErrorCode::kInvalidArgument,
                      "external function \"" + module_.string(name) +
                          "\" made no result " + std::to_string(i));
    }
    Value* value = std::exchange(external_results_[i], nullptr);
    if (value == nullptr) continue;
    if (results[i] == bytecode::kNoRegister) {
      memory_.Release(value);
    } else {
      value->name = value->name.valid() ? value->name : NameHere();
      Define(holds, results[i], value);
    }
  }
  external_results_.clear();
  return {};
}

Expected<Tensor*> ExternalCall::TensorArgument(std::size_t index) const {
  Tensor* tensor =
      index < arguments_.size() ? AsTensor(arguments_[index]) : nullptr;
  if (tensor == nullptr) {
    return Fail(ErrorCode::kInvalidArgument,
                "argument " + std::to_string(index) + " of " +
                    std::to_string(arguments_.size()) + " is not a tensor");
  }
  return tensor;
}

Status ExternalCall::SetResult(std::size_t index, Value* value) {
  if (index < results_.size() && results_[index] == nullptr) {
    results_[index] = value;
    return {};
  }
  memory_.Release(value);
  return Fail(
      ErrorCode::kInvalidArgument,
      "result " + std::to_string(index) +
          (index < results_.size() ? std::string(" is made twice")
                                   : " of " + std::to_string(results_.size())));
}

Expected<Tensor*> ExternalCall::MakeTensorResult(
    std::size_t index, DType dtype, std::span<const int64_t> dims) {
  std::vector<int64_t> strides(dims.size());
  DenseStrides(dims, strides.data());
  const auto extent = dims.size() <= static_cast<std::size_t>(kMaxRank)
                          ? ExtentOf(dtype, dims, strides)
                          : std::nullopt;
  if (!extent.has_value()) {
    return Fail(ErrorCode::kInvalidArgument, "result " + std::to_string(index) +
                                                 ": " + ShapeText(dtype, dims) +
                                                 " has no size in bytes");
  }
  Tensor* tensor = memory_.AllocateTensor(dtype, dims, {});
  if (tensor == nullptr) {
    return std::unexpected(memory_.OutOfMemory(extent->high, {}));
  }
  RETURN_IF_ERROR(SetResult(index, tensor));
  return tensor;
}

Status ExternalCall::ShareArgument(std::size_t index, std::size_t argument) {
  if (argument >= arguments_.size()) {
    return Fail(ErrorCode::kInvalidArgument,
                "argument " + std::to_string(argument) + " of " +
                    std::to_string(arguments_.size()));
  }
  return SetResult(index, Memory::Hold(arguments_[argument]));
}

Status ExternalCall::MakeOpaqueResult(std::size_t index, void* opaque,
                                      void (*release)(void* opaque)) {
  Object* object = memory_.NewObject(ValueKind::kOpaque);
  if (object == nullptr) {
    return std::unexpected(memory_.OutOfMemory(sizeof(Object), {}));
  }
  object->opaque = opaque;
  RETURN_IF_ERROR(SetResult(index, object));
  object->release = release;
  return {};
}

}  // namespace ebb::vm
