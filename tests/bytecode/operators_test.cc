#include "bytecode/operators.h"

#include <gtest/gtest.h>

#include <set>

namespace ebb {
namespace {

TEST(OperatorTable, FindsByCodeNameAndMnemonic) {
  for (const OperatorInfo& row : AllOperators()) {
    EXPECT_EQ(FindOperator(static_cast<uint16_t>(row.code)), &row);
    EXPECT_EQ(OperatorFromMnemonic(row.mnemonic), row.code);
    EXPECT_EQ(OperatorFromName(row.name), row.code);
    EXPECT_EQ(InfoOf(row.code).name, row.name);
  }
  EXPECT_EQ(FindOperator(0), nullptr);
  EXPECT_EQ(FindOperator(0xffff), nullptr);
  EXPECT_EQ(OperatorFromName("Frobnicate"), std::nullopt);
  EXPECT_EQ(OperatorFromMnemonic("Conv"), std::nullopt);
}

TEST(OperatorTable, RowsAreConsistent) {
  std::set<std::string_view> names;
  for (const OperatorInfo& row : AllOperators()) {
    EXPECT_TRUE(names.insert(row.mnemonic).second) << row.name;
    EXPECT_LE(row.min_inputs, row.max_inputs) << row.name;
    EXPECT_GE(row.max_outputs, 1) << row.name;
    if (row.max_inputs < 32) {
      EXPECT_EQ(row.value_inputs >> row.max_inputs, 0U) << row.name;
      EXPECT_EQ(row.reuse_inputs >> row.max_inputs, 0U) << row.name;
    }
  }
}

TEST(OperatorTable, ParsesAttributes) {
  const OperatorInfo& conv = InfoOf(OperatorCode::kConv);
  ASSERT_EQ(conv.attributes.size(), 6U);
  EXPECT_EQ(conv.attributes[0].name, "auto_pad");
  EXPECT_EQ(conv.attributes[0].kind, AttributeKind::kString);
  EXPECT_TRUE(conv.attributes[0].has_default);
  EXPECT_EQ(conv.attributes[0].default_text, "NOTSET");
  EXPECT_EQ(conv.attributes[1].name, "dilations");
  EXPECT_EQ(conv.attributes[1].kind, AttributeKind::kInts);
  EXPECT_FALSE(conv.attributes[1].required);
  EXPECT_FALSE(conv.attributes[1].has_default);
  const OperatorInfo& concat = InfoOf(OperatorCode::kConcat);
  ASSERT_EQ(concat.attributes.size(), 1U);
  EXPECT_TRUE(concat.attributes[0].required);
  EXPECT_TRUE(InfoOf(OperatorCode::kAdd).attributes.empty());
}

TEST(OperatorTable, TellsTraitsAndValueInputs) {
  EXPECT_TRUE(InfoOf(OperatorCode::kAdd).Is(kElementwise));
  EXPECT_FALSE(InfoOf(OperatorCode::kAdd).Is(kView));
  EXPECT_TRUE(InfoOf(OperatorCode::kReshape).ReadsValue(1));
  EXPECT_FALSE(InfoOf(OperatorCode::kReshape).ReadsValue(0));
  EXPECT_FALSE(InfoOf(OperatorCode::kConcat).ReadsValue(99));
}

TEST(CheckAttributes, NamesUnknownMissingAndWronglyTyped) {
  const OperatorInfo& concat = InfoOf(OperatorCode::kConcat);
  Attributes attributes;
  Status status = CheckAttributes(concat, attributes);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(status.error().message, "Concat: attribute 'axis' is missing");
  attributes.Set("axis", 1.0F);
  status = CheckAttributes(concat, attributes);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().message,
            "Concat: attribute 'axis' is of kind float, expected int");
  attributes.Set("axis", int64_t{1});
  EXPECT_TRUE(CheckAttributes(concat, attributes).has_value());
  attributes.Set("axes", int64_t{1});
  status = CheckAttributes(concat, attributes);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().message, "Concat: attribute 'axes' is unknown");
}

}  // namespace
}  // namespace ebb
