// Over 400 lines: one random walk whose parts (memory, operators, calls,
// control flow) all work on the state of the same registers.
#include "tests/bytecode/program_generator.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/function_builder.h"
#include "tests/bytecode/table_generator.h"

namespace ebb::bytecode {
namespace {

// What a hold register of the generated function holds.
enum class Held : uint8_t { kNothing, kTensor, kStorage, kObject, kBorrowed };

class FunctionGenerator {
 public:
  FunctionGenerator(ModuleBuilder& module, Random& random, FunctionId id,
                    std::span<const SiteId> sites, int nesting)
      : module_(module),
        random_(random),
        sites_(sites),
        nesting_(nesting),
        b_(module, id) {
    const Function& declared = module.module().function(id);
    for (const Param& param : declared.params) {
      held_.push_back(param.donated ? Held::kTensor : Held::kBorrowed);
    }
    b_.function().params = declared.params;
    b_.function().results = declared.results;
    b_.function().hold_register_count = static_cast<uint32_t>(held_.size());
  }

  void Run(int statement_count) {
    WriteInt();
    Statements(statement_count, 0);
    // A tensor for each result, then everything else goes.
    std::vector<PassOperand> results;
    for (std::size_t i = 0; i < b_.function().results.size(); ++i) {
      const int64_t storage = Storage();
      const int64_t result = AllocTensor(storage);
      held_[static_cast<std::size_t>(result)] = Held::kNothing;
      results.push_back(PassOperand::Move(result));
      returned_.push_back(result);
    }
    KillAllBut({});
    b_.Emit(Opcode::kReturn).Passes(results);
    b_.Finish();
  }

 private:
  int64_t Fill(Held kind) {
    std::vector<int64_t> empty;
    for (std::size_t i = 0; i < held_.size(); ++i) {
      const auto hold = static_cast<int64_t>(i);
      if (held_[i] == Held::kNothing &&
          std::find(returned_.begin(), returned_.end(), hold) ==
              returned_.end()) {
        empty.push_back(hold);
      }
    }
    if (empty.empty() || random_.Chance(10)) {
      empty = {static_cast<int64_t>(held_.size())};
      held_.push_back(Held::kNothing);
    }
    const int64_t hold =
        empty[static_cast<std::size_t>(random_.Below(empty.size()))];
    held_[static_cast<std::size_t>(hold)] = kind;
    return hold;
  }
  // A register that holds a value of this kind, or any for kNothing.
  int64_t Find(Held kind) {
    std::vector<int64_t> found;
    for (std::size_t i = 0; i < held_.size(); ++i) {
      if (held_[i] != Held::kNothing &&
          (kind == Held::kNothing || held_[i] == kind)) {
        found.push_back(static_cast<int64_t>(i));
      }
    }
    if (found.empty()) return -1;
    return found[static_cast<std::size_t>(random_.Below(found.size()))];
  }
  int64_t Storage() {
    const int64_t found = Find(Held::kStorage);
    if (found >= 0 && random_.Chance(50)) return found;
    const int64_t hold = Fill(Held::kStorage);
    b_.Emit(Opcode::kAllocStorage)
        .DefHold(hold)
        .Int(Int())
        .Imm(int64_t{1} << random_.Below(13));
    Name();
    return hold;
  }
  int64_t Tensor() {
    const int64_t found = Find(Held::kTensor);
    return found >= 0 && random_.Chance(80) ? found : AllocTensor(Storage());
  }
  int64_t AllocTensor(int64_t storage) {
    const int64_t hold = Fill(Held::kTensor);
    Place(b_.Emit(Opcode::kAllocTensor).DefHold(hold).Use(storage));
    Name();
    return hold;
  }
  void Place(FunctionBuilder::Operands operands) {
    const std::vector<IntOperand> dims = Ints(4);
    operands.Int(Int()).DTypeCode(DType::kF32).IntList(dims);
    operands.IntList(random_.Chance(50) ? dims : std::vector<IntOperand>());
  }

