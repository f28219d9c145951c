#include "vm/compute.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "vm/tensor_contents.h"
#include "vm/tensor_view.h"

namespace ebb::vm {
namespace {

// A storage that is scratch as a whole, or a dense tensor in a part of one.
struct ScratchSpace {
  std::byte* data = nullptr;
  int64_t bytes = 0;
};

ScratchSpace SpaceOf(const Value* value) {
  if (value == nullptr) return {};
  if (value->kind == ValueKind::kStorage) {
    const auto& storage = static_cast<const Storage&>(*value);
    if (storage.origin != Origin::kSession) return {};
    return {storage.data, storage.bytes};
  }
  if (value->kind != ValueKind::kTensor) return {};
  const auto& tensor = static_cast<const Tensor&>(*value);
  const auto extent = ExtentOf(tensor.dtype, tensor.Dims(), tensor.Strides());
  if (!tensor.writable || !extent.has_value() || extent->low != 0) return {};
  return {tensor.data, extent->high};
}

// Below this, waking a worker costs more than it brings.
constexpr int64_t kSharedCost = int64_t{1} << 18;

// The first word of an operand in a key says of what kind it is.
enum KeyTag : int64_t {
  kKeyNone = 0,
  kKeyWanted = 1,
  kKeyList = 2,
  kKeyTensor = 3
};

bool Overlap(const std::byte* a, const Extent& extent_a, const std::byte* b,
             const Extent& extent_b) {
  return extent_a.low < extent_a.high && extent_b.low < extent_b.high &&
         a + extent_a.low < b + extent_b.high &&
         b + extent_b.low < a + extent_a.high;
}

std::string OperandText(const char* what, std::size_t index) {
  return std::string(what) + " " + std::to_string(index);
}

Error RunError(const kernels::RunStatus& status) {
  switch (status.code) {
    case kernels::RunCode::kOk:
      break;
    case kernels::RunCode::kIndexOutOfRange:
      return {ErrorCode::kOutOfRange,
              "index " + std::to_string(status.value) + " is outside [" +
                  std::to_string(status.low) + ", " +
                  std::to_string(status.high) + "]",
              {}};
    case kernels::RunCode::kLibraryFailure:
      break;
  }
  return {
      ErrorCode::kUnsupported,
      "the kernel library failed with status " + std::to_string(status.value),
      {}};
}

}  // namespace

Compute::Compute(const Program& program, Memory& memory, WorkerPool* workers,
                 const SessionOptions& options)
    : program_(program),
      memory_(memory),
      workers_(workers),
      backend_(options.backend),
      threads_(workers != nullptr ? workers->threads() : 1),
      handles_(program.module().sites.size(), options.shapes_per_site,
               options.shapes_in_all) {}

Error Compute::Locate(bytecode::SiteId id, Error error) const {
  const bytecode::Module& module = program_.module();
  const bytecode::Site& site = module.sites[id.index()];
  std::string where(InfoOf(site.code).mnemonic);
  if (const std::string& node = module.string(site.node); !node.empty()) {
    where = "node \"" + node + "\" (" + where + ")";
  }
  if (!error.where.empty()) where += ": " + error.where;
  error.where = std::move(where);
  return error;
}

Status Compute::ReadOuts(bytecode::OperandReader& in, Value** holds) {
  outs_.clear();
  const int64_t count = in.Word();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t hold = in.Word();
    if (hold == bytecode::kNoRegister) {
      outs_.push_back(nullptr);
      continue;
    }
    Tensor* tensor = AsTensor(holds[hold]);
    if (tensor == nullptr) {
      return Fail(ErrorCode::kInvalidFile,
                  OperandText("output", outs_.size()) + " is not a tensor");
    }
    outs_.push_back(tensor);
  }
  return {};
}

// Contents of tensors are read at once for the key; those of constants are
// told apart by their address and read only when a handle is made.
Status Compute::ReadIns(const OperatorInfo& info, bytecode::OperandReader& in,
                        const int64_t* ints, Value** holds) {
  ins_.clear();
  ints_.clear();
  floats_.clear();
  const int64_t count = in.Word();
  for (int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<std::size_t>(i);
    Input input;
    const int64_t kind = in.Word();
    if (kind == bytecode::kInHold) {
      input.tensor = AsTensor(holds[in.Word()]);
      if (input.tensor == nullptr) {
        return Fail(ErrorCode::kInvalidFile,
                    OperandText("input", index) + " is not a tensor");
      }
      if (info.ReadsValue(index) && input.tensor->form == ConstantForm::kNone) {
        RETURN_IF_ERROR(ReadContents(input));
      }
    } else if (kind == bytecode::kInInts) {
      input.is_list = true;
      input.is_read = true;
      input.first = ints_.size();
      input.count = static_cast<std::size_t>(in.Word());
      for (std::size_t k = 0; k < input.count; ++k) {
        ints_.push_back(in.Int(ints));
      }
    }
    ins_.push_back(input);
  }
  return {};
}

