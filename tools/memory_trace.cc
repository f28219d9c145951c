#include "tools/memory_trace.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "allocator/allocator.h"
#include "bytecode/operand_visitor.h"

namespace ebb::tools {
namespace {

using bytecode::Opcode;
using bytecode::Operand;
using bytecode::OperandKind;
using bytecode::Role;

uint64_t Granules(int64_t bytes) {
  constexpr uint64_t kGranule = allocator::kGranuleBytes;
  return (static_cast<uint64_t>(bytes) + kGranule - 1) / kGranule * kGranule;
}

// Bytes that come (positive) or go at a step.
struct Change {
  uint64_t step;
  int64_t bytes;
};

// The most bytes at one step. What goes at a step has gone before anything
// comes there.
Peak Highest(std::vector<Change> changes) {
  std::ranges::sort(changes, {}, [](const Change& change) {
    return std::pair(change.step, change.bytes);
  });
  Peak peak;
  int64_t live = 0;
  for (const Change& change : changes) {
    live += change.bytes;
    if (live > static_cast<int64_t>(peak.bytes)) {
      peak = {static_cast<uint64_t>(live), change.step};
    }
  }
  return peak;
}

}  // namespace

std::string_view BufferUseName(BufferUse use) {
  switch (use) {
    case BufferUse::kActivation:
      return "activation";
    case BufferUse::kScratch:
      return "scratch";
    case BufferUse::kOutput:
      return "output";
    case BufferUse::kCopiedInput:
      return "copied input";
  }
  return "";
}

void MemoryTrace::BeforeInstruction(const vm::InstructionEvent& event) {
  if (module_ == nullptr) {
    module_ = &event.module;
    new_buffers_.clear();
    const bytecode::Function& entry = module_->function(event.function);
    frames_.push_back(
        {event.function, std::vector<Behind>(entry.hold_register_count)});
  } else {
    Apply(event.function);
  }
  ++step_;
  instruction_ = event.instruction;
}

void MemoryTrace::OnMemory(const vm::MemoryEvent& event) {
  if (is_over_) return;
  switch (event.kind) {
    case vm::MemoryEventKind::kKill:
      return;
    case vm::MemoryEventKind::kRelease: {
      const auto found = at_address_.find(event.address);
      // Not there: an output of a run before this one, or nothing at all.
      if (event.bytes == 0 || found == at_address_.end()) return;
      buffers_[found->second].released = step_;
      live_bytes_ -= buffers_[found->second].bytes;
      at_address_.erase(found);
      return;
    }
    case vm::MemoryEventKind::kAllocate:
    case vm::MemoryEventKind::kReuse:
      break;
  }
  const auto id = static_cast<uint32_t>(buffers_.size());
  TracedBuffer buffer;
  buffer.name = event.name;
  buffer.bytes = Granules(event.bytes);
  buffer.allocated = step_;
  buffer.released = kNever;
  buffer.first_used = kNever;
  if (module_ == nullptr) {
    buffer.use = BufferUse::kCopiedInput;
    buffer.first_used = 0;
  }
  live_bytes_ += buffer.bytes;
  if (live_bytes_ > measured_.bytes) measured_ = {live_bytes_, step_};
  buffers_.push_back(std::move(buffer));
  has_tensor_.push_back(0);
  new_buffers_.push_back(id);
  // Buffers of no bytes may all have one address.
  if (event.bytes != 0) at_address_[event.address] = id;
}

void MemoryTrace::Finish() {
  if (is_over_ || module_ == nullptr) return;
  Apply({});
  is_over_ = true;
  for (TracedBuffer& buffer : buffers_) {
    if (buffer.use == BufferUse::kCopiedInput) buffer.last_used = step_;
  }
}

const bytecode::Instruction& MemoryTrace::instruction() const {
  return module_->function(frames_.back().function).code[instruction_];
}

template <class Visitor>
void MemoryTrace::Operands(Visitor&& visitor) const {
  bytecode::ForEachOperand(module_->function(frames_.back().function),
                           instruction(), visitor);
}

void MemoryTrace::Join(Behind& to, const Behind& from) {
  for (const uint32_t id : from) {
    if (std::ranges::find(to, id) == to.end()) to.push_back(id);
  }
}

void MemoryTrace::Use(const Behind& behind, bytecode::SiteId site,
                      bool as_scratch) {
  for (const uint32_t id : behind) {
    TracedBuffer& buffer = buffers_[id];
    if (buffer.first_used == kNever) {
      buffer.first_used = step_;
      if (as_scratch) buffer.use = BufferUse::kScratch;
    } else if (!as_scratch && buffer.use == BufferUse::kScratch) {
      buffer.use = BufferUse::kActivation;
    }
    if (site.valid() && buffer.op.empty()) {
      const bytecode::Site& at = module_->sites[site.index()];
      buffer.op = InfoOf(at.code).mnemonic;
      buffer.node = module_->string(at.node);
    }
    buffer.last_used = step_;
  }
}

void MemoryTrace::Apply(bytecode::FunctionId next_function) {
  switch (instruction().opcode) {
    case Opcode::kCall:
    case Opcode::kCallClosure:
      ApplyCall(next_function);
      break;
    case Opcode::kReturn:
      ApplyReturn();
      break;
    case Opcode::kOp:
    case Opcode::kOpAlloc:
      ApplyOperator();
      break;
    default:
      ApplyOther();
      break;
  }
  new_buffers_.clear();
}

// The arguments come first, then what a closure captured.
void MemoryTrace::ApplyCall(bytecode::FunctionId callee) {
  const bytecode::Function& function = module_->function(callee);
  Frame frame{callee, std::vector<Behind>(function.hold_register_count)};
  std::vector<int64_t> results;
  Behind captured;
  std::size_t argument = 0;
  Operands([&](const Operand& operand) {
    if (operand.role == Role::kDefHolds &&
        operand.kind != OperandKind::kCount) {
      results.push_back(operand.kind == OperandKind::kHold
                            ? operand.value
                            : bytecode::kNoRegister);
    } else if (operand.kind == OperandKind::kHold) {
      if (operand.role == Role::kUse) {
        captured = hold(operand.value);
      } else {
        frame.holds[argument++] = hold(operand.value);
        if (operand.moved) hold(operand.value).clear();
      }
    }
  });
  for (; argument < function.params.size(); ++argument) {
    frame.holds[argument] = captured;
  }
  results_.push_back(std::move(results));
  frames_.push_back(std::move(frame));
}

void MemoryTrace::ApplyReturn() {
  std::vector<Behind> values;
  Operands([&](const Operand& operand) {
    if (operand.kind == OperandKind::kHold) {
      values.push_back(hold(operand.value));
    }
  });
  if (frames_.size() == 1) {
    // The session may have copied outputs since.
    values.push_back(new_buffers_);
    for (const Behind& value : values) {
      Use(value);
      for (const uint32_t id : value) buffers_[id].use = BufferUse::kOutput;
    }
    return;
  }
  frames_.pop_back();
  const std::vector<int64_t> results = std::move(results_.back());
  results_.pop_back();
  for (std::size_t i = 0; i < results.size() && i < values.size(); ++i) {
    if (results[i] != bytecode::kNoRegister) {
      hold(results[i]) = std::move(values[i]);
    }
  }
}

void MemoryTrace::ApplyOperator() {
  bytecode::SiteId site;
  std::size_t made = 0;
  std::size_t result = 0;
  // What the operator writes comes first, so that it is named after it.
  Operands([&](const Operand& operand) {
    if (operand.role == Role::kSiteRef) {
      site = bytecode::SiteId(static_cast<std::size_t>(operand.value));
      operators_.push_back({step_, site});
    } else if (operand.role == Role::kDefHolds &&
               operand.kind != OperandKind::kCount) {
      // Each result has a buffer of its own; the first also when unwanted.
      Behind behind;
      const bool is_wanted = operand.kind == OperandKind::kHold;
      if ((is_wanted || result == 0) && made < new_buffers_.size()) {
        behind.push_back(new_buffers_[made++]);
        has_tensor_[behind[0]] = 1;
      }
      Use(behind, site);
      if (is_wanted) hold(operand.value) = std::move(behind);
      ++result;
    } else if (operand.kind == OperandKind::kHold) {
      const bool is_written = operand.WritesThrough();
      const bool is_scratch = operand.role == Role::kOptUse;
      Use(hold(operand.value),
          is_written || is_scratch ? site : bytecode::SiteId(), is_scratch);
    }
  });
  // Scratch that the session took itself.
  Use(Behind(new_buffers_.begin() + static_cast<std::ptrdiff_t>(made),
             new_buffers_.end()),
      site, /*as_scratch=*/true);
}

void MemoryTrace::ApplyOther() {
  const Opcode opcode = instruction().opcode;
  // These hand values on and look at no bytes.
  const bool hands_on =
      opcode == Opcode::kAllocTensor || opcode == Opcode::kView ||
      opcode == Opcode::kShare || opcode == Opcode::kMove ||
      opcode == Opcode::kMakeTuple || opcode == Opcode::kMakeSequence ||
      opcode == Opcode::kMakeOptional || opcode == Opcode::kGetField ||
      opcode == Opcode::kSequenceInsert || opcode == Opcode::kSequenceErase ||
      opcode == Opcode::kMakeClosure;
  std::vector<int64_t> filled;
  Behind behind = new_buffers_;
  Operands([&](const Operand& operand) {
    if (operand.kind != OperandKind::kHold) return;
    if (operand.Fills()) {
      filled.push_back(operand.value);
      return;
    }
    Behind& source = hold(operand.value);
    if (!operand.Kills()) {
      if (!hands_on) Use(source);
      Join(behind, source);
    }
    if (operand.Empties()) source.clear();
  });
  if (opcode == Opcode::kCallExternal) Use(new_buffers_);
  if (opcode == Opcode::kAllocTensor) {
    const bytecode::Function& function =
        module_->function(frames_.back().function);
    for (const uint32_t id : behind) {
      if (has_tensor_[id] != 0 || function.value_names.empty()) continue;
      has_tensor_[id] = 1;
      buffers_[id].name = module_->string(function.value_names[instruction_]);
    }
  }
  for (const int64_t index : filled) hold(index) = behind;
}

uint64_t MemoryTrace::TotalBytes() const {
  uint64_t total = 0;
  for (const TracedBuffer& buffer : buffers_) total += buffer.bytes;
  return total;
}

Peak MemoryTrace::LowerBound() const {
  assert(is_over_);
  std::vector<Change> changes;
  for (const TracedBuffer& buffer : buffers_) {
    if (buffer.first_used == kNever) continue;
    const auto bytes = static_cast<int64_t>(buffer.bytes);
    changes.push_back({buffer.first_used, bytes});
    changes.push_back({buffer.last_used + 1, -bytes});
  }
  return Highest(std::move(changes));
}

std::vector<std::size_t> MemoryTrace::LiveAt(uint64_t step) const {
  std::vector<std::size_t> live;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (buffers_[i].bytes != 0 && buffers_[i].allocated <= step &&
        buffers_[i].released >= step) {
      live.push_back(i);
    }
  }
  std::ranges::stable_sort(live, std::ranges::greater(),
                           [&](std::size_t i) { return buffers_[i].bytes; });
  return live;
}

std::string MemoryTrace::OperatorAt(uint64_t step) const {
  const auto found =
      std::ranges::lower_bound(operators_, step, {}, &Place::step);
  if (found == operators_.end()) return "";
  const bytecode::Site& site = module_->sites[found->site.index()];
  std::string text(InfoOf(site.code).mnemonic);
  const std::string& node = module_->string(site.node);
  if (!node.empty()) text += " \"" + node + "\"";
  return text;
}

}  // namespace ebb::tools
