#include "tests/compiler/ir_generator.h"

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/ir/constant_text.h"

namespace ebb::ir {
namespace {

using enum InstrKind;

// std::uniform_int_distribution differs between libraries; this does not.
class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  std::size_t Below(std::size_t count) { return engine_() % count; }
  bool OneIn(std::size_t count) { return Below(count) == 0; }
  template <class T>
  const T& Pick(const std::vector<T>& items) {
    return items[Below(items.size())];
  }

 private:
  std::mt19937 engine_;
};

struct Signature {
  std::string name;
  std::vector<bool> donated;
  std::size_t results;
};

class Generator {
 public:
  Generator(Module& module, Random& random, const GeneratorOptions& options)
      : module_(module), random_(random), options_(options) {}

  // Callees before callers: every run ends.
  void Run() {
    AddWeights();
    for (int i = 0; i < options_.functions; ++i) {
      Signature signature{"f" + std::to_string(i), {}, 1 + random_.Below(2)};
      for (std::size_t p = 0; p < 1 + random_.Below(3); ++p) {
        signature.donated.push_back(random_.OneIn(2));
      }
      MakeFunction(signature);
      callees_.push_back(std::move(signature));
    }
    MakeFunction(Signature{"main", {false, random_.OneIn(2)}, 2});
    module_.entry = module_.FindFunction("main");
  }

 private:
  // Tensors that may be used at this place, by shape.
  struct Scope {
    std::vector<ValueId> square;  // f32[4, 4]
    std::vector<ValueId> flat;    // f32[16]
  };

  Type Square() {
    return Type::Tensor(DType::kF32,
                        {module_.dims.Constant(4), module_.dims.Constant(4)});
  }
  Type Flat() { return Type::Tensor(DType::kF32, {module_.dims.Constant(16)}); }

  void AddWeights() {
    std::vector<std::byte> bytes;
    for (int i = 0; i < 16; ++i) {
      ParseElement(DType::kF32, std::to_string(i % 5 - 2), bytes);
    }
    Constant constant;
    constant.name = "w";
    constant.dtype = DType::kF32;
    constant.dims = {4, 4};
    constant.data = KeepBytes(module_, bytes);
    weights_ = AddConstant(module_, std::move(constant));
  }

  void MakeFunction(const Signature& signature) {
    Builder builder(module_, AddFunction(module_, signature.name));
    builder_ = &builder;
    scope_ = {};
    for (std::size_t i = 0; i < signature.donated.size(); ++i) {
      scope_.square.push_back(builder.AddParam("x" + std::to_string(i),
                                               Square(), signature.donated[i]));
    }
    condition_ = builder.AddParam("c", Type::Tensor(DType::kBool, {}));
    trips_ = builder.AddParam("k", Type::Tensor(DType::kI64, {}));
    scope_.square.push_back(builder.AddConstantValue(weights_, "w"));
    Statements(options_.instructions, options_.max_depth);
    std::vector<ValueId> results;
    for (std::size_t i = 0; i < signature.results; ++i) {
      results.push_back(random_.Pick(scope_.square));
      builder.function().result_types.push_back(Square());
    }
    builder.Return(results);
    builder_ = nullptr;
  }

  void Statements(int count, int depth) {
    for (int i = 0; i < count; ++i) Statement(depth);
  }

  void Statement(int depth) {
    switch (random_.Below(16)) {
      case 0:
        if (depth > 0) return Branch(depth - 1);
        break;
      case 1:
        if (depth > 0) return Loop(depth - 1);
        break;
      case 2:
        if (!callees_.empty()) return Call();
        break;
      case 3:
        if (options_.objects) return Tuple();
        break;
      case 4:
        if (options_.objects) return Sequence();
        break;
      case 5:
        return View();
      case 6:
        return MatchCast();
      case 7:
        if (options_.rebindings) return Rebind();
        break;
      case 8:
        if (options_.closures && !callees_.empty()) return Closure();
        break;
      case 9:
        return Flatten();
      default:
        break;
    }
    Operator();
  }