  IntOperand Int() {
    if (!ints_.empty() && random_.Chance(50)) {
      return IntOperand::Register(
          ints_[static_cast<std::size_t>(random_.Below(ints_.size()))]);
    }
    return IntOperand::Immediate(random_.Number());
  }
  std::vector<IntOperand> Ints(std::size_t most) {
    std::vector<IntOperand> ints(
        static_cast<std::size_t>(random_.Below(most + 1)));
    for (IntOperand& i : ints) i = Int();
    return ints;
  }
  int64_t DefineInt() {
    const int64_t index =
        next_int_ == 0 || random_.Chance(40)
            ? next_int_++
            : random_.Below(static_cast<std::size_t>(next_int_));
    if (std::find(reserved_.begin(), reserved_.end(), index) !=
        reserved_.end()) {
      return next_int_++;
    }
    return index;
  }
  void Written(int64_t index) {
    if (std::find(ints_.begin(), ints_.end(), index) == ints_.end()) {
      ints_.push_back(index);
    }
  }
  void WriteInt() {
    const IntOperand a = Int();
    const IntOperand b = Int();
    const int64_t index = DefineInt();
    constexpr Opcode kBinary[] = {
        Opcode::kIntAdd,      Opcode::kIntSub,     Opcode::kIntMul,
        Opcode::kIntFloorDiv, Opcode::kIntCeilDiv, Opcode::kIntMod,
        Opcode::kIntMin,      Opcode::kIntMax,     Opcode::kIntLess};
    if (random_.Chance(20)) {
      b_.Emit(Opcode::kIntMove).DefInt(index).Int(a);
    } else {
      b_.Emit(kBinary[random_.Below(std::size(kBinary))])
          .DefInt(index)
          .Int(a)
          .Int(b);
    }
    Written(index);
  }
  void Name() {
    if (random_.Chance(30)) last_ = "v" + std::to_string(random_.Below(50));
    if (last_.empty()) return;
    auto& function = b_.function();
    function.value_names.resize(function.code.size());
    function.value_names.back() = module_.InternString(last_);
    last_.clear();
  }
  StringId Message() { return module_.InternString("a check failed"); }

  void KillAllBut(const std::vector<Held>& outer) {
    std::vector<int64_t> lists[3];
    for (std::size_t i = 0; i < held_.size(); ++i) {
      if (i < outer.size() && outer[i] != Held::kNothing) continue;
      if (held_[i] == Held::kNothing || held_[i] == Held::kBorrowed) continue;
      lists[static_cast<std::size_t>(held_[i]) - 1].push_back(
          static_cast<int64_t>(i));
      held_[i] = Held::kNothing;
    }
    constexpr Opcode kKills[] = {Opcode::kKillTensor, Opcode::kKillStorage,
                                 Opcode::kKillObject};
    for (std::size_t k = 0; k < 3; ++k) {
      if (!lists[k].empty()) b_.Emit(kKills[k]).Kills(lists[k]);
    }
  }
  void KillOne(int64_t hold) {
    const auto index = static_cast<std::size_t>(hold);
    std::vector<Held> outer = held_;
    outer[index] = Held::kNothing;
    KillAllBut(outer);
  }

  // A value that is passed on, by move where the block owns it.
  PassOperand Pass() {
    const int64_t hold = Tensor();
    const auto index = static_cast<std::size_t>(hold);
    const bool is_local =
        index >= outer_.size() || outer_[index] == Held::kNothing;
    if (!is_local || random_.Chance(50)) return PassOperand::Share(hold);
    // Not to be filled before the instruction that takes it is there.
    held_[index] = Held::kBorrowed;
    moved_.push_back(hold);
    return PassOperand::Move(hold);
  }
  std::vector<PassOperand> Passes(std::size_t count) {
    std::vector<PassOperand> passes;
    for (std::size_t i = 0; i < count; ++i) passes.push_back(Pass());
    return passes;
  }
  // After the instruction that the values were passed to.
  void EndMoves() {
    for (const int64_t hold : moved_) {
      held_[static_cast<std::size_t>(hold)] = Held::kNothing;
    }
    moved_.clear();
  }
  std::vector<int64_t> Results(std::size_t count) {
    // A result may take the register of a moved argument.
    if (random_.Chance(50)) EndMoves();
    std::vector<int64_t> results;
    for (std::size_t i = 0; i < count; ++i) {
      results.push_back(random_.Chance(20) ? kNoRegister : Fill(Held::kTensor));
    }
    return results;
  }

