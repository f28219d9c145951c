#include "compiler/ir/verifier.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ir/constant_text.h"
#include "compiler/ir/instr_info.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify_instr.h"

namespace ebb::ir {
namespace {

using enum InstrKind;

// What has become of a value on the path that is being walked.
enum class State : uint8_t {
  kUndefined,
  kLive,
  kKilled,
  kMoved,
  kOutOfSight,  // Its region has ended.
};

class FunctionVerifier {
 public:
  FunctionVerifier(const Module& module, const FunctionNames& functions,
                   const Function& function)
      : module_(module),
        functions_(functions),
        function_(function),
        owned_(OwnedValues(function)),
        state_(function.values.size(), State::kUndefined),
        loop_depth_of_(function.values.size(), 0),
        region_seen_(function.regions.size(), false) {}

  Status Run();

 private:
  std::string NameOf(ValueId value) const {
    return SigilName('%', function_.value(value).name);
  }
  std::unexpected<Error> Bad(const Instr& instr, std::string message) const {
    return FailAt(function_, instr, std::move(message));
  }
  Status CheckIds(const Instr& instr) const;
  Status Define(ValueId value, const Instr& at);
  Status Use(ValueId value, const Instr& instr);
  Status UseOperands(const Instr& instr);
  Status MoveOperands(const Instr& instr);
  // Ends a hold by kill or move.
  Status End(ValueId value, State how, const Instr& instr);
  Status Walk(RegionId region, InstrKind terminator, const Instr& owner,
              int depth);
  Status WalkInstr(const Instr& instr, int depth);
  Status WalkIf(const Instr& instr, int depth);
  Status WalkLoop(const Instr& instr, int depth);

