#include "compiler/analysis/liveness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/ir/parser.h"

namespace ebb::ir {
namespace {

class LivenessTest : public ::testing::Test {
 protected:
  void Parse(std::string_view text) {
    auto parsed = ParseModule(text);
    ASSERT_TRUE(parsed.has_value()) << parsed.error().ToString();
    module = std::move(*parsed);
    ends = FindLifeEnds(function());
  }
  const Function& function() const { return module.functions[0]; }

  std::vector<std::string> Names(const std::vector<ValueId>& values) const {
    std::vector<std::string> names;
    for (const ValueId value : values) {
      names.push_back(function().value(value).name);
    }
    std::ranges::sort(names);
    return names;
  }
  InstrId Def(std::string_view name) const {
    for (const Value& value : function().values) {
      if (value.name == name) return value.def;
    }
    return InstrId();
  }
  std::vector<std::string> After(std::string_view result) const {
    return Names(ends.after[Def(result).index()]);
  }
  std::vector<std::string> AtEntry(std::string_view result, int region) const {
    const RegionId id = function().instr(Def(result)).regions[region];
    return Names(ends.at_entry[id.index()]);
  }
  using Strings = std::vector<std::string>;

  Module module;
  LifeEnds ends;
};

TEST_F(LivenessTest, EndsAfterTheLastUse) {
  Parse(R"(func @f(%x: f32[], %unused: f32[]) -> f32[] {
    %a = relu %x
    %b = add %a, %a
    %dead = neg %b
    %c = neg %b
    return %c
  })");
  EXPECT_EQ(After("a"), Strings{"x"});
  EXPECT_EQ(After("b"), Strings{"a"});
  EXPECT_EQ(After("dead"), Strings{"dead"});
  EXPECT_EQ(After("c"), Strings{"b"});
  EXPECT_EQ(Names(ends.at_entry[function().body.index()]), Strings{"unused"});
}

TEST_F(LivenessTest, EndsAtTheEntryOfTheOtherBranch) {
  Parse(R"(func @f(%x: f32[], %c: bool[], %y: f32[]) -> f32[] {
    %r = if %c {
      %a = neg %x
      yield %a
    } else {
      %b = neg %y
      yield %b
    }
    return %r
  })");
  EXPECT_EQ(AtEntry("r", 0), (Strings{"c", "y"}));
  EXPECT_EQ(AtEntry("r", 1), (Strings{"c", "x"}));
  EXPECT_EQ(After("a"), Strings{"x"});
  EXPECT_EQ(After("r"), Strings{});
}

TEST_F(LivenessTest, ALoopKeepsWhatItsBodyUses) {
  Parse(R"(func @f(%x: f32[], %k: i64[], %y: f32[]) -> f32[] {
    %r = loop %i < %k, %acc = %x, %rest = %x {
      %a = add %acc, %y
      continue _, %a, %a
    }
    return %r
  })");
  EXPECT_EQ(After("a"), Strings{"acc"});
  EXPECT_EQ(AtEntry("r", 0), (Strings{"i", "rest"}));
  EXPECT_EQ(Names(ends.free[1]), Strings{"y"});
}

TEST_F(LivenessTest, FreeValuesAreListedOnceAtEveryLevel) {
  Parse(R"(func @f(%x: f32[], %c: bool[]) -> f32[] {
    %r = if %c {
      %s = if %c {
        %a = add %x, %x
        %b = add %a, %x
        yield %b
      } else {
        yield %x
      }
      yield %s
    } else {
      yield %x
    }
    return %r
  })");
  const auto& outer = function().instr(Def("r")).regions;
  const auto& inner = function().instr(Def("s")).regions;
  EXPECT_EQ(Names(ends.free[outer[0].index()]), (Strings{"c", "x"}));
  EXPECT_EQ(Names(ends.free[inner[0].index()]), Strings{"x"});
  EXPECT_EQ(Names(ends.free[outer[1].index()]), Strings{"x"});
}

TEST_F(LivenessTest, DeclarationsHaveNoLives) {
  Parse("func @f(%x: f32[]) -> f32[]");
  EXPECT_TRUE(ends.after.empty());
}

}  // namespace
}  // namespace ebb::ir