  ValueId Define(Instr instr, const char* hint, const Type& type) {
    return builder_->Add(std::move(instr), hint, type);
  }

  // All of these keep values within -1..1, or bounded by them.
  void Operator() {
    static const std::vector<OperatorCode> kUnary = {
        OperatorCode::kRelu, OperatorCode::kNeg, OperatorCode::kAbs,
        OperatorCode::kTanh, OperatorCode::kSigmoid};
    static const std::vector<OperatorCode> kBinary = {OperatorCode::kMin,
                                                      OperatorCode::kMax};
    std::vector<ValueId>& pool =
        !scope_.flat.empty() && random_.OneIn(5) ? scope_.flat : scope_.square;
    const Type type = builder_->value(pool[0]).type;
    const ValueId a = random_.Pick(pool);
    if (random_.OneIn(2)) {
      pool.push_back(
          Define(Builder::Operator(random_.Pick(kUnary), {a}), "u", type));
      return;
    }
    const ValueId b = random_.Pick(pool);
    if (random_.OneIn(3)) {
      const ValueId sum =
          Define(Builder::Operator(OperatorCode::kAdd, {a, b}), "sum", type);
      pool.push_back(
          Define(Builder::Operator(OperatorCode::kTanh, {sum}), "t", type));
      return;
    }
    pool.push_back(
        Define(Builder::Operator(random_.Pick(kBinary), {a, b}), "b", type));
  }

  void Flatten() {
    scope_.flat.push_back(Define(
        Builder::Operator(OperatorCode::kTanh, {FlatView()}), "flat", Flat()));
  }

  ValueId FlatView() {
    Instr view = Builder::Make(kView, {random_.Pick(scope_.square)});
    view.dims = {module_.dims.Constant(0)};
    return Define(std::move(view), "view", Flat());
  }

  void View() { scope_.flat.push_back(FlatView()); }

  // To symbols that it binds, and back by one that checks.
  void MatchCast() {
    const ValueId value = random_.Pick(scope_.square);
    const Dim n = module_.dims.FreshSymbol("n");
    const ValueId cast =
        Define(Builder::Make(kMatchCast, {value}), "cast",
               Type::Tensor(DType::kF32, {n, module_.dims.Constant(4)}));
    scope_.square.push_back(
        Define(Builder::Make(kMatchCast, {cast}), "back", Square()));
  }

  void Rebind() {
    const ValueId value = random_.Pick(scope_.square);
    scope_.square.push_back(
        Define(Builder::Make(random_.OneIn(2) ? kAlias : kMatchCast, {value}),
               "same", builder_->value(value).type));
  }

  void Tuple() {
    const ValueId a = random_.Pick(scope_.square);
    const ValueId b = random_.Pick(scope_.square);
    Type type = Type::Of(TypeKind::kTuple);
    type.elements = {Square(), Square()};
    const ValueId tuple = Define(Builder::Make(kTuple, {a, b}), "pair", type);
    for (int i = 0; i < 2; ++i) {
      if (random_.OneIn(3)) continue;
      Get(tuple, i);
    }
  }

  void Get(ValueId from, int index) {
    Instr get = Builder::Make(kGet, {from});
    get.dims = {module_.dims.Constant(index)};
    scope_.square.push_back(Define(std::move(get), "field", Square()));
  }

  void Sequence() {
    Type type = Type::Of(TypeKind::kSequence);
    type.elements = {Square()};
    ValueId sequence = Define(
        Builder::Make(kSequence, {random_.Pick(scope_.square)}), "seq", type);
    if (random_.OneIn(2)) {
      sequence = Define(Builder::Make(kSequenceInsert,
                                      {sequence, random_.Pick(scope_.square)}),
                        "longer", type);
    }
    Get(sequence, 0);
  }

