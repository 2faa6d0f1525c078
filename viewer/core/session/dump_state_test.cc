// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/session/dump_state.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include "analyzer/common/json_text.h"
#include "analyzer/model/testing/units.h"
#include "viewer/core/testing/sample_run.h"

namespace traceinject {
namespace {

TEST(JsonText, EscapesWhatJsonDoesNotAllow) {
  EXPECT_EQ(JsonString("a\"b\\c"), "\"a\\\"b\\\\c\"");
  EXPECT_EQ(JsonString("a\nb\x1b"), "\"a\\u000ab\\u001b\"");
  EXPECT_EQ(JsonString("\xff"), "\"\uFFFD\"");
}

TEST(DumpState, IsJsonThatSaysWhatIsShown) {
  const auto loaded = LoadSampleRun();
  Workspace workspace(loaded->run, loaded->rows, &loaded->links, "");
  workspace.timeline().Resize(1300, 240);
  std::uint32_t stream = 0;
  while (loaded->rows.rows[stream].label != "stream 7") ++stream;
  workspace.Show(0, 2 * kMs);
  workspace.timeline().Select(EventRef{stream, 0, 1});  // its second kernel
  workspace.timeline().SetMeasure(Measure{kMs, 2 * kMs, stream});
  workspace.Do(CommandId::kMark);
  workspace.Do(CommandId::kHelp);

  simdjson::dom::parser parser;
  simdjson::dom::element state;
  const std::string json = DumpState(workspace);
  ASSERT_EQ(parser.parse(json).get(state), simdjson::SUCCESS) << json;
  const auto number = [&](std::string_view pointer) {
    return std::int64_t(state.at_pointer(pointer));
  };
  const auto text = [&](std::string_view pointer) {
    return std::string_view(state.at_pointer(pointer));
  };
  const TimeNs origin = loaded->rows.origin;
  EXPECT_EQ(number("/view/from_ns"), 0);
  EXPECT_EQ(number("/view/to_ns"), 2 * kMs);
  EXPECT_TRUE(state["hover"].is_null());
  EXPECT_EQ(text("/selection/row"), "stream 7");
  EXPECT_EQ(number("/selection/rank"), 0);
  EXPECT_EQ(text("/selection/name"), "layer_norm");
  EXPECT_EQ(number("/selection/from_ns"), kMs + 100 * kUs - origin);
  EXPECT_EQ(text("/causes/0/row"), "thread 4242: CUDA calls");
  EXPECT_EQ(number("/effects_left_out"), 0);
  EXPECT_EQ(number("/measure/to_ns"), 2 * kMs - origin);
  EXPECT_EQ(number("/marks/0/from_ns"), kMs - origin);
  EXPECT_EQ(number("/selected_mark"), 0);
  EXPECT_TRUE(bool(state.at_pointer("/panels/help")));
  EXPECT_FALSE(bool(state.at_pointer("/panels/palette")));
  EXPECT_EQ(text("/problem"), "");
  const auto rows = simdjson::dom::array(state["rows"]);
  EXPECT_LT(rows.size(), loaded->rows.rows.size()) << "only those on the screen";
  const std::string place = "/rows/" + std::to_string(stream);  // nothing is folded or hidden
  EXPECT_EQ(text(place + "/row"), "stream 7");
  EXPECT_EQ(number(place + "/lanes"), 2);
}

}  // namespace
}  // namespace traceinject
