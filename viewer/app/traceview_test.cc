// SPDX-License-Identifier: Apache-2.0
// The program from outside: exit codes, what it says, and the pictures it makes.
#include <gtest/gtest.h>
#include <stb_image.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>

#include "analyzer/view/style/palette.h"
#include "analyzer/view/style/theme.h"
#include "machine/testing/text.h"
#include "viewer/core/testing/sample_run.h"
#include "viewer/core/testing/slow_rank.h"

namespace traceinject {
namespace {

struct Outcome {
  int exit_code = -1;
  std::string output;  // stdout and stderr
};

// TRACEVIEW: the built program. Without a display, whatever the machine has. OpenGL's software
// renderer keeps some memory to the end, which is not ours to free.
Outcome RunTraceview(const std::string& arguments) {
  const std::string command =
      "env -u DISPLAY -u WAYLAND_DISPLAY ASAN_OPTIONS=detect_leaks=0 " TRACEVIEW " " + arguments +
      " 2>&1 </dev/null";
  Outcome outcome;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> buffer;
  while (const std::size_t bytes = fread(buffer.data(), 1, buffer.size(), pipe)) {
    outcome.output.append(buffer.data(), bytes);
  }
  const int status = pclose(pipe);
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  return outcome;
}

struct Picture {
  int width = 0, height = 0;
  std::map<Rgba, int> pixels;  // by color
  std::string bytes;
};

Picture ReadPicture(const std::string& path) {
  Picture picture;
  int channels = 0;
  const std::unique_ptr<stbi_uc, void (*)(void*)> data(
      stbi_load(path.c_str(), &picture.width, &picture.height, &channels, 3), stbi_image_free);
  if (!data) return picture;
  const int count = picture.width * picture.height;
  picture.bytes.assign(reinterpret_cast<const char*>(data.get()),
                       static_cast<std::size_t>(count) * 3);
  for (int i = 0; i < count; ++i) {
    const stbi_uc* const rgb = data.get() + 3 * i;
    ++picture.pixels[Rgba{rgb[0]} << 24 | Rgba{rgb[1]} << 16 | Rgba{rgb[2]} << 8 | 0xff];
  }
  return picture;
}

class Screenshot : public testing::Test {
 protected:
  void SetUp() override { WriteSampleRun(run_); }

  // Empty where the machine cannot draw off-screen: the test is skipped then.
  std::optional<Picture> Take(const std::string& arguments) {
    const std::string path = folder_ / "picture.png";
    const Outcome outcome = RunTraceview(run_ + " --screenshot " + path + " " + arguments);
    if (outcome.output.find("EGL offers no OpenGL") != std::string::npos) return std::nullopt;
    EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
    EXPECT_EQ(outcome.output, "traceview: the job has 2 ranks; 1 was read\n");
    return ReadPicture(path);
  }

