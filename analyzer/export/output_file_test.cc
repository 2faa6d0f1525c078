// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/output_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "analyzer/import/source/gzip_source.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public testing::Test {
 protected:
  OutputFile Create(Packing packing = Packing::kPlain) {
    auto file = OutputFile::Create(path_, packing);
    if (!file.ok()) throw std::runtime_error(file.error());
    return std::move(file).value();
  }
  std::string Text() const {
    std::stringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }
  std::size_t Files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "out";
};

TEST_F(OutputFileTest, IsForItsOwnerOnly) {
  OutputFile file = Create();
  ASSERT_TRUE(file.Close().ok());
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(OutputFileTest, AppearsAsAWhole) {
  std::ofstream(path_) << "before";
  OutputFile file = Create();
  file.Write(std::string(3 << 20, 'x'));
  EXPECT_EQ(Text(), "before");
  ASSERT_TRUE(file.Close().ok());
  EXPECT_EQ(Text().size(), std::size_t{3 << 20});
  EXPECT_EQ(file.bytes(), std::uint64_t{3 << 20});
  EXPECT_EQ(Files(), 1U);
}

TEST_F(OutputFileTest, WhatIsGivenUpLeavesNothing) {
  std::ofstream(path_) << "before";
  { Create().Write("half"); }
  EXPECT_EQ(Text(), "before");
  EXPECT_EQ(Files(), 1U);
}

TEST_F(OutputFileTest, GzipIsUnpackedToTheSame) {
  OutputFile file = Create(Packing::kGzip);
  std::string text;
  for (std::int64_t i = 0; i < 300'000; ++i) text += std::to_string(i * 7919) + "\n";
  for (std::size_t at = 0; at < text.size(); at += 1'000) file.Write(text.substr(at, 1'000));
  ASSERT_TRUE(file.Close().ok());
  auto source = GzipSource::Open(path_);
  ASSERT_TRUE(source.ok());
  std::vector<char> read(text.size() + 1);
  std::size_t size = 0;
  for (;;) {
    const auto part = source.value().Read(read.data() + size, read.size() - size);
    ASSERT_TRUE(part.ok()) << part.error();
    if (part.value() == 0) break;
    size += part.value();
  }
  EXPECT_EQ(std::string_view(read.data(), size), text);
  EXPECT_LT(file.bytes(), text.size() / 2);
}

TEST_F(OutputFileTest, WhatSomebodyPutInItsWayIsNotWrittenTo) {
  const std::string victim = folder_ / "victim";
  std::ofstream(victim) << "precious";
  for (const std::string& link : {path_, path_ + "." + std::to_string(getpid()) + ".part"})
    fs::create_symlink(victim, link);
  OutputFile file = Create();
  file.Write("text");
  ASSERT_TRUE(file.Close().ok());
  EXPECT_EQ(Text(), "text");
  EXPECT_FALSE(fs::is_symlink(path_));
  std::string kept;
  std::ifstream(victim) >> kept;
  EXPECT_EQ(kept, "precious");
}

TEST_F(OutputFileTest, FailuresAreTold) {
  EXPECT_FALSE(OutputFile::Create(folder_ / "no/such/folder").ok());
  auto full = OutputFile::Create("/dev/full");
  ASSERT_TRUE(full.ok());
  full.value().Write(std::string(4 << 20, 'x'));
  EXPECT_TRUE(full.value().failed());
  const Status closed = full.value().Close();
  ASSERT_FALSE(closed.ok());
  EXPECT_NE(closed.error().find("No space left"), std::string::npos);
}

}  // namespace
}  // namespace traceinject