  const Module& module_;
  const FunctionNames& functions_;
  const Function& function_;
  std::vector<bool> owned_;
  std::vector<State> state_;
  // Loops around the definition; holds from outside a loop outlive its steps.
  std::vector<int> loop_depth_of_;
  int loop_depth_ = 0;
  // Values whose hold ended, in order, to take back for the other branch.
  std::vector<ValueId> ended_;
  std::vector<bool> region_seen_;
  std::unordered_set<std::string_view> names_;
};

// Everything that is an index points somewhere.
Status FunctionVerifier::CheckIds(const Instr& instr) const {
  const auto in_range = [&](ValueId id) {
    return !id.valid() || id.index() < function_.values.size();
  };
  bool fine = in_range(instr.scratch) &&
              std::ranges::all_of(instr.results, in_range) &&
              std::ranges::all_of(instr.outs, in_range);
  for (const Operand& operand : instr.operands) {
    fine = fine && in_range(operand.value);
  }
  for (const RegionId region : instr.regions) {
    fine = fine && region.valid() && region.index() < function_.regions.size();
  }
  return fine ? Status() : Bad(instr, "an id of the instruction is wrong");
}

Status FunctionVerifier::Define(ValueId value, const Instr& at) {
  if (!value.valid() || value.index() >= function_.values.size()) {
    return Bad(at, "a parameter has no value");
  }
  const Value& row = function_.value(value);
  if (row.name.empty()) return Bad(at, "a value has no name");
  if (state_[value.index()] != State::kUndefined ||
      !names_.insert(row.name).second) {
    return Bad(at, NameOf(value) + " is defined twice");
  }
  state_[value.index()] = State::kLive;
  loop_depth_of_[value.index()] = loop_depth_;
  return {};
}

Status FunctionVerifier::Use(ValueId value, const Instr& instr) {
  if (!value.valid()) return {};
  switch (state_[value.index()]) {
    case State::kLive:
      return {};
    case State::kUndefined:
      return Bad(instr, NameOf(value) + " is used before it is defined");
    case State::kKilled:
      return Bad(instr, NameOf(value) + " is used after it was killed");
    case State::kMoved:
      return Bad(instr, NameOf(value) + " is used after it was moved");
    case State::kOutOfSight:
      return Bad(instr, NameOf(value) + " is used outside the region it is in");
  }
  return {};
}

Status FunctionVerifier::End(ValueId value, State how, const Instr& instr) {
  const std::string what = how == State::kKilled ? "killed" : "moved";
  RETURN_IF_ERROR(Use(value, instr));
  if (!owned_[value.index()]) {
    return Bad(instr, NameOf(value) + " is " + what +
                          ", but the function does not own it");
  }
  if (loop_depth_of_[value.index()] != loop_depth_) {
    return Bad(instr, NameOf(value) + " is " + what +
                          " in a loop that it was defined outside of");
  }
  state_[value.index()] = how;
  ended_.push_back(value);
  return {};
}

Status FunctionVerifier::UseOperands(const Instr& instr) {
  if (IsKill(instr.kind)) {
    for (const Operand& operand : instr.operands) {
      RETURN_IF_ERROR(End(operand.value, State::kKilled, instr));
    }
    return {};
  }
  // What is moved may be shared by an operand before it.
  for (const Operand& operand : instr.operands) {
    if (!operand.move) {
      RETURN_IF_ERROR(Use(operand.value, instr));
    }
  }
  for (const ValueId out : instr.outs) {
    RETURN_IF_ERROR(Use(out, instr));
  }
  RETURN_IF_ERROR(Use(instr.scratch, instr));
  return MoveOperands(instr);
}

Status FunctionVerifier::MoveOperands(const Instr& instr) {
  const auto moves = [](const Operand& operand) { return operand.move; };
  if (std::ranges::none_of(instr.operands, moves)) return {};
  // Whoever borrows a value must find it held until the end, and a share must
  // come before the move: by value, the place of the last such use.
  std::unordered_map<ValueId, std::size_t> kept_until;
  for (std::size_t i = 0; i < instr.operands.size(); ++i) {
    const Operand& operand = instr.operands[i];
    if (operand.move || !operand.value.valid()) continue;
    const bool read = UseOf(functions_, function_, instr, i) == ir::Use::kRead;
    std::size_t& until = kept_until[operand.value];
    until = std::max(until, read ? SIZE_MAX : i);
  }
  for (std::size_t i = 0; i < instr.operands.size(); ++i) {
    const Operand& operand = instr.operands[i];
    if (!operand.move) continue;
    if (!operand.value.valid()) return Bad(instr, "nothing is moved");
    if (UseOf(functions_, function_, instr, i) == ir::Use::kRead) {
      return Bad(instr, NameOf(operand.value) +
                            " is moved to an operand that is only read");
    }
    const auto kept = kept_until.find(operand.value);
    if (kept != kept_until.end() && kept->second > i) {
      return Bad(instr, NameOf(operand.value) +
                            " is moved and used by the same instruction");
    }
    RETURN_IF_ERROR(End(operand.value, State::kMoved, instr));
  }
  return {};
}

Status FunctionVerifier::WalkIf(const Instr& instr, int depth) {
  const std::size_t before = ended_.size();
  RETURN_IF_ERROR(Walk(instr.regions[0], kYield, instr, depth + 1));
  // The other branch starts with all that the first one ended.
  std::vector<std::pair<ValueId, State>> first;
  for (std::size_t i = before; i < ended_.size(); ++i) {
    State& state = state_[ended_[i].index()];
    if (state == State::kOutOfSight) continue;
    first.emplace_back(ended_[i], state);
    state = State::kLive;
  }
  ended_.resize(before);
  RETURN_IF_ERROR(Walk(instr.regions[1], kYield, instr, depth + 1));
  for (const auto& [value, state] : first) {
    if (state_[value.index()] != State::kLive) continue;
    state_[value.index()] = state;
    ended_.push_back(value);
  }
  return {};
}

Status FunctionVerifier::WalkLoop(const Instr& instr, int depth) {
  ++loop_depth_;
  const Region& body = function_.region(instr.regions[0]);
  for (const ValueId param : body.params) {
    RETURN_IF_ERROR(Define(param, instr));
  }
  RETURN_IF_ERROR(Walk(instr.regions[0], kContinue, instr, depth + 1));
  for (const ValueId param : body.params) {
    state_[param.index()] = State::kOutOfSight;
  }
  --loop_depth_;
  return {};
}

Status FunctionVerifier::WalkInstr(const Instr& instr, int depth) {
  RETURN_IF_ERROR(CheckIds(instr));
  RETURN_IF_ERROR(VerifyInstr(module_, functions_, function_, instr));
  RETURN_IF_ERROR(UseOperands(instr));
  if (instr.kind == kIf) {
    RETURN_IF_ERROR(WalkIf(instr, depth));
  } else if (instr.kind == kLoop) {
    RETURN_IF_ERROR(WalkLoop(instr, depth));
  }
  for (const ValueId result : instr.results) {
    if (!result.valid()) continue;
    RETURN_IF_ERROR(Define(result, instr));
    const InstrId def = function_.value(result).def;
    if (!def.valid() || def.index() >= function_.instrs.size() ||
        &function_.instr(def) != &instr) {
      return Bad(instr, NameOf(result) + " names another definition");
    }
  }
  return {};
}

// Recursion is as deep as regions nest, which is checked here.
Status FunctionVerifier::Walk(RegionId region, InstrKind terminator,
                              const Instr& owner, int depth) {
  if (depth > kMaxNesting) {
    return FailAt(function_, owner,
                  "regions nest deeper than " + std::to_string(kMaxNesting),
                  ErrorCode::kLimit);
  }
  if (region_seen_[region.index()]) return Bad(owner, "a region stands twice");
  region_seen_[region.index()] = true;
  const std::vector<InstrId>& code = function_.region(region).instrs;
  const std::string word(KindMnemonic(terminator));
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (!code[i].valid() || code[i].index() >= function_.instrs.size()) {
      return Bad(owner, "a region lists no instruction");
    }
    const Instr& instr = function_.instr(code[i]);
    const bool last = i + 1 == code.size();
    if (last && instr.kind != terminator) {
      return Bad(instr, "region does not end with " + word);
    }
    if (!last && IsTerminator(instr.kind)) {
      return Bad(instr, std::string(KindMnemonic(instr.kind)) +
                            " stands before the end of its region");
    }
    RETURN_IF_ERROR(WalkInstr(instr, depth));
  }
  if (code.empty()) return Bad(owner, "region does not end with " + word);
  for (const InstrId id : code) {
    for (const ValueId result : function_.instr(id).results) {
      if (result.valid()) state_[result.index()] = State::kOutOfSight;
    }
  }
  return {};
}

Status FunctionVerifier::Run() {
  Instr entry;
  entry.location = function_.location;
  for (const Param& param : function_.params) {
    RETURN_IF_ERROR(Define(param.value, entry));
    if (param.default_value.valid() &&
        param.default_value.index() >= module_.constants.size()) {
      return Bad(entry, "a default names no constant of the module");
    }
  }
  if (!function_.result_names.empty() &&
      function_.result_names.size() != function_.result_types.size()) {
    return Bad(entry,
               std::to_string(function_.result_names.size()) + " names for " +
                   std::to_string(function_.result_types.size()) + " results");
  }
  if (!function_.body.valid()) return {};
  if (function_.body.index() >= function_.regions.size()) {
    return Bad(entry, "the body is no region of the function");
  }
  return Walk(function_.body, kReturn, entry, 1);
}

// Data of a plain constant has as many bytes as its dims say.
Status VerifyConstant(const Constant& constant) {
  const std::string name = "constant " + SigilName('@', constant.name);
  const auto fail = [&](std::string message) {
    return Fail(ErrorCode::kInvalidFile, name + ": " + std::move(message));
  };
  const auto count = ElementCount(constant.dims);
  if (!count.has_value()) return fail("dims are negative or overflow");
  if (constant.declared_only || constant.packing.has_value()) return {};
  if (constant.dtype == DType::kString) {
    const auto strings =
        UnpackStrings(constant.data, constant.repeat ? 1 : *count);
    if (!strings.has_value()) return fail("offsets of the strings are wrong");
    return {};
  }
  const auto bytes = DTypeBytes(constant.dtype, constant.repeat ? 1 : *count);
  if (!bytes.has_value()) return fail("has no dtype, or overflows");
  if (static_cast<int64_t>(constant.data.size()) != *bytes) {
    return fail("holds " + std::to_string(constant.data.size()) +
                " bytes, its dims need " + std::to_string(*bytes));
  }
  return {};
}

}  // namespace

Status Verify(const Module& module) {
  for (const Constant& constant : module.constants) {
    RETURN_IF_ERROR(VerifyConstant(constant));
  }
  if (module.entry.valid() && module.entry.index() >= module.functions.size()) {
    return Fail(ErrorCode::kInvalidFile, "the entry is no function");
  }
  const FunctionNames functions(module);
  std::unordered_set<std::string_view> names;
  for (const Function& function : module.functions) {
    if (function.name.empty() || !names.insert(function.name).second) {
      Instr at;
      at.location = function.location;
      return FailAt(function, at,
                    "function " + SigilName('@', function.name) +
                        " has no name of its own");
    }
    RETURN_IF_ERROR(FunctionVerifier(module, functions, function).Run());
  }
  return {};
}

}  // namespace ebb::ir