  std::vector<InOperand> Inputs(const OperatorInfo& info) {
    const int most = std::min(info.max_inputs, info.min_inputs + 3);
    const int count =
        info.min_inputs +
        random_.Below(static_cast<std::size_t>(most - info.min_inputs + 1));
    std::vector<InOperand> inputs;
    for (int i = 0; i < count; ++i) {
      const auto index = static_cast<std::size_t>(i);
      if (i >= info.min_inputs && random_.Chance(30)) {
        inputs.push_back(InOperand::None());
      } else if (info.ReadsValue(index) && random_.Chance(60)) {
        inputs.push_back(InOperand::Ints(Ints(4)));
      } else {
        inputs.push_back(InOperand::Hold(Tensor()));
      }
    }
    return inputs;
  }

  void Operator() {
    const SiteId site =
        sites_[static_cast<std::size_t>(random_.Below(sites_.size()))];
    const OperatorInfo& info =
        InfoOf(module_.module().sites[site.index()].code);
    const std::vector<InOperand> inputs = Inputs(info);
    const int output_count =
        1 +
        random_.Below(static_cast<std::size_t>(std::min(info.max_outputs, 3)));
    std::vector<int64_t> outputs;
    const int choice = random_.Below(3);
    for (int i = 0; i < output_count; ++i) {
      const bool absent = i > 0 && random_.Chance(40);
      outputs.push_back(absent        ? kNoRegister
                        : choice == 0 ? Fill(Held::kTensor)
                                      : Tensor());
    }
    if (choice == 0) {
      b_.Emit(Opcode::kOpAlloc).Site(site).DefHolds(outputs).Ins(inputs);
      Name();
    } else if (choice == 1) {
      const int64_t index = DefineInt();
      b_.Emit(Opcode::kScratchBytes)
          .DefInt(index)
          .Site(site)
          .Outs(outputs)
          .Ins(inputs);
      Written(index);
    } else {
      const int64_t scratch = random_.Chance(50) ? Tensor() : kNoRegister;
      b_.Emit(Opcode::kOp).Site(site).Outs(outputs).Ins(inputs).OptUse(scratch);
    }
  }

  void Call() {
    const auto& functions = module_.module().functions;
    const FunctionId id(
        static_cast<std::size_t>(random_.Below(functions.size())));
    const std::size_t param_count = functions[id.index()].params.size();
    switch (random_.Below(4)) {
      case 0: {
        const auto passes = Passes(param_count);
        const auto results = Results(functions[id.index()].results.size());
        b_.Emit(Opcode::kCall).Function(id).DefHolds(results).Passes(passes);
        return;
      }
      case 1: {
        const int64_t use = Tensor();
        // What an external gives back may be anything; kept as an object.
        const int64_t result = Fill(Held::kObject);
        b_.Emit(Opcode::kCallExternal)
            .String(module_.AddExternal("external"))
            .DefHolds({result, kNoRegister})
            .Uses({use, use})
            .IntList(Ints(3));
        return Name();
      }
      case 2: {
        const auto passes =
            Passes(static_cast<std::size_t>(random_.Below(param_count + 1)));
        const int64_t result = Fill(Held::kObject);
        b_.Emit(Opcode::kMakeClosure)
            .DefHold(result)
            .Function(id)
            .Passes(passes);
        return Name();
      }
      default: {
        const int64_t closure = Find(Held::kObject);
        if (closure < 0) return;
        const auto passes = Passes(1);
        const auto results = Results(2);
        b_.Emit(Opcode::kCallClosure)
            .Use(closure)
            .DefHolds(results)
            .Passes(passes);
      }
    }
  }

  void Object() {
    constexpr Opcode kPacks[] = {Opcode::kMakeTuple, Opcode::kMakeSequence,
                                 Opcode::kMakeOptional};
    const int64_t object = Find(Held::kObject);
    const int choice = object < 0 ? 0 : random_.Below(5);
    if (choice == 0) {
      const Opcode opcode = kPacks[random_.Below(3)];
      const std::size_t most = opcode == Opcode::kMakeOptional ? 2 : 5;
      const auto passes = Passes(static_cast<std::size_t>(random_.Below(most)));
      const int64_t result = Fill(Held::kObject);
      b_.Emit(opcode).DefHold(result).Passes(passes);
    } else if (choice == 1) {
      const int64_t result = Fill(Held::kObject);
      b_.Emit(Opcode::kGetField).DefHold(result).Use(object).Int(Int());
    } else if (choice == 2) {
      const PassOperand value = Pass();
      const int64_t result = Fill(Held::kObject);
      b_.Emit(Opcode::kSequenceInsert)
          .DefHold(result)
          .Pass(PassOperand::Share(object))
          .Pass(value)
          .Int(Int());
    } else if (choice == 3) {
      const int64_t result = Fill(Held::kObject);
      b_.Emit(Opcode::kSequenceErase)
          .DefHold(result)
          .Pass(PassOperand::Share(object))
          .Int(Int());
    } else {
      const int64_t index = DefineInt();
      b_.Emit(Opcode::kLengthOf).DefInt(index).Use(object);
      return Written(index);
    }
    Name();
  }

