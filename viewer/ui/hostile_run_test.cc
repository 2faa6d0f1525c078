// SPDX-License-Identifier: Apache-2.0
// Every panel with recordings that are damaged or whose names are hostile: it draws, and does not
// crash. Worth most under the address sanitizer.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <string>

#include "analyzer/common/printable.h"
#include "analyzer/model/testing/units.h"
#include "viewer/core/session/dump_state.h"
#include "viewer/ui/testing/ui_fixture.h"

namespace traceinject {
namespace {

class HostileRunTest : public UiFixture {
 protected:
  // The pointer on, and a selection in, every row; each tab with them.
  void LookAtEverything() {
    const RowModel& model = timeline().model();
    for (std::uint32_t row = 0; row < model.rows.size(); ++row) {
      const std::vector<Lane>& lanes = model.rows[row].lanes;
      if (lanes.empty() || lanes[0].size() == 0) continue;
      workspace().timeline().Reveal({row, 0, static_cast<std::uint32_t>(lanes[0].size() / 2)});
      Frame({Key::kF, Key::kR});
      Frame({Key::kRightBracket, Key::kLeftBracket, Key::kEscape});
      const Box box = timeline().EventBox(*timeline().selection());
      MoveTo({Origin().x + box.left + 1, Origin().y + box.top + 1});
      Settle();
    }
    for (const char* tab : {"Verdict", "Details", "Code", "Statistics", "Find", "Marks"}) {
      Click(std::string("tab: ") + tab);
    }
    for (const Command& command : Commands()) {
      if (command.id != CommandId::kQuit) workspace().Do(command.id);
      Frame();
    }
    Settle();
    EXPECT_GT(ImGui::GetDrawData()->TotalVtxCount, 100);
    EXPECT_FALSE(DumpState(workspace()).empty());
  }

  void LookAt(const std::string& path) {
    LoadResult loaded = LoadWithRows({path}, {});
    if (!loaded.ok()) {
      ++refused_;
      EXPECT_EQ(loaded.error(), Printable(loaded.error())) << "a sentence, on one line";
      ui_.SetProblem(loaded.error());
      return Frame();
    }
    ++shown_;
    Load(std::move(loaded).value(), std::nullopt, std::nullopt);
    LookAtEverything();
  }

  // The recording with some of it changed.
  template <typename Damage>
  void LookAtDamaged(int rounds, Damage damage) {
    const std::string good = folder_ / "good.db", bad = folder_ / "run.db";
    WriteSampleRun(good);
    std::ifstream file(good, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    std::mt19937 random(1);
    for (int round = 0; round < rounds; ++round) {
      SCOPED_TRACE(round);
      std::string damaged = bytes;
      damage(damaged, random);
      std::ofstream(bad, std::ios::binary | std::ios::trunc) << damaged;
      LookAt(bad);
    }
  }

  TemporaryFolder folder_;
  int shown_ = 0, refused_ = 0;
};

// All that a recording can be given a text for.
void WriteNamed(const std::string& path, const std::string& name) {
  RunDbFixture file(path, {.host = name, .end_ns = 5 * kMs, .command_line = name});
  file.AddDevice({.name = name});
  for (int i = 0; i < 20; ++i) {
    const TimeNs start = kMs + i * 100 * kUs;
    file.AddLaunchedKernel({.start_ns = start, .dur_ns = 50 * kUs, .name = name}, start - 90 * kUs,
                           5 * kUs);
    file.AddApi({.start_ns = start - 20 * kUs, .dur_ns = 5 * kUs, .name = name});
    file.AddNvtx({.start_ns = start, .dur_ns = 80 * kUs, .text = name, .domain = name});
    file.AddCollective({.start_ns = start, .dur_ns = 9 * kUs, .function = name});
  }
  for (int i = 0; i < 9; ++i) {
    file.AddStackSample(
        {.time_ns = kMs + i * 300 * kUs,
         .frames = {{.function = name, .file = name, .line = i}, {.function = "f", .file = name}}});
  }
  file.AddGap(4 * kMs, kMs, name);
  file.AddHealth(name, name, 3, name);
  file.AddFact("environment", name, name);
  file.Close();
}

TEST_F(HostileRunTest, NamesOfAnyKindAreShown) {
  for (const std::string& name :
       {std::string("\033]0;title\007\033[31m"), std::string(10'000, 'n'), std::string(3'000, '\n'),
        std::string("\xff\xfe\x80\xf0\x9f"), std::string("%s%n%08x"), std::string(),
        std::string("##x###y"), std::string("a\0b", 3), std::string("\u202e\u0301\u200b"),
        std::string(10'000, '\xc3')}) {
    SCOPED_TRACE(Printable(name).substr(0, 40));
    const std::string path = folder_ / "run.db";
    WriteNamed(path, name);
    LookAt(path);
    workspace().timeline().SetMeasure(Measure{kMs, 2 * kMs, kNone});
    workspace().Do(CommandId::kNewMark);
    Mark mark = marks()[0];
    mark.text = name;
    workspace().ChangeMark(0, mark);
    Settle();
    const Box flag = workspace().MarkFlag(marks()[0]);
    MoveTo({Origin().x + flag.left + 4, Origin().y + flag.top + 4});
    Click(Place("stream 7", 1'025 * kUs));
    Click("tab: Details");
    Click("details: copy");
    std::string copied = ImGui::GetClipboardText();
    std::erase(copied, '\n');
    EXPECT_EQ(copied, Printable(copied));
    ui_.SetOpening(name);
    ui_.SetProblem(name + "x");
    Settle();
    ui_.SetProblem("");
  }
  EXPECT_EQ(refused_, 0);
}

TEST_F(HostileRunTest, ARecordingThatWasCutIsShownOrRefused) {
  LookAtDamaged(
      40, [](std::string& bytes, std::mt19937& random) { bytes.resize(random() % bytes.size()); });
  EXPECT_GT(refused_, 0);
}

TEST_F(HostileRunTest, ARecordingWithChangedBytesIsShownOrRefused) {
  LookAtDamaged(120, [](std::string& bytes, std::mt19937& random) {
    const auto changes = 1 + random() % 24;
    for (unsigned i = 0; i < changes; ++i) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
  });
  EXPECT_GT(refused_, 0);
  EXPECT_GT(shown_, 0);
}

// What is in the file is in order, but the figures are not.
TEST_F(HostileRunTest, TimesAtTheEndOfTheNumbersAreShownOrRefused) {
  constexpr TimeNs kFar = std::numeric_limits<TimeNs>::max() / 4;
  for (const TimeNs start : {-kFar, TimeNs{0}, kFar}) {
    for (const TimeNs length : {TimeNs{0}, TimeNs{1}, kFar}) {
      const std::string path = folder_ / "run.db";
      RunDbFixture file(path, {.end_ns = 5 * kMs});
      file.AddLaunchedKernel({.start_ns = 1'000, .dur_ns = 500}, 100, 20);
      file.AddLaunchedKernel({.start_ns = start, .dur_ns = length}, start, 20);
      file.AddNvtx({.start_ns = start, .dur_ns = length});
      file.Close();
      LookAt(path);
    }
  }
}

}  // namespace
}  // namespace traceinject
