#include "tools/tolerance_file.h"

#include <gtest/gtest.h>

namespace ebb::tools {
namespace {

TEST(ToleranceFileTest, OutputsComeBeforeTheModelAndThatBeforeTheDefault) {
  const auto file = ParseTolerances(R"({"other": 1, "models": [
      {"id": "a", "rtol": 0.5, "atol": 2, "output_atol": {"y": 3.5}},
      {"id": "b"}]})");
  ASSERT_TRUE(file.has_value()) << file.error().ToString();
  const Tolerance otherwise{.rtol = 0.25, .atol = 0.125};
  EXPECT_EQ(file->at("a").For("y", otherwise).atol, 3.5);
  EXPECT_EQ(file->at("a").For("y", otherwise).rtol, 0.5);
  EXPECT_EQ(file->at("a").For("z", otherwise).atol, 2);
  EXPECT_EQ(file->at("b").For("y", otherwise).atol, 0.125);
  EXPECT_EQ(file->at("b").For("y", otherwise).rtol, 0.25);
}

TEST(ToleranceFileTest, ErrorsNameTheModel) {
  for (const auto& [text, message] :
       std::vector<std::pair<std::string, std::string>>{
           {"[]", "has no array \"models\""},
           {"{\"models\": [{}]}", "holds a model without an \"id\""},
           {"{\"models\": [{\"id\": \"a\", \"rtol\": -1}]}",
            "model \"a\": rtol is not a number from 0 up"},
           {"{\"models\": [{\"id\": \"a\", \"output_atol\": 1}]}",
            "model \"a\": output_atol is no object"},
       }) {
    const auto file = ParseTolerances(text);
    ASSERT_FALSE(file.has_value());
    EXPECT_EQ(file.error().message, message);
  }
  EXPECT_FALSE(ParseTolerances("{").has_value());
}

}  // namespace
}  // namespace ebb::tools
