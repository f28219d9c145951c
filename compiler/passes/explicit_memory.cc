#include "compiler/passes/explicit_memory.h"

#include <string>
#include <utility>
#include <vector>

#include "compiler/analysis/bound_symbols.h"
#include "compiler/analysis/kernel_request.h"
#include "compiler/ir/names.h"

namespace ebb::passes {
namespace {

using ir::Dim;
using ir::Instr;
using ir::InstrId;
using ir::InstrKind;
using ir::Operand;
using ir::RegionId;
using ir::Type;
using ir::TypeKind;
using ir::ValueId;

class Rewriter {
 public:
  Rewriter(ir::Module& module, ir::Function& function,
           const MemoryOptions& options)
      : module_(module),
        function_(function),
        options_(options),
        names_(function),
        bound_(module.dims) {}

  Status Run() {
    for (const ir::Param& param : function_.params) {
      bound_.Bind(function_.value(param.value).type);
    }
    return Rewrite(function_.body);
  }

 private:
  // Recursion is as deep as regions nest: kMaxNesting at most.
  Status Rewrite(RegionId region);
  Status RewriteOperator(InstrId id, std::vector<InstrId>& code);
  Status RewriteRegions(InstrId id);
  bool IsAllocatable(const Type& type);
  bool IsView(const Instr& instr);
  Expected<bool> NeedsScratch(const Instr& instr) const;

  Dim BytesOf(const Type& type);
  ValueId AddValue(const std::string& hint, Type type);
  InstrId Add(Instr instr) {
    function_.instrs.push_back(std::move(instr));
    return InstrId(function_.instrs.size() - 1);
  }
  // `%hint = kind …` of the node, put at the end of `code`.
  ValueId Define(Instr instr, const std::string& hint, Type type,
                 std::vector<InstrId>& code);
  void AllocateTensor(ValueId tensor, const std::string& node,
                      std::vector<InstrId>& code);
  void AllocateScratch(InstrId id, std::vector<InstrId>& code);