  void Check() {
    switch (random_.Below(6)) {
      case 0:
        b_.Emit(Opcode::kAssertEqual).Int(Int()).Int(Int()).String(Message());
        return;
      case 1:
        b_.Emit(Opcode::kAssertRange)
            .Int(Int())
            .Int(Int())
            .Int(Int())
            .String(Message());
        return;
      case 2: {
        const int64_t tensor = Tensor();
        b_.Emit(Opcode::kAssertTensor)
            .Use(tensor)
            .DTypeCode(static_cast<DType>(1 + random_.Below(23)))
            .Imm(random_.Below(17))
            .String(Message());
        return;
      }
      case 3: {
        const int64_t tensor = Tensor();
        const int64_t index = DefineInt();
        b_.Emit(Opcode::kDimOf).DefInt(index).Use(tensor).Imm(random_.Below(8));
        return Written(index);
      }
      case 4: {
        const int64_t tensor = Tensor();
        const IntOperand at = Int();
        const int64_t index = DefineInt();
        b_.Emit(Opcode::kLoadInt).DefInt(index).Use(tensor).Int(at);
        return Written(index);
      }
      default: {
        const int64_t tensor = random_.Chance(80) ? Tensor() : kNoRegister;
        b_.Emit(Opcode::kStoreInts).Out(tensor).IntList(Ints(5));
      }
    }
  }

  void Memory() {
    const int64_t source = Find(Held::kNothing);
    switch (random_.Below(5)) {
      case 0:
        AllocTensor(Storage());
        return;
      case 1: {
        const int64_t tensor = Tensor();
        const int64_t view = Fill(Held::kTensor);
        Place(b_.Emit(Opcode::kView).DefHold(view).Use(tensor));
        return Name();
      }
      case 2: {
        if (source < 0) return;
        const Held kind = held_[static_cast<std::size_t>(source)];
        const int64_t result =
            Fill(kind == Held::kBorrowed ? Held::kTensor : kind);
        b_.Emit(Opcode::kShare).DefHold(result).Use(source);
        return Name();
      }
      case 3: {
        if (module_.module().constants.empty()) return;
        const int64_t result = Fill(Held::kTensor);
        b_.Emit(Opcode::kConstant)
            .DefHold(result)
            .Constant(ConstantId(static_cast<std::size_t>(
                random_.Below(module_.module().constants.size()))));
        return Name();
      }
      default: {
        if (source < 0) return;
        const auto index = static_cast<std::size_t>(source);
        const bool is_local =
            index >= outer_.size() || outer_[index] == Held::kNothing;
        if (!is_local || held_[index] == Held::kBorrowed) return;
        if (random_.Chance(50)) return KillOne(source);
        const int64_t result = Fill(held_[index]);
        b_.Emit(Opcode::kMove).DefHold(result).Moved(source);
        held_[index] = Held::kNothing;
      }
    }
  }

  // Statements that leave the registers of `outer` as they were, and ints
  // written within forgotten.
  void Block(int count, int depth) {
    const std::vector<Held> outer = held_;
    const std::vector<Held> before = std::exchange(outer_, outer);
    const std::vector<int64_t> ints = ints_;
    Statements(count, depth);
    KillAllBut(outer_);
    outer_ = before;
    ints_ = ints;
  }

