// SPDX-License-Identifier: Apache-2.0
#include "packaging/man_page.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

namespace traceinject {
namespace {

TEST(ManPage, TextIsNoRequestAndNoEscape) {
  EXPECT_EQ(RoffText(".so /etc/passwd\n'br"), "\\&.so /etc/passwd\n\\&\\(aqbr");
  EXPECT_EQ(RoffText("a\\fB"), "a\\efB");
  EXPECT_EQ(RoffText("--from"), "\\-\\-from");
}

TEST(ManPage, OptionsAreThoseThatTheCommandDeclares) {
  CLI::App app("Does it.", "analyze test");
  std::string format = "text", hidden;
  std::vector<std::string> runs;
  bool flag = false;
  app.add_option("--format", format, "of the output")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  app.add_option("--root", hidden)->group("");
  app.add_flag("--brief", flag, "less");
  app.add_option("run", runs, "recordings")->required();

  const CommandText command = DescribeCommand(app);
  ASSERT_EQ(command.arguments.size(), 1u);
  EXPECT_TRUE(command.arguments[0].repeated);
  ASSERT_EQ(command.options.size(), 3u);  // with --help, without the hidden one
  EXPECT_EQ(command.options[1].names, std::vector<std::string>{"--format"});
  EXPECT_EQ(command.options[1].choices, (std::vector<std::string>{"text", "json"}));
  EXPECT_EQ(command.options[2].value, "");

  ManPage page("analyze", "1", "says it");
  page.Usage(command);
  page.Options(command);
  EXPECT_NE(page.text().find("[OPTIONS] RUN..."), std::string::npos);
  EXPECT_NE(page.text().find("of the output (one of: text, json) [default: text]"),
            std::string::npos);
  EXPECT_EQ(page.text().find("root"), std::string::npos);
}

}  // namespace
}  // namespace traceinject