  ir::Module& module_;
  ir::Function& function_;
  const MemoryOptions& options_;
  ir::Names names_;
  ir::BoundSymbols bound_;
};

ValueId Rewriter::AddValue(const std::string& hint, Type type) {
  ir::Value value;
  value.name = names_.Unique(hint);
  value.type = std::move(type);
  function_.values.push_back(std::move(value));
  return ValueId(function_.values.size() - 1);
}

ValueId Rewriter::Define(Instr instr, const std::string& hint, Type type,
                         std::vector<InstrId>& code) {
  const ValueId value = AddValue(hint, std::move(type));
  instr.results = {value};
  const InstrId id = Add(std::move(instr));
  function_.value(value).def = id;
  code.push_back(id);
  return value;
}

// Tensors whose bytes are known when the operator is reached.
bool Rewriter::IsAllocatable(const Type& type) {
  return type.IsTensor() && type.ranked && DTypeBits(type.dtype) != 0 &&
         bound_.AllBound(type) && BytesOf(type).valid();
}

// A view has as many elements as its source. Where that is not proved, the
// operator itself runs: it holds the shapes against each other.
bool Rewriter::IsView(const Instr& instr) {
  if (!InfoOf(instr.code).Is(kView)) return false;
  const Type& from = function_.value(instr.operands[0].value).type;
  const Type& to = function_.value(instr.results[0]).type;
  if (!from.IsTensor() || !from.ranked ||
      from.layout != ir::Layout::kRowMajor ||
      to.layout != ir::Layout::kRowMajor) {
    return false;
  }
  const Dim count = module_.dims.Product(from.dims);
  return count.valid() && count == module_.dims.Product(to.dims);
}

Dim Rewriter::BytesOf(const Type& type) {
  ir::DimTable& dims = module_.dims;
  const Dim count = dims.Product(type.dims);
  const int bits = DTypeBits(type.dtype);
  if (bits >= 8) return dims.Mul(count, dims.Constant(bits / 8));
  return dims.CeilDiv(count, dims.Constant(8 / bits));
}

void Rewriter::AllocateTensor(ValueId tensor, const std::string& node,
                              std::vector<InstrId>& code) {
  Instr storage;
  storage.kind = InstrKind::kAllocStorage;
  storage.dims = {BytesOf(function_.value(tensor).type)};
  storage.node = node;
  const ValueId place =
      Define(std::move(storage), function_.value(tensor).name + "_storage",
             Type::Of(TypeKind::kStorage), code);
  Instr alloc;
  alloc.kind = InstrKind::kAllocTensor;
  alloc.operands = {Operand{place}};
  alloc.dims = {module_.dims.Constant(0)};
  alloc.results = {tensor};
  alloc.node = node;
  const InstrId id = Add(std::move(alloc));
  function_.value(tensor).def = id;
  code.push_back(id);
}

void Rewriter::AllocateScratch(InstrId id, std::vector<InstrId>& code) {
  const Instr& op = function_.instr(id);
  const std::string hint =
      op.outs[0].valid() ? function_.value(op.outs[0]).name : op.node;
  Instr bytes;
  bytes.kind = InstrKind::kScratchBytes;
  bytes.code = op.code;
  bytes.operands = op.operands;
  bytes.outs = op.outs;
  bytes.attributes = op.attributes;
  bytes.node = op.node;
  const std::string node = op.node;
  const ValueId size = Define(std::move(bytes), hint + "_scratch_bytes",
                              Type::Of(TypeKind::kInt), code);
  Instr storage;
  storage.kind = InstrKind::kAllocStorage;
  storage.operands = {Operand{size}};
  storage.node = node;
  const ValueId scratch = Define(std::move(storage), hint + "_scratch",
                                 Type::Of(TypeKind::kStorage), code);
  function_.instr(id).scratch = scratch;
}

// With everything known the kernel is asked; else operators that do more than
// move or map elements may need scratch.
Expected<bool> Rewriter::NeedsScratch(const Instr& instr) const {
  const OperatorInfo& info = InfoOf(instr.code);
  const auto request = ir::MakeKernelRequest(module_, function_, instr);
  if (!request.has_value()) {
    return !info.Is(kElementwise) && !info.Is(kView) && !info.Is(kShapeOnly);
  }
  auto prepared =
      kernels::Prepare(request->Get(options_.backend, options_.threads));
  if (!prepared.has_value()) {
    Error error = std::move(prepared).error();
    if (!instr.node.empty()) {
      error.where =
          "node \"" + instr.node + "\" (" + std::string(info.mnemonic) + ")";
    }
    return std::unexpected(std::move(error));
  }
  return (*prepared)->scratch_bytes() > 0;
}

Status Rewriter::RewriteOperator(InstrId id, std::vector<InstrId>& code) {
  bool allocatable = true;
  bool wanted = false;
  for (const ValueId result : function_.instr(id).results) {
    if (!result.valid()) continue;
    wanted = true;
    allocatable = allocatable && IsAllocatable(function_.value(result).type);
  }
  if (!wanted) return {};  // Operators are pure: nothing is lost.
  if (!allocatable) {
    for (const ValueId result : function_.instr(id).results) {
      if (result.valid()) bound_.Bind(function_.value(result).type);
    }
    code.push_back(id);
    return {};
  }
  if (IsView(function_.instr(id))) {
    Instr& instr = function_.instr(id);
    instr.kind = InstrKind::kView;
    instr.operands.resize(1);
    instr.attributes = {};
    instr.dims = {module_.dims.Constant(0)};
    code.push_back(id);
    return {};
  }
  const std::vector<ValueId> outs =
      std::exchange(function_.instr(id).results, {});
  const std::string node = function_.instr(id).node;
  for (const ValueId out : outs) {
    if (out.valid()) AllocateTensor(out, node, code);
  }
  function_.instr(id).outs = outs;
  TRY(const bool needs_scratch, NeedsScratch(function_.instr(id)));
  if (needs_scratch) AllocateScratch(id, code);
  code.push_back(id);
  return {};
}

Status Rewriter::RewriteRegions(InstrId id) {
  const std::vector<RegionId> regions = function_.instr(id).regions;
  for (const RegionId region : regions) {
    const auto scope = bound_.Enter();
    for (const ValueId param : function_.region(region).params) {
      bound_.Bind(function_.value(param).type);
    }
    RETURN_IF_ERROR(Rewrite(region));
    bound_.Leave(scope);
  }
  return {};
}

Status Rewriter::Rewrite(RegionId region) {
  const std::vector<InstrId> before =
      std::exchange(function_.region(region).instrs, {});
  std::vector<InstrId> code;
  for (const InstrId id : before) {
    if (function_.instr(id).kind == InstrKind::kOperator &&
        function_.instr(id).outs.empty()) {
      RETURN_IF_ERROR(RewriteOperator(id, code));
      continue;
    }
    RETURN_IF_ERROR(RewriteRegions(id));
    for (const ValueId result : function_.instr(id).results) {
      if (result.valid()) bound_.Bind(function_.value(result).type);
    }
    code.push_back(id);
  }
  function_.region(region).instrs = std::move(code);
  return {};
}

}  // namespace

Status MakeMemoryExplicit(ir::Module& module, const MemoryOptions& options) {
  for (ir::Function& function : module.functions) {
    if (!function.body.valid()) continue;
    RETURN_IF_ERROR(Rewriter(module, function, options).Run());
  }
  return {};
}

}  // namespace ebb::passes
