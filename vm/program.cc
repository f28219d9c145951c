#include "vm/program.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <new>
#include <unordered_map>

#include "bytecode/mapped_file.h"
#include "bytecode/reader.h"
#include "bytecode/shape_rules/geometry.h"
#include "bytecode/verifier.h"
#include "vm/kernels/packing.h"

namespace ebb::vm {
namespace {

constexpr std::size_t kAlignment = 64;

std::byte* AllocateBytes(std::size_t bytes) {
  // Zero bytes get a pointer too: it says that the copy has been made.
  return static_cast<std::byte*>(::operator new(std::max<std::size_t>(bytes, 1),
                                                std::align_val_t(kAlignment),
                                                std::nothrow));
}

void FreeBytes(std::byte* data) {
  ::operator delete(data, std::align_val_t(kAlignment));
}

// Writes one element out `count` times, doubling what is there.
void FillRepeated(std::span<const std::byte> element, std::byte* to,
                  std::size_t bytes) {
  if (bytes == 0) return;
  std::memcpy(to, element.data(), element.size());
  for (std::size_t done = element.size(); done < bytes;) {
    const std::size_t more = std::min(done, bytes - done);
    std::memcpy(to + done, to, more);
    done += more;
  }
}

// The alignment that elements need to be read in place.
std::size_t ElementAlignment(DType dtype) {
  if (dtype == DType::kString) return 8;
  const int bytes = std::max(1, DTypeBits(dtype) / 8);
  return std::min<std::size_t>(static_cast<std::size_t>(bytes), 8);
}

Error NoMemory(std::size_t bytes) {
  return {ErrorCode::kOutOfMemory,
          "no memory for " + std::to_string(bytes) + " bytes of weights",
          {}};
}

}  // namespace

ProgramRef::ProgramRef(const ProgramRef& other) : program_(other.program_) {
  if (program_ != nullptr) program_->Ref();
}

ProgramRef::~ProgramRef() {
  if (program_ != nullptr) program_->Unref();
}

void Program::Unref() const {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

Program::~Program() {
  for (LoadedConstant& constant : constants_) {
    FreeBytes(constant.realigned);
    FreeBytes(constant.plain.load(std::memory_order_relaxed));
  }
}

std::optional<int64_t> PlainBytes(const bytecode::Constant& constant) {
  const std::optional<int64_t> count = ElementCount(constant.dims);
  if (!count.has_value()) return std::nullopt;
  return DTypeBytes(constant.dtype, *count);
}

Expected<ProgramRef> Program::LoadFile(const std::string& path,
                                       LoadOptions options) {
  TRY(MappedFile file, MappedFile::Open(path));
  auto kept = std::make_shared<const MappedFile>(std::move(file));
  auto module = bytecode::ReadModule(kept->bytes(), {.verify = false});
  if (!module.has_value()) {
    Error error = std::move(module).error();
    error.where = error.where.empty() ? path : path + ": " + error.where;
    return std::unexpected(std::move(error));
  }
  module->owned.push_back(std::move(kept));
  auto program = Load(std::move(*module), std::move(options));
  if (!program.has_value()) {
    Error error = std::move(program).error();
    error.where = error.where.empty() ? path : path + ": " + error.where;
    return std::unexpected(std::move(error));
  }
  return program;
}

Expected<ProgramRef> Program::LoadBytes(std::span<const std::byte> bytes,
                                        Bytes ownership, LoadOptions options) {
  std::shared_ptr<const void> copy;
  if (ownership == Bytes::kCopy) {
    std::byte* data = AllocateBytes(bytes.size());
    if (data == nullptr) return std::unexpected(NoMemory(bytes.size()));
    copy = std::shared_ptr<const void>(data, [](const void* p) {
      FreeBytes(static_cast<std::byte*>(const_cast<void*>(p)));
    });
    std::memcpy(data, bytes.data(), bytes.size());
    bytes = std::span(data, bytes.size());
  }
  TRY(bytecode::Module module, bytecode::ReadModule(bytes, {.verify = false}));
  if (copy != nullptr) module.owned.push_back(std::move(copy));
  return Load(std::move(module), std::move(options));
}

Expected<ProgramRef> Program::Load(bytecode::Module module,
                                   LoadOptions options) {
  RETURN_IF_ERROR(bytecode::Verify(module));
  auto* program = new Program();
  ProgramRef ref(program);
  program->module_ = std::move(module);
  RETURN_IF_ERROR(program->ResolveExternals(std::move(options.externals)));
  RETURN_IF_ERROR(program->PlaceConstants(options));
  return ref;
}

Status Program::ResolveExternals(std::vector<External> externals) {
  externals_ = std::move(externals);
  std::unordered_map<std::string_view, uint32_t> by_name;
  for (uint32_t i = 0; i < externals_.size(); ++i) {
    const External& external = externals_[i];
    if (external.function == nullptr) {
      return Fail(ErrorCode::kInvalidArgument,
                  "external function \"" + external.name + "\" is empty");
    }
    if (!by_name.emplace(external.name, i).second) {
      return Fail(
          ErrorCode::kInvalidArgument,
          "external function \"" + external.name + "\" is registered twice");
    }
  }
  external_of_string_.assign(module_.strings.size(), 0);
  std::string missing;
  for (const bytecode::StringId id : module_.externals) {
    const std::string& name = module_.string(id);
    const auto at = by_name.find(name);
    if (at == by_name.end()) {
      missing += (missing.empty() ? "\"" : ", \"") + name + "\"";
    } else {
      external_of_string_[id.index()] = at->second;
    }
  }
  if (!missing.empty()) {
    return Fail(ErrorCode::kNotFound,
                "external functions are not registered: " + missing);
  }
  return {};
}

Status Program::PlaceConstants(const LoadOptions& options) {
  constants_ = std::vector<LoadedConstant>(module_.constants.size());
  std::size_t realigned_count = 0;
  for (std::size_t i = 0; i < constants_.size(); ++i) {
    const bytecode::Constant& constant = module_.constants[i];
    if (constant.dims.size() > static_cast<std::size_t>(kMaxRank)) {
      return Fail(ErrorCode::kLimit,
                  "constant " + std::to_string(i) + " has " +
                      std::to_string(constant.dims.size()) + " dims, at most " +
                      std::to_string(kMaxRank) + " are possible");
    }
    const std::span<const std::byte> data = constant.data;
    LoadedConstant& loaded = constants_[i];
    loaded.stored = data;
    const std::size_t alignment = ElementAlignment(constant.dtype);
    if (std::bit_cast<uintptr_t>(data.data()) % alignment == 0) {
      in_place_bytes_ += data.size();
      continue;
    }
    loaded.realigned = AllocateBytes(data.size());
    if (loaded.realigned == nullptr) {
      return std::unexpected(NoMemory(data.size()));
    }
    std::memcpy(loaded.realigned, data.data(), data.size());
    loaded.stored = std::span(loaded.realigned, data.size());
    owned_bytes_ += data.size();
    ++realigned_count;
  }
  if (options.log) {
    options.log("weights: " + std::to_string(in_place_bytes_) +
                " bytes in place, " + std::to_string(owned_bytes_.load()) +
                " bytes copied to align " + std::to_string(realigned_count) +
                " constants");
  }
  return {};
}

Expected<const std::byte*> Program::PlainConstant(
    bytecode::ConstantId id) const {
  const bytecode::Constant& constant = module_.constants[id.index()];
  const LoadedConstant& loaded = constants_[id.index()];
  const bool repeated = constant.kind == bytecode::ConstantKind::kRepeat;
  if (!repeated && !constant.packing.has_value()) return loaded.stored.data();
  std::byte* plain = loaded.plain.load(std::memory_order_acquire);
  if (plain != nullptr) return plain;

  const std::optional<int64_t> plain_bytes = PlainBytes(constant);
  const int element_bytes = DTypeBits(constant.dtype) / 8;
  if (!plain_bytes.has_value() || element_bytes == 0) {
    return Fail(ErrorCode::kUnsupported,
                "constant " + std::to_string(id.index()) + " of dtype " +
                    std::string(DTypeName(constant.dtype)) +
                    " cannot be written out");
  }
  const auto bytes = static_cast<std::size_t>(*plain_bytes);
  std::byte* made = AllocateBytes(bytes);
  if (made == nullptr) return std::unexpected(NoMemory(bytes));
  if (repeated) {
    FillRepeated(loaded.stored, made, bytes);
  } else {
    kernels::UnpackConstant(*constant.packing, constant.dims, element_bytes,
                            loaded.stored.data(), made);
  }
  // Two sessions may have made it at once; the first one's copy is used.
  if (!loaded.plain.compare_exchange_strong(
          plain, made, std::memory_order_acq_rel, std::memory_order_acquire)) {
    FreeBytes(made);
    return plain;
  }
  owned_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  (repeated ? expanded_count_ : unpacked_count_)
      .fetch_add(1, std::memory_order_relaxed);
  return made;
}

WeightStats Program::weight_stats() const {
  return {.in_place_bytes = in_place_bytes_,
          .owned_bytes = owned_bytes_.load(std::memory_order_relaxed),
          .unpacked_count = unpacked_count_.load(std::memory_order_relaxed),
          .expanded_count = expanded_count_.load(std::memory_order_relaxed)};
}

}  // namespace ebb::vm
