// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/panels/code_panel.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "machine/testing/temporary_folder.h"
#include "viewer/core/session/small_file.h"
#include "viewer/core/testing/code_run.h"
#include "viewer/ui/testing/ui_fixture.h"

namespace traceinject {
namespace {

class CodePanelTest : public UiFixture {
 protected:
  void LoadCode() {
    Load(MakeCodeRun(), std::nullopt, std::nullopt);
    Click("tab: Code");
    ASSERT_NE(list(), nullptr);
  }
  const CodeList* list() const { return ui_.panels()->code().list(); }
};

TEST_F(CodePanelTest, AClickMarksALineAndShowsWhereTheGpuWaitedForIt) {
  LoadCode();
  EXPECT_EQ(list()->Text(0, 0), "data.py:41 in load");
  Click("code row 0");
  EXPECT_EQ(SelectedRow(), "idle");
  EXPECT_FALSE(timeline().marked_places().empty());
  EXPECT_EQ(ui_.panels()->tab(), PanelTab::kCode) << "the table stays";
  Click("tab: Details");
  Frame({Key::kE});
  EXPECT_NE(workspace().notice().find("/w/data.py is not on this machine"), std::string::npos)
      << "the selected gap was held up by it: " << workspace().notice();
}

TEST_F(CodePanelTest, IsSortedAndFiltered) {
  LoadCode();
  Click("code column line");
  EXPECT_EQ(list()->Text(0, 0), "data.py:41 in load");
  Click("code column line");
  EXPECT_EQ(list()->Text(list()->size() - 1, 0), "data.py:41 in load");
  Click("code: filter");
  Type("numpy");
  ASSERT_EQ(list()->size(), 1U);
  EXPECT_EQ(list()->Text(0, 0), "numpy/r.py:5 in choice");
}

TEST_F(CodePanelTest, ByFunctionAndByThread) {
  LoadCode();
  Click("code by function");
  EXPECT_EQ(list()->Text(0, 0), "data.py in load");
  Click("code by thread");
  EXPECT_EQ(list()->Text(0, 0), "100 (python)") << "it was seen most";
  Click("code row 0");
  EXPECT_TRUE(timeline().marked_places().empty()) << "a thread is no place";
}

// Layers together or each for itself; offered only where a module was seen.
TEST_F(CodePanelTest, ByModule) {
  LoadCode();
  EXPECT_FALSE(ui_.controls().Find("code by module").has_value());
  auto loaded = MakeCodeRun();
  Rank& rank = loaded->run.ranks[0];
  for (std::size_t at = 0; at < 2; ++at) {
    rank.strings.push_back("GPT.h." + std::to_string(at) + ".attn");
    rank.stacks[at].module = static_cast<std::uint32_t>(rank.strings.size()) - 1;
  }
  Load(std::move(loaded), std::nullopt, std::nullopt);
  Click("tab: Code");
  const auto names = [this] {
    std::set<std::string> all;
    for (std::size_t row = 0; row < list()->size(); ++row) all.insert(list()->Text(row, 0));
    return all;
  };
  Click("code by module");
  EXPECT_TRUE(names().contains("GPT.h.*.attn"));
  EXPECT_TRUE(names().contains("(none)")) << "what is outside of all modules";
  Click("code by module of each layer");
  EXPECT_TRUE(names().contains("GPT.h.0.attn"));
  EXPECT_TRUE(names().contains("GPT.h.1.attn"));
  Click("code row 0");
  EXPECT_TRUE(timeline().marked_places().empty()) << "a module is no place";
}

TEST_F(CodePanelTest, ARecordingWithoutStacksSaysSo) {
  Load();
  Click("tab: Code");
  EXPECT_EQ(list()->all(), 0U);
}

// The rows of Python as well: with Ctrl a click opens what is under the pointer.
TEST_F(CodePanelTest, ControlClickOpensTheEditor) {
  const TemporaryFolder folder;
  const std::string source = folder / "train.py", said = folder / "said";
  const std::string script = folder / "editor";
  std::ofstream(source) << "x = 1\n";
  std::ofstream(script) << "#!/bin/sh\nprintf '%s' \"$1\" > '" << said << ".new'\nmv '" << said
                        << ".new' '" << said << "'\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  setenv("VISUAL", script.c_str(), 1);
  Load(MakeCodeRun(source), std::nullopt, std::nullopt);
  const auto opened = [&] {
    for (int i = 0; i < 500; ++i) {
      const auto read = ReadSmallFile(said, 1'000);
      std::error_code error;
      if (read.ok() && std::filesystem::remove(said, error)) return read.value();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return std::string("nothing was started");
  };
  Hold({.control = true});
  Click(Place("thread 100: Python", 5'000'000));
  EXPECT_EQ(opened(), source);
  EXPECT_NE(workspace().notice().find("Opened"), std::string::npos);
  EXPECT_FALSE(timeline().selection().has_value()) << "it does nothing else";
  Hold({});
  Click("tab: Code");
  Hold({.control = true});
  Click("code row 0");
  Hold({});
  EXPECT_EQ(opened(), source);
  unsetenv("VISUAL");
}

}  // namespace
}  // namespace traceinject
