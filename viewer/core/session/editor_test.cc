// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/session/editor.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "machine/testing/temporary_folder.h"
#include "viewer/core/session/small_file.h"

namespace traceinject {
namespace {

using Words = std::vector<std::string>;

class EditorTest : public testing::Test {
 protected:
  EditorTest() { std::ofstream(file_) << "x = 1\n"; }
  Words Command(const std::string& visual, const std::string& terminal = "") {
    const auto command = EditorCommand({file_, 41}, {visual, "", terminal, ""});
    return command.ok() ? command.value() : Words{"error: " + command.error()};
  }
  std::string Script(const std::string& text) {
    const std::string path = folder_ / "editor.sh";
    std::ofstream(path) << "#!/bin/sh\n" << text;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  // Once it is there.
  static std::string Content(const std::string& path) {
    for (int i = 0; i < 500; ++i) {
      const auto read = ReadSmallFile(path, 1'000);
      if (read.ok()) return read.value();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return "";
  }

  TemporaryFolder folder_;
  std::string file_ = folder_ / "my train.py";
};

TEST_F(EditorTest, EachIsToldTheLineInItsOwnWay) {
  const std::string at = file_ + ":41";
  EXPECT_EQ(Command("/usr/bin/code --wait"), (Words{"/usr/bin/code", "--wait", "--goto", at}));
  EXPECT_EQ(Command("cursor"), (Words{"cursor", "--goto", at}));
  EXPECT_EQ(Command("subl"), (Words{"subl", at}));
  EXPECT_EQ(Command("zed"), (Words{"zed", at}));
  EXPECT_EQ(Command("emacs"), (Words{"emacs", "+41", file_}));
  EXPECT_EQ(Command("pycharm"), (Words{"pycharm", "--line", "41", file_}));
  EXPECT_EQ(Command("anything"), (Words{"anything", file_})) << "opened, at no line";
}

TEST_F(EditorTest, QuotationMarksKeepSpacesTogether) {
  EXPECT_EQ(Command("'/opt/my editor' -a \"\""), (Words{"/opt/my editor", "-a", "", file_}));
  EXPECT_EQ(Command("gvim; rm -rf $HOME"), (Words{"gvim;", "rm", "-rf", "$HOME", file_}))
      << "no shell reads it";
}

TEST_F(EditorTest, VisualComesBeforeEditor) {
  EXPECT_EQ(EditorCommand({file_, 1}, {"code", "subl", "", ""}).value().front(), "code");
  EXPECT_EQ(EditorCommand({file_, 1}, {"", "subl", "", ""}).value().front(), "subl");
  EXPECT_EQ(EditorCommand({file_, 0}, {"", "subl", "", ""}).value(), (Words{"subl", file_}));
  const auto none = EditorCommand({file_, 1}, {" ", "", "", ""});
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().find("set the environment variable VISUAL"), std::string::npos);
}

TEST_F(EditorTest, EditorsOfTheTerminalGetOne) {
  EXPECT_EQ(Command("vim", "xterm"), (Words{"xterm", "-e", "vim", "+41", file_}));
  EXPECT_EQ(Command("nano", "gnome-terminal"),
            (Words{"gnome-terminal", "--", "nano", "+41", file_}));
  EXPECT_EQ(Command("hx", "kitty"), (Words{"kitty", "hx", file_ + ":41"}));
  EXPECT_EQ(Command("emacs -nw", "foot -m"), (Words{"foot", "-m", "emacs", "-nw", "+41", file_}));
  EXPECT_EQ(Command("vim").front().rfind("error: vim needs a terminal", 0), 0U);
  const std::string usual = folder_ / "x-terminal-emulator";
  std::ofstream(usual) << "#!/bin/sh\n";
  std::filesystem::permissions(usual, std::filesystem::perms::owner_all);
  const auto found =
      EditorCommand({file_, 41}, {"vim", "", "", "/nowhere::" + folder_.path().string()});
  EXPECT_EQ(found.value(), (Words{"x-terminal-emulator", "-e", "vim", "+41", file_}));
}

TEST_F(EditorTest, OnlyFilesThatAreHereAreOpened) {
  for (const char* file : {"/nowhere/train.py", "<stdin>", "", "<frozen importlib._bootstrap>"}) {
    EXPECT_FALSE(EditorCommand({file, 1}, {"code", "", "", ""}).ok()) << file;
  }
  EXPECT_FALSE(EditorCommand({folder_.path().string(), 1}, {"code", "", "", ""}).ok());
  EXPECT_EQ(EditorCommand({"/nowhere/train.py", 1}, {"code", "", "", ""}).error(),
            "/nowhere/train.py is not on this machine");
}

// A name from a recording must not become an option or a command of the editor.
TEST_F(EditorTest, NamesAreNoOptions) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  std::ofstream("+q") << "x\n";
  const auto command = EditorCommand({"+q", 3}, {"gvim", "", "", ""});
  std::filesystem::current_path(before);
  ASSERT_TRUE(command.ok());
  EXPECT_EQ(command.value(), (Words{"gvim", "+3", folder_ / "+q"}));
}

TEST_F(EditorTest, ProgramsAreStartedWithTheirArgumentsAsTheyAre) {
  const std::string said = folder_ / "said";
  const std::string script = Script("printf '%s|' \"$@\" > said.new && mv said.new \"$2\"\n");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  const Status started = StartProgram({script, "a b; $(c)", said});
  std::filesystem::current_path(before);
  ASSERT_TRUE(started.ok()) << started.error();
  EXPECT_EQ(Content(said), "a b; $(c)|" + said + "|");
}

TEST_F(EditorTest, WhatCannotBeStartedSaysSo) {
  const Status started = StartProgram({folder_ / "not there", "a"});
  ASSERT_FALSE(started.ok());
  EXPECT_NE(started.error().find("not there cannot be started: No such file"), std::string::npos);
}

}  // namespace
}  // namespace traceinject