  std::vector<ValueId> Arguments(const Signature& callee) {
    std::vector<ValueId> arguments;
    for (std::size_t i = 0; i < callee.donated.size(); ++i) {
      arguments.push_back(random_.Pick(scope_.square));
    }
    return arguments;
  }

  void AddResults(Instr instr, std::size_t count) {
    const std::vector<std::string> names(count, "r");
    const std::vector<Type> types(count, Square());
    for (const ValueId result :
         builder_->AddMany(std::move(instr), names, types)) {
      if (!random_.OneIn(4)) scope_.square.push_back(result);
    }
  }

  void Call() {
    const Signature& callee = random_.Pick(callees_);
    std::vector<ValueId> arguments = Arguments(callee);
    arguments.push_back(condition_);
    arguments.push_back(trips_);
    Instr call = Builder::Make(kCall, arguments);
    call.symbol = callee.name;
    AddResults(std::move(call), callee.results);
  }

  // Captures the condition and the trip count, which are the last parameters.
  void Closure() {
    const Signature& callee = random_.Pick(callees_);
    Instr make = Builder::Make(kMakeClosure, {condition_, trips_});
    make.symbol = callee.name;
    std::vector<ValueId> operands = {
        Define(std::move(make), "closure", Type::Of(TypeKind::kClosure))};
    for (int calls = 0; calls < 2; ++calls) {
      operands.resize(1);
      for (const ValueId argument : Arguments(callee)) {
        operands.push_back(argument);
      }
      AddResults(Builder::Make(kCallClosure, operands), callee.results);
      if (random_.OneIn(2)) return;
    }
  }

  // Statements of a nested region; what they define is out of sight after it.
  template <class End>
  RegionId Nested(RegionId region, int depth, End end) {
    const RegionId outer = builder_->region();
    const Scope saved = scope_;
    builder_->SetRegion(region);
    for (const ValueId param : builder_->function().region(region).params) {
      if (builder_->value(param).type.IsTensor()) {
        scope_.square.push_back(param);
      }
    }
    Statements(2 + static_cast<int>(random_.Below(6)), depth);
    builder_->Append(end());
    builder_->SetRegion(outer);
    scope_ = saved;
    return region;
  }

  void Branch(int depth) {
    const std::size_t count = random_.Below(3);
    Instr branch = Builder::Make(kIf, {condition_});
    for (int i = 0; i < 2; ++i) {
      branch.regions.push_back(Nested(builder_->AddRegion(), depth, [&] {
        std::vector<ValueId> values;
        for (std::size_t v = 0; v < count; ++v) {
          values.push_back(random_.Pick(scope_.square));
        }
        return Builder::Make(kYield, values);
      }));
    }
    AddResults(std::move(branch), count);
  }

  void Loop(int depth) {
    const std::size_t count = random_.Below(3);
    Instr loop = Builder::Make(kLoop, {trips_, ValueId()});
    const RegionId body = builder_->AddRegion();
    builder_->AddRegionParam(body, "i", Type::Of(TypeKind::kInt));
    for (std::size_t i = 0; i < count; ++i) {
      loop.operands.push_back(Operand{.value = random_.Pick(scope_.square)});
      builder_->AddRegionParam(body, "acc", Square());
    }
    loop.regions = {Nested(body, depth, [&] {
      std::vector<ValueId> values = {random_.OneIn(2) ? condition_ : ValueId()};
      for (std::size_t v = 0; v < count; ++v) {
        values.push_back(random_.Pick(scope_.square));
      }
      return Builder::Make(kContinue, values);
    })};
    AddResults(std::move(loop), count);
  }

  Module& module_;
  Random& random_;
  const GeneratorOptions& options_;
  ConstantId weights_;
  std::vector<Signature> callees_;
  Builder* builder_ = nullptr;
  Scope scope_;
  ValueId condition_;
  ValueId trips_;
};

}  // namespace

Module GenerateModule(uint32_t seed, const GeneratorOptions& options) {
  Module module;
  Random random(seed);
  Generator(module, random, options).Run();
  return module;
}

}  // namespace ebb::ir