Status Compute::ReadContents(Input& input) {
  const bool is_float = IsFloat(input.tensor->dtype);
  input.is_read = true;
  input.first = is_float ? floats_.size() : ints_.size();
  RETURN_IF_ERROR(AppendContents(*input.tensor, ints_, floats_));
  input.count = (is_float ? floats_.size() : ints_.size()) - input.first;
  return {};
}

void Compute::AddToKey(const Tensor& tensor) {
  key_.push_back(kKeyTensor | int64_t{tensor.rank} << 8 |
                 static_cast<int64_t>(tensor.dtype) << 16 |
                 static_cast<int64_t>(tensor.form) << 24);
  key_.insert(key_.end(), tensor.dims, tensor.dims + tensor.rank);
  key_.insert(key_.end(), tensor.strides, tensor.strides + tensor.rank);
  if (tensor.form != ConstantForm::kNone) {
    key_.push_back(std::bit_cast<intptr_t>(tensor.data));
  }
}

void Compute::MakeKey() {
  key_.clear();
  key_.push_back(static_cast<int64_t>(outs_.size()));
  for (std::size_t i = 0; i < outs_.size(); ++i) {
    if (outs_[i] != nullptr) {
      AddToKey(*outs_[i]);
    } else {
      key_.push_back(allocates_ && wanted_[i] ? kKeyWanted : kKeyNone);
    }
  }
  for (const Input& input : ins_) {
    if (input.tensor != nullptr) {
      AddToKey(*input.tensor);
    } else {
      key_.push_back(input.is_list ? kKeyList : kKeyNone);
    }
    if (!input.is_read) continue;
    key_.push_back(static_cast<int64_t>(input.count));
    for (std::size_t i = input.first; i < input.first + input.count; ++i) {
      const bool is_float =
          input.tensor != nullptr && IsFloat(input.tensor->dtype);
      key_.push_back(is_float ? std::bit_cast<int64_t>(floats_[i]) : ints_[i]);
    }
  }
}

Expected<const Handle*> Compute::Resolve(bytecode::SiteId id) {
  MakeKey();
  if (const Handle* handle = handles_.Find(id, key_); handle != nullptr) {
    return handle;
  }
  const bytecode::Site& site = program_.module().sites[id.index()];
  auto handle = std::make_unique<Handle>();
  handle->key.assign(key_.begin(), key_.end());
  RETURN_IF_ERROR(MakeHandle(site, InfoOf(site.code), *handle));
  return handles_.Insert(id, std::move(handle));
}

Status Compute::Place(const Handle& handle) {
  output_data_.clear();
  for (std::size_t i = 0; i < outs_.size(); ++i) {
    if (outs_[i] != nullptr && !outs_[i]->writable) {
      return Fail(ErrorCode::kInvalidFile,
                  OperandText("output", i) +
                      " is an input or a constant, which is never written");
    }
    output_data_.push_back(outs_[i] != nullptr ? outs_[i]->data : nullptr);
  }
  input_data_.clear();
  for (std::size_t i = 0; i < ins_.size(); ++i) {
    const Handle::Input& input = handle.inputs[i];
    if (!input.is_tensor) {
      input_data_.push_back(nullptr);
      continue;
    }
    if (input.fixed != nullptr) {
      input_data_.push_back(input.fixed);
      continue;
    }
    const std::byte* data = ins_[i].tensor->data;
    input_data_.push_back(data);
    for (std::size_t k = 0; k < outs_.size(); ++k) {
      if (outs_[k] == nullptr ||
          (k == 0 && input.may_be_output && outs_[k]->data == data) ||
          !Overlap(data, input.extent, outs_[k]->data, handle.outputs[k])) {
        continue;
      }
      return Fail(
          ErrorCode::kInvalidFile,
          OperandText("output", k) + " overlaps " + OperandText("input", i));
    }
  }
  return {};
}

