#include "tests/bytecode/table_generator.h"

#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "bytecode/table_verifier.h"

namespace ebb::bytecode {
namespace {

std::vector<std::byte> RandomBytes(Random& random, std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes)
    byte = static_cast<std::byte>(random.Below(256));
  return bytes;
}

std::vector<std::byte> StringBlock(Random& random, int64_t count) {
  std::vector<uint64_t> offsets = {static_cast<uint64_t>(count + 1) * 8};
  for (int64_t i = 0; i < count; ++i) {
    offsets.push_back(offsets.back() + static_cast<uint64_t>(random.Below(5)));
  }
  std::vector<std::byte> bytes;
  for (const uint64_t offset : offsets) {
    for (int b = 0; b < 8; ++b) {
      bytes.push_back(static_cast<std::byte>(offset >> (8 * b) & 0xff));
    }
  }
  while (bytes.size() < offsets.back()) {
    bytes.push_back(static_cast<std::byte>(random.Below(256)));
  }
  return bytes;
}

AttributeValue RandomAttribute(Random& random, AttributeKind kind) {
  constexpr float kFloats[] = {0.0f,
                               -0.0f,
                               1.5f,
                               1e-38f,
                               1e-45f,
                               1e30f,
                               0.3333f,
                               std::numeric_limits<float>::infinity(),
                               std::numeric_limits<float>::quiet_NaN()};
  const auto text = [&] {
    constexpr const char* kTexts[] = {"NOTSET", "", "a \"quoted\"\n\\text",
                                      "\x01\xff", "linear"};
    return std::string(kTexts[random.Below(std::size(kTexts))]);
  };
  const auto count = static_cast<std::size_t>(random.Below(4));
  switch (kind) {
    case AttributeKind::kInt:
      return random.Number();
    case AttributeKind::kFloat:
      return kFloats[random.Below(std::size(kFloats))];
    case AttributeKind::kString:
      return text();
    case AttributeKind::kInts: {
      std::vector<int64_t> list(count);
      for (int64_t& item : list) item = random.Number();
      return list;
    }
    case AttributeKind::kFloats: {
      std::vector<float> list(count);
      for (float& item : list) item = kFloats[random.Below(std::size(kFloats))];
      return list;
    }
    case AttributeKind::kStrings: {
      std::vector<std::string> list(count);
      for (std::string& item : list) item = text();
      return list;
    }
  }
  return {};
}

}  // namespace

void AddConstants(ModuleBuilder& module, Random& random, int count) {
  for (int i = 0; i < count; ++i) {
    Constant constant;
    constant.dtype = static_cast<DType>(1 + random.Below(23));
    if (random.Chance(70)) {
      constant.name = module.InternString("weight" + std::to_string(i));
    }
    int64_t elements = 1;
    for (int d = random.Below(4); d > 0; --d) {
      constant.dims.push_back(random.Below(5));
      elements *= constant.dims.back();
    }
    if (random.Chance(30)) {
      constant.kind = ConstantKind::kRepeat;
    } else if (DTypeBits(constant.dtype) >= 8 && random.Chance(30)) {
      Packing packing;
      for (std::size_t d = constant.dims.size(); d > 0; --d) {
        packing.outer_order.push_back(static_cast<int32_t>(d - 1));
      }
      if (!constant.dims.empty()) packing.blocks = {{0, 4}, {0, 2}};
      constant.packing = packing;
    }
    const bool repeats = constant.kind == ConstantKind::kRepeat;
    auto bytes = std::make_shared<std::vector<std::byte>>(
        constant.dtype == DType::kString
            ? StringBlock(random, repeats ? 1 : elements)
            : RandomBytes(random,
                          static_cast<std::size_t>(*DataBytesOf(constant))));
    constant.data = *bytes;
    module.module().owned.push_back(std::move(bytes));
    module.AddConstant(std::move(constant));
  }
}

std::vector<SiteId> AddSites(ModuleBuilder& module, Random& random, int count) {
  std::vector<SiteId> sites;
  for (int i = 0; i < count; ++i) {
    const auto operators = AllOperators();
    const OperatorInfo& info =
        operators[static_cast<std::size_t>(random.Below(operators.size()))];
    Site site{.code = info.code};
    for (const AttributeInfo& attribute : info.attributes) {
      if (!attribute.required && random.Chance(50)) continue;
      site.attributes.Set(attribute.name,
                          RandomAttribute(random, attribute.kind));
    }
    if (random.Chance(70)) {
      site.node = module.InternString("node_" + std::to_string(i));
    }
    sites.push_back(module.AddSite(std::move(site)));
  }
  return sites;
}

void AddOddTables(ModuleBuilder& module, Random& random) {
  const StringId symbol = module.InternString("n");
  const StringId odd = module.InternString("batch size \"x\"\n\\\x7f\xc3\xa9");
  // A row that is there twice.
  module.module().strings.emplace_back("n");
  module.InternString("");
  Type type{.kind = TypeKind::kTensor, .dtype = DType::kF16};
  type.dims = {{.size = -1, .symbol = symbol},
               {.size = 3},
               {.size = -1},
               {.size = -1, .symbol = odd},
               {.size = 7, .symbol = symbol}};
  const TypeId tensor = module.InternType(type);
  module.InternType({.kind = TypeKind::kTensor, .ranked = false});
  module.InternType({.kind = TypeKind::kTensor});
  const TypeId tuple =
      module.InternType({.kind = TypeKind::kTuple, .fields = {tensor, tensor}});
  module.InternType({.kind = TypeKind::kSequence, .fields = {tuple}});
  module.InternType({.kind = TypeKind::kOptional, .fields = {tuple}});
  module.InternType({.kind = TypeKind::kTuple});
  module.InternType({.kind = TypeKind::kClosure});
  module.InternType({.kind = TypeKind::kObject});
  module.module().types.push_back(type);
  module.module().producer = "ebb \"0.1.0\"";
  module.module().target = random.Chance(50) ? "x86-64-v3" : "";
  module.module().metadata = {
      {"", "empty key"}, {"opset.ai.onnx", "17"}, {"\xff", "bytes\n"}};
}

}  // namespace ebb::bytecode
