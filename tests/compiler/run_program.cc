#include "tests/compiler/run_program.h"

#include <cstring>
#include <random>
#include <utility>

#include "bytecode/half.h"
#include "bytecode/shape_rules/geometry.h"
#include "vm/tensor_view.h"
#include "vm/value.h"

namespace ebb {
namespace {

template <class T>
void Store(std::vector<std::byte>& bytes, T value) {
  const auto* at = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), at, at + sizeof value);
}

const bytecode::Type& InputType(const vm::Program& program, std::size_t i) {
  return program.module().types[program.entry().params[i].type.index()];
}

struct Feed {
  std::vector<int64_t> dims;
  std::vector<std::byte> bytes;
};

Expected<std::vector<RunOutput>> Collect(const vm::Session& session) {
  std::vector<RunOutput> outputs;
  for (std::size_t i = 0; i < session.output_count(); ++i) {
    TRY(const vm::Value* root, session.OutputValue(i));
    // Fields of objects in order, by an explicit stack.
    std::vector<const vm::Value*> pending = {root};
    while (!pending.empty()) {
      const vm::Value* value = pending.back();
      pending.pop_back();
      if (const vm::Tensor* tensor = vm::AsTensor(value)) {
        const vm::TensorView view = vm::ViewOf(*tensor);
        RunOutput& output = outputs.emplace_back();
        output.shape = vm::ShapeText(view.dtype, view.dims);
        const auto* at = static_cast<const std::byte*>(view.data);
        output.bytes.assign(at, at + view.byte_size);
      } else if (const vm::Object* object = vm::AsObject(value)) {
        outputs.push_back({"object", {}});
        const auto& fields = object->fields;
        pending.insert(pending.end(), fields.rbegin(), fields.rend());
      }
    }
  }
  return outputs;
}

Expected<std::vector<Feed>> MakeFeeds(const vm::Program& program,
                                      const RunOptions& options) {
  std::vector<Feed> feeds;
  for (std::size_t i = 0; i < program.entry().params.size(); ++i) {
    const bytecode::Type& type = InputType(program, i);
    Feed& feed = feeds.emplace_back();
    for (const bytecode::DimSpec& dim : type.dims) {
      feed.dims.push_back(dim.size >= 0 ? dim.size : options.symbol_size);
    }
    const auto count = ElementCount(feed.dims);
    if (!count.has_value()) {
      return Fail(ErrorCode::kInvalidArgument, "an input is too large");
    }
    feed.bytes =
        MakeInput(type.dtype, *count, options.seed + static_cast<uint32_t>(i));
  }
  return feeds;
}

}  // namespace

std::vector<std::byte> MakeInput(DType dtype, int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes;
  for (int64_t i = 0; i < count; ++i) {
    const float value = static_cast<float>(random() % 2001) / 1000.0F - 1.0F;
    const auto small = static_cast<int64_t>(random() % 2);
    switch (dtype) {
      case DType::kF32:
        Store(bytes, value);
        break;
      case DType::kF64:
        Store(bytes, static_cast<double>(value));
        break;
      case DType::kF16:
        Store(bytes, F32ToF16(value));
        break;
      case DType::kBF16:
        Store(bytes, F32ToBF16(value));
        break;
      case DType::kI64:
      case DType::kU64:
        Store(bytes, small);
        break;
      case DType::kI32:
      case DType::kU32:
        Store(bytes, static_cast<int32_t>(small));
        break;
      case DType::kI16:
      case DType::kU16:
        Store(bytes, static_cast<int16_t>(small));
        break;
      default:
        Store(bytes, static_cast<int8_t>(small));
    }
  }
  return bytes;
}

Expected<RunResult> RunProgram(vm::ProgramRef program,
                               const RunOptions& options) {
  TRY(std::vector<Feed> feeds, MakeFeeds(*program, options));
  TRY(const auto session,
      vm::Session::Create(std::move(program), options.session));
  RunResult result;
  for (int run = 0; run < 2; ++run) {
    for (std::size_t i = 0; i < feeds.size(); ++i) {
      vm::TensorView view;
      view.dtype = InputType(session->program(), i).dtype;
      view.dims = feeds[i].dims;
      view.data = feeds[i].bytes.data();
      RETURN_IF_ERROR(session->SetInput(i, view));
    }
    RETURN_IF_ERROR(session->Run());
    TRY(auto outputs, Collect(*session));
    if (run != 0 && outputs != result.outputs) {
      return Fail(ErrorCode::kInvalidArgument,
                  "the second run gives other results than the first");
    }
    result.outputs = std::move(outputs);
    result.peak_bytes = session->stats().last_run.requested_high_water;
  }
  session->ReleaseOutputs();
  result.live_after_bytes = session->stats().memory.live_bytes;
  return result;
}

Expected<RunResult> RunModule(ir::Module module, const RunOptions& options) {
  TRY(bytecode::Module lowered,
      compiler::CompileIr(std::move(module), options.compile));
  TRY(vm::ProgramRef program,
      vm::Program::Load(std::move(lowered),
                        {.externals = options.externals, .log = {}}));
  return RunProgram(std::move(program), options);
}

}  // namespace ebb