Status Compute::RunKernel(const Handle& handle, const Value* scratch) {
  const kernels::Prepared& kernel = *handle.kernel;
  const int64_t scratch_bytes = kernel.scratch_bytes();
  std::byte* scratch_data = nullptr;
  Storage* fallback = nullptr;
  if (scratch_bytes > 0) {
    // The program gives scratch for the threads that it was compiled for. In
    // any other case it comes from the allocator, for this one operator.
    const ScratchSpace space = SpaceOf(scratch);
    const Extent extent{0, space.bytes};
    if (space.bytes >= scratch_bytes &&
        std::bit_cast<uintptr_t>(space.data) % 64 == 0) {
      scratch_data = space.data;
      for (std::size_t i = 0; i < outs_.size(); ++i) {
        if (outs_[i] != nullptr &&
            Overlap(scratch_data, extent, outs_[i]->data, handle.outputs[i])) {
          return Fail(ErrorCode::kInvalidFile,
                      "scratch overlaps " + OperandText("output", i));
        }
      }
      for (std::size_t i = 0; i < ins_.size(); ++i) {
        if (handle.inputs[i].is_tensor && handle.inputs[i].fixed == nullptr &&
            Overlap(scratch_data, extent, ins_[i].tensor->data,
                    handle.inputs[i].extent)) {
          return Fail(ErrorCode::kInvalidFile,
                      "scratch overlaps " + OperandText("input", i));
        }
      }
    } else {
      if (!allocates_) ++scratch_fallback_count_;
      fallback = memory_.Allocate(scratch_bytes, 64, {});
      if (fallback == nullptr) {
        return std::unexpected(memory_.OutOfMemory(scratch_bytes, {}));
      }
      scratch_data = fallback->data;
    }
  }
  kernels::RunStatus status;
  const int64_t slice_count = kernel.slice_count();
  if (workers_ != nullptr && threads_ > 1 && slice_count > 1 &&
      kernel.cost() > kSharedCost) {
    status = workers_->Run(kernel, input_data_.data(), output_data_.data(),
                           scratch_data);
  } else if (slice_count > 0) {
    status = kernels::RunAll(kernel, input_data_.data(), output_data_.data(),
                             scratch_data);
  }
  if (fallback != nullptr) memory_.Release(fallback);
  if (!status.ok()) return std::unexpected(RunError(status));
  return {};
}

Status Compute::Op(bytecode::OperandReader& in, const int64_t* ints,
                   Value** holds) {
  const bytecode::SiteId id(static_cast<std::size_t>(in.Word()));
  const OperatorInfo& info = InfoOf(program_.module().sites[id.index()].code);
  allocates_ = false;
  const auto run = [&]() -> Status {
    RETURN_IF_ERROR(ReadOuts(in, holds));
    RETURN_IF_ERROR(ReadIns(info, in, ints, holds));
    const int64_t scratch = in.Word();
    TRY(const Handle* handle, Resolve(id));
    RETURN_IF_ERROR(Place(*handle));
    return RunKernel(
        *handle, scratch == bytecode::kNoRegister ? nullptr : holds[scratch]);
  };
  Status status = run();
  if (!status.has_value()) {
    return std::unexpected(Locate(id, std::move(status).error()));
  }
  return status;
}

Status Compute::OpAlloc(bytecode::OperandReader& in, const int64_t* ints,
                        Value** holds, bytecode::StringId name) {
  const bytecode::SiteId id(static_cast<std::size_t>(in.Word()));
  const OperatorInfo& info = InfoOf(program_.module().sites[id.index()].code);
  allocates_ = true;
  const int64_t result_count = in.Word();
  const int64_t* results = in.position();
  wanted_.clear();
  for (int64_t i = 0; i < result_count; ++i) {
    // Every kernel makes its first output.
    wanted_.push_back(in.Word() != bytecode::kNoRegister || i == 0);
  }
  outs_.assign(static_cast<std::size_t>(result_count), nullptr);
  const auto run = [&]() -> Status {
    RETURN_IF_ERROR(ReadIns(info, in, ints, holds));
    TRY(const Handle* handle, Resolve(id));
    // Once outputs are allocated nothing may throw.
    input_data_.reserve(ins_.size());
    output_data_.reserve(outs_.size());
    for (std::size_t i = 0; i < outs_.size(); ++i) {
      if (!wanted_[i]) continue;
      const Shaped<int64_t>& shape = handle->results[i];
      outs_[i] = memory_.AllocateTensor(shape.dtype, shape.dims, name);
      if (outs_[i] == nullptr) {
        return std::unexpected(
            memory_.OutOfMemory(handle->outputs[i].high, name));
      }
    }
    RETURN_IF_ERROR(Place(*handle));
    return RunKernel(*handle, nullptr);
  };
  Status status = run();
  for (std::size_t i = 0; i < outs_.size(); ++i) {
    if (outs_[i] == nullptr) continue;
    if (!status.has_value() || results[i] == bytecode::kNoRegister) {
      memory_.Release(outs_[i]);
    } else {
      Value*& hold = holds[results[i]];
      if (hold != nullptr) memory_.Release(hold);
      hold = outs_[i];
    }
  }
  if (!status.has_value()) {
    return std::unexpected(Locate(id, std::move(status).error()));
  }
  return status;
}

Status Compute::ScratchBytes(bytecode::OperandReader& in, int64_t* ints,
                             Value** holds) {
  const int64_t dst = in.Word();
  const bytecode::SiteId id(static_cast<std::size_t>(in.Word()));
  const OperatorInfo& info = InfoOf(program_.module().sites[id.index()].code);
  allocates_ = false;
  const auto run = [&]() -> Status {
    RETURN_IF_ERROR(ReadOuts(in, holds));
    RETURN_IF_ERROR(ReadIns(info, in, ints, holds));
    TRY(const Handle* handle, Resolve(id));
    ints[dst] = handle->kernel->scratch_bytes();
    return {};
  };
  Status status = run();
  if (!status.has_value()) {
    return std::unexpected(Locate(id, std::move(status).error()));
  }
  return status;
}

}  // namespace ebb::vm