  void If(int depth) {
    const BlockLabel other = b_.NewLabel();
    const BlockLabel end = b_.NewLabel();
    b_.Emit(Opcode::kBranchIfZero).Int(Int()).Label(other);
    // A value that both branches kill, each at a place of its own.
    int64_t killed = -1;
    const int64_t tensor = Find(Held::kTensor);
    if (tensor >= 0) {
      const auto index = static_cast<std::size_t>(tensor);
      if (index >= outer_.size() || outer_[index] == Held::kNothing) {
        killed = tensor;
      }
    }
    const std::vector<Held> held = held_;
    Block(random_.Below(4), depth);
    if (killed >= 0) KillOne(killed);
    b_.Emit(Opcode::kJump).Label(end);
    b_.Bind(other);
    const std::size_t register_count = held_.size();
    held_ = held;
    held_.resize(register_count, Held::kNothing);
    if (killed >= 0) KillOne(killed);
    Block(random_.Below(4), depth);
    b_.Bind(end);
  }

  void Loop(int depth) {
    const int64_t counter = next_int_++;
    const int64_t more = next_int_++;
    reserved_.push_back(counter);
    const BlockLabel head = b_.NewLabel();
    const BlockLabel end = b_.NewLabel();
    b_.Emit(Opcode::kIntMove).DefInt(counter).Int(IntOperand::Immediate(0));
    Written(counter);
    b_.Bind(head);
    b_.Emit(Opcode::kIntLess)
        .DefInt(more)
        .Int(IntOperand::Register(counter))
        .Int(Int());
    b_.Emit(Opcode::kBranchIfZero).Int(IntOperand::Register(more)).Label(end);
    Block(1 + random_.Below(4), depth);
    b_.Emit(Opcode::kIntAdd)
        .DefInt(counter)
        .Int(IntOperand::Register(counter))
        .Int(IntOperand::Immediate(1));
    b_.Emit(Opcode::kJump).Label(head);
    b_.Bind(end);
  }

  void Statements(int count, int depth) {
    for (int i = 0; i < count; ++i) {
      const int choice = random_.Below(20);
      if (choice < 3 && depth < nesting_) {
        If(depth + 1);
      } else if (choice < 5 && depth < nesting_) {
        Loop(depth + 1);
      } else if (choice < 8) {
        WriteInt();
      } else if (choice < 11) {
        Memory();
      } else if (choice < 13) {
        Check();
      } else if (choice < 15) {
        Call();
        EndMoves();
      } else if (choice < 17) {
        Object();
        EndMoves();
      } else {
        Operator();
      }
    }
  }

  ModuleBuilder& module_;
  Random& random_;
  std::span<const SiteId> sites_;
  int nesting_;
  FunctionBuilder b_;
  std::vector<Held> held_;
  std::vector<Held> outer_;        // Held when the current block began.
  std::vector<int64_t> ints_;      // Written on every path to here.
  std::vector<int64_t> reserved_;  // Counters of loops.
  std::vector<int64_t> moved_;     // By the current instruction.
  std::vector<int64_t> returned_;
  int64_t next_int_ = 0;
  std::string last_;
};

}  // namespace

Module GenerateModule(uint32_t seed, const GeneratorOptions& options) {
  Random random(seed);
  ModuleBuilder module;
  if (options.rich_tables) AddOddTables(module, random);
  AddConstants(module, random, options.rich_tables ? 8 : 2);
  const std::vector<SiteId> sites =
      AddSites(module, random, options.rich_tables ? 12 : 3);
  const TypeId type = module.TensorType(DType::kF32, {1, -1});
  for (int i = 0; i < options.function_count; ++i) {
    const FunctionId id = module.DeclareFunction("f" + std::to_string(i));
    Function& function = module.module().functions[id.index()];
    for (int p = random.Below(4); p > 0; --p) {
      Param param{.name = module.InternString("p" + std::to_string(p)),
                  .type = type,
                  .donated = random.Chance(40)};
      if (i == 0 && random.Chance(20)) {
        param.optional_feed = true;
        param.default_value = ConstantId(0);
      }
      function.params.push_back(param);
    }
    for (int r = random.Below(3); r > 0; --r) {
      function.results.push_back(
          {.name = module.InternString("r" + std::to_string(r)), .type = type});
    }
  }
  for (int i = 0; i < options.function_count; ++i) {
    FunctionGenerator generator(module, random,
                                FunctionId(static_cast<std::size_t>(i)), sites,
                                options.nesting);
    generator.Run(options.statement_count);
  }
  return module.Finish();
}

}  // namespace ebb::bytecode