  TemporaryFolder folder_;
  std::string run_ = folder_ / "run.db";
};

constexpr const char* kNoEgl = "EGL offers no OpenGL 3.3 on this machine";

TEST_F(Screenshot, HasTheSizeAndTheColorsOfTheRun) {
  const auto picture = Take("--size 1000x600 --from 0 --to 2200us");
  if (!picture) GTEST_SKIP() << kNoEgl;
  EXPECT_EQ(picture->width, 1000);
  EXPECT_EQ(picture->height, 600);
  EXPECT_GT(picture->pixels.size(), 20U);
  const auto pixels = [&](Rgba color) {
    const auto found = picture->pixels.find(color);
    return found != picture->pixels.end() ? found->second : 0;
  };
  // 990 us of compute in 2.2 ms on about 670 x 37 pixels, less the pixels between the boxes.
  EXPECT_GT(pixels(FillColor(Category::kCompute)), 5'000);
  EXPECT_GT(pixels(FillColor(Category::kCommunication)), 1'000);
  EXPECT_GT(pixels(FillColor(InkOf(KernelClass::kGemm))), 2'000);
  EXPECT_GT(pixels(FillColor(InkOf(KernelClass::kNorm))), 2'000);
}

TEST_F(Screenshot, TheSameCommandGivesTheSamePixels) {
  const auto first = Take("--size 800x500");
  if (!first) GTEST_SKIP() << kNoEgl;
  const auto second = Take("--size 800x500");
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(first->bytes, second->bytes);
}

TEST_F(Screenshot, ShowsTheTimeAskedFor) {
  const auto all = Take("--size 800x500"), part = Take("--size 800x500 --from 1ms --to 1200us");
  if (!all || !part) GTEST_SKIP() << kNoEgl;
  EXPECT_NE(all->bytes, part->bytes);
}

TEST_F(Screenshot, HasTheThemeAskedFor) {
  for (const Theme* theme : {&DarkTheme(), &LightTheme()}) {
    const auto picture = Take("--size 800x500 --theme " + std::string(theme->name));
    if (!picture) GTEST_SKIP() << kNoEgl;
    const auto most =
        std::max_element(picture->pixels.begin(), picture->pixels.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    EXPECT_TRUE(most->first == theme->background || most->first == theme->row_tint ||
                most->first == theme->window)
        << theme->name << std::hex << most->first;
  }
}

TEST_F(Screenshot, APictureThatCannotBeWrittenIsAnError) {
  if (!Take("")) GTEST_SKIP() << kNoEgl;
  const Outcome outcome = RunTraceview(run_ + " --screenshot /nonexistent/a.png");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_NE(outcome.output.find("/nonexistent/a.png: cannot write"), std::string::npos);
}

TEST(Traceview, HelpTeachesAndSucceeds) {
  const Outcome outcome = RunTraceview("--help");
  EXPECT_EQ(outcome.exit_code, 0);
  for (const char* word : {"--screenshot", "--theme", "--from", "run.db", "Exit codes", "--script",
                           "follow-back", "double-click"}) {
    EXPECT_NE(outcome.output.find(word), std::string::npos) << word;
  }
}

// With a display the window would ask for one.
TEST(Traceview, WithoutARecordingAndADisplayIsBadUsage) {
  const Outcome outcome = RunTraceview("");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.output.find("no recording given"), std::string::npos) << outcome.output;
}

TEST(Traceview, ServingTakesNoAddressButARecording) {
  const Outcome outcome = RunTraceview("/nonexistent/run.db --serve");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_NE(outcome.output.find("/nonexistent/run.db"), std::string::npos) << outcome.output;
}

TEST(Traceview, BadUsageIsTwo) {
  for (const char* arguments : {"",
                                "run.db --nosuch",
                                "--serve",
                                "--serve run.db",
                                "run.db --serve --check",
                                "run.db --check --follow",
                                "run.db --size 12",
                                "run.db --size 1600x900x2",
                                "run.db --size 0x900",
                                "run.db --theme blue",
                                "run.db --scale 9",
                                "run.db --scale big",
                                "run.db --from soon",
                                "run.db --from 2s --to 1s",
                                "run.db --bench-frames 0",
                                "--bench-events 100",
                                "run.db --bench-events 9 --bench-frames 9",
                                "run.db --check --screenshot a.png",
                                "run.db --check --follow",
                                "run.db --view 1s",
                                "run.db --view 2s..1s",
                                "run.db --view a..b",
                                "run.db --view all --from 1s",
                                "run.db --to 1s --view all",
                                "run.db --script a --check",
                                "--check",
                                "--bench-frames 9",
                                "--dump-state -"}) {
    const Outcome outcome = RunTraceview(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << arguments;
    EXPECT_NE(outcome.output.find("traceview --help"), std::string::npos) << outcome.output;
  }
}

TEST(Traceview, WhatCannotBeReadIsThreeAndASentence) {
  const TemporaryFolder folder;
  const std::string text = folder / "text.db";
  FILE* const file = fopen(text.c_str(), "w");
  ASSERT_NE(file, nullptr);
  fputs("no database", file);
  fclose(file);
  for (const std::string& path : {text, folder / "missing.db"}) {
    const Outcome outcome = RunTraceview(path + " --screenshot " + (folder / "a.png"));
    EXPECT_EQ(outcome.exit_code, 3) << outcome.output;
    EXPECT_TRUE(outcome.output.starts_with("traceview: ")) << outcome.output;
    EXPECT_NE(outcome.output.find(path), std::string::npos) << outcome.output;
  }
  const Outcome window = RunTraceview(folder / "missing.db");
  EXPECT_EQ(window.exit_code, 3);
  EXPECT_NE(window.output.find("missing.db"), std::string::npos) << window.output;
}

// Files that are no good, each named by what is wrong with it.
struct BadFile {
  const char* name;
  void (*write)(const std::string& path);
  const char* said;  // part of the sentence
};

const BadFile kBadFiles[] = {
    {"empty", [](const std::string& path) { WriteText(path, ""); }, "empty"},
    {"text", [](const std::string& path) { WriteText(path, "no database"); }, "not"},
    {"half_written",
     [](const std::string& path) {
       WriteSampleRun(path);
       std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
     },
     "truncated"},
    {"damaged_pages",
     [](const std::string& path) {
       WriteSampleRun(path);
       std::string bytes = ReadText(path);
       for (std::size_t i = 4096; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31);
       WriteText(path, bytes);
     },
     "damaged"},
    {"newer_version",
     [](const std::string& path) {
       RunDbFixture file(path);
       file.Execute("PRAGMA user_version = 99");
       file.Close();
     },
     "version 99"},
    {"other_database",
     [](const std::string& path) {
       RunDbFixture file(path);
       file.Execute("PRAGMA application_id = 1");
       file.Close();
     },
     "not a traceinject recording"},
    {"truncated_zst",
     [](const std::string& path) { WriteText(path, "\x28\xB5\x2F\xFD" + std::string(9, '\4')); },
     "compressed"},
};

class Unreadable : public testing::TestWithParam<BadFile> {};

TEST_P(Unreadable, IsThreeAndASentenceThatNamesTheFile) {
  const TemporaryFolder folder;
  const std::string path = folder / "run.db";
  GetParam().write(path);
  for (const std::string& mode : {std::string("--check"), "--screenshot " + (folder / "a.png"),
                                  std::string("--bench-frames 5")}) {
    const Outcome outcome = RunTraceview(path + " " + mode);
    EXPECT_EQ(outcome.exit_code, 3) << mode << "\n" << outcome.output;
    EXPECT_TRUE(outcome.output.starts_with("traceview: ")) << outcome.output;
    EXPECT_NE(outcome.output.find(path), std::string::npos) << outcome.output;
    EXPECT_NE(outcome.output.find(GetParam().said), std::string::npos) << outcome.output;
  }
}

INSTANTIATE_TEST_SUITE_P(Traceview, Unreadable, testing::ValuesIn(kBadFiles),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_F(Screenshot, HostileNamesAreShown) {
  {
    RunDbFixture file(run_, {.host = "a\033[31m\nb", .command_line = std::string(10'000, 'c')});
    std::int64_t start = 0;
    for (const std::string& name :
         {std::string("\033]0;title\007"), std::string(10'000, 'n'), std::string("\xff\xfe\x80"),
          std::string("%s%n"), std::string(), std::string("##x")}) {
      file.AddKernel({.start_ns = start += 1'000, .dur_ns = 900, .name = name});
      file.AddNvtx({.start_ns = start, .dur_ns = 900, .text = name});
    }
    file.Close();
  }
  const std::string path = folder_ / "hostile.png";
  const Outcome outcome = RunTraceview(run_ + " --screenshot " + path);
  if (outcome.output.find("EGL offers no OpenGL") != std::string::npos) GTEST_SKIP() << kNoEgl;
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_GT(ReadPicture(path).pixels.size(), 20U);
  const Outcome checked = RunTraceview(run_ + " --check");
  EXPECT_EQ(checked.output.find('\033'), std::string::npos) << checked.output;
}

TEST(Traceview, CheckSaysWhatWasReadAndWhetherItIsWhole) {
  const TemporaryFolder folder;
  const std::string run = folder / "run.db";
  WriteSampleRun(run);
  Outcome outcome = RunTraceview(run + " --check");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.output;  // a part was not recorded
  EXPECT_NE(outcome.output.find("22 GPU operations"), std::string::npos) << outcome.output;
  {
    RunDbFixture file(run);
    file.AddLaunchedKernel({.start_ns = 100, .dur_ns = 50}, 10, 20);
    file.Close();
  }
  outcome = RunTraceview(run + " --check");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
}

TEST(Traceview, BenchFramesGivesJson) {
  const TemporaryFolder folder;
  const std::string run = folder / "run.db";
  WriteSampleRun(run);
  for (const std::string& what : {run, std::string("--bench-events 20000")}) {
    const Outcome outcome = RunTraceview(what + " --bench-frames 30");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
    EXPECT_TRUE(outcome.output.starts_with("{")) << outcome.output;
    for (const char* key : {"\"events\"", "\"query_ms\": {\"p50\"", "\"frame_ms\"",
                            "\"draw_commands\"", "\"vertices\"", "\"first_rows_s\": ",
                            "\"whole_s\": ", "\"zooms\": [", "\"span_ns\": 1000000,"}) {
      EXPECT_NE(outcome.output.find(key), std::string::npos) << key << "\n" << outcome.output;
    }
  }
}

// A script, and what it prints.
Outcome RunScript(const std::string& script, const std::string& arguments = "") {
  const TemporaryFolder folder;
  const std::string run = folder / "run.db", steps = folder / "steps.txt";
  WriteSampleRun(run);
  FILE* const file = fopen(steps.c_str(), "w");
  if (file == nullptr) return {};
  fputs(script.c_str(), file);
  fclose(file);
  return RunTraceview(run + " --script " + steps + " " + arguments);
}

TEST(Traceview, AScriptNeedsNoDisplay) {
  const Outcome outcome =
      RunScript("show 0 1ms\nclick \"stream 7@125us\"\nfollow-back\n", "--dump-state -");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("\"to_ns\": 1000000"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("\"selection\": {\"row\": \"thread 4242: CUDA calls\""),
            std::string::npos)
      << outcome.output;
}

TEST(Traceview, ShowsWhatWasJudgedUnlessTheWholeRunIsAskedForOrAScriptBegins) {
  const TemporaryFolder folder;
  const std::string run = folder / "run.db", steps = folder / "steps.txt";
  WriteSlowRank(run);
  std::ofstream(steps) << "# nothing\n";
  const auto view_of = [&run](const std::string& arguments) {
    const std::string output = RunTraceview(run + " --dump-state - " + arguments).output;
    const std::size_t begin = output.find("\"view\": ");
    return begin == std::string::npos ? output
                                      : output.substr(begin, output.find('\n', begin) - begin);
  };
  const std::string all = view_of("--view all");
  EXPECT_TRUE(all.starts_with("\"view\": ")) << all;
  EXPECT_NE(view_of(""), all);
  EXPECT_EQ(view_of("--script " + steps), all);
}

TEST(Traceview, AScriptThatCannotBeDoneIsThreeAndNamesTheLine) {
  for (const auto& [script, message] :
       {std::pair("zoom-in\nzom-in\n", "line 2: unknown command \"zom-in\""),
        std::pair("select \"x@1s\"\n", "line 1: no row")}) {
    const Outcome outcome = RunScript(script);
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_NE(outcome.output.find(message), std::string::npos) << outcome.output;
    EXPECT_NE(outcome.output.find("steps.txt"), std::string::npos) << outcome.output;
  }
  EXPECT_EQ(RunTraceview("run.db --script /nonexistent").exit_code, 3);
}

TEST(Traceview, MarksAreKeptBesideTheRecording) {
  const TemporaryFolder folder;
  const std::string run = folder / "run.db", steps = folder / "steps.txt";
  WriteSampleRun(run);
  FILE* const file = fopen(steps.c_str(), "w");
  ASSERT_NE(file, nullptr);
  fputs("move \"stream 7@1ms\"\nnew-mark\ntext slow\n", file);
  fclose(file);
  EXPECT_EQ(RunTraceview(run + " --script " + steps).exit_code, 0);
  const Outcome again = RunTraceview(run + " --dump-state -");
  EXPECT_NE(again.output.find("\"text\": \"slow\""), std::string::npos) << again.output;
}

TEST(Traceview, RowsAreKeptBesideTheRecording) {
  const TemporaryFolder folder;
  const std::string run = folder / "run.db", steps = folder / "steps.txt";
  WriteSampleRun(run);
  const auto play = [&](const std::string& script) {
    WriteText(steps, script);
    return RunTraceview(run + " --script " + steps + " --dump-state -");
  };
  const std::string row = "\"row\": \"stream 7\"";
  EXPECT_NE(play("").output.find(row), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(run + ".marks.json"));
  EXPECT_EQ(play("move \"stream 7@1ms\"\nhide\n").output.find(row), std::string::npos);
  const Outcome again = play("");
  EXPECT_EQ(again.output.find(row), std::string::npos) << again.output;
  EXPECT_NE(again.output.find("\"row\": \"stream 13\""), std::string::npos) << again.output;
  EXPECT_NE(play("reset-rows\n").output.find(row), std::string::npos);
  EXPECT_NE(play("").output.find(row), std::string::npos);
}

TEST(Traceview, ViewIsFromAndTo) {
  const TemporaryFolder folder;
  const std::string run = folder / "run.db";
  WriteSampleRun(run);
  const Outcome view = RunTraceview(run + " --view 100us..1ms --dump-state -");
  const Outcome pair = RunTraceview(run + " --from 100us --to 1ms --dump-state -");
  EXPECT_EQ(view.exit_code, 0);
  EXPECT_EQ(view.output, pair.output);
  EXPECT_NE(view.output.find("\"from_ns\": 100000, \"to_ns\": 1000000"), std::string::npos);
}

TEST(Traceview, RowsGrowWithTheScale) {
  const TemporaryFolder folder;
  const std::string run = folder / "run.db";
  WriteSampleRun(run);
  for (const auto& [scale, place] : {std::pair("1", "\"top_px\": 24, \"bottom_px\": 47"),
                                     std::pair("2", "\"top_px\": 48, \"bottom_px\": 94")}) {
    const Outcome outcome = RunTraceview(run + " --dump-state - --scale " + scale);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_NE(outcome.output.find(place), std::string::npos) << outcome.output;
  }
}

TEST(Traceview, WithoutADisplayItNamesTheWayOut) {
  const TemporaryFolder folder;
  const std::string run = folder / "run.db";
  WriteSampleRun(run);
  const Outcome outcome = RunTraceview(run);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_NE(outcome.output.find("--screenshot"), std::string::npos) << outcome.output;
}

}  // namespace
}  // namespace traceinject
