// SPDX-License-Identifier: Apache-2.0
// The file into which NCCL in this process writes its log. NCCL makes it when it first has
// something to say; it is then opened and removed at once, so that a process that is killed leaves
// nothing behind, and read on through the descriptor. Writer thread only, but for Remove().
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace traceinject {

class NcclLogFile {
 public:
  // Read in all at most, and of one line. NCCL writes about a kilobyte for each connection.
  static constexpr std::int64_t kMaxBytes = 64 << 20;
  static constexpr std::size_t kMaxLineBytes = 4096;

  using Visit = std::function<void(std::string_view)>;

  // `path` as NcclLogPath gives it; empty: there will be none.
  explicit NcclLogFile(std::string path) : path_(std::move(path)) {}
  ~NcclLogFile();
  NcclLogFile(const NcclLogFile&) = delete;
  NcclLogFile& operator=(const NcclLogFile&) = delete;

  // Whether the file is still awaited: then Poll() should come often.
  bool awaited() const { return !path_.empty() && fd_ < 0 && failure_.empty(); }

  // Visits the lines, without their ends, that are complete since the last time. O(bytes).
  void Poll(const Visit& visit);

  // A file that came after the last Poll(). Any thread; allocates nothing.
  void Remove() const noexcept;

  // Why there is nothing to read although NCCL made the file; empty: it is read.
  const std::string& failure() const { return failure_; }

 private:
  void Open(const Visit& visit);
  void Read(const Visit& visit);
  void Take(std::string_view bytes, const Visit& visit);
  void Fail(const char* why);

  const std::string path_;
  int fd_ = -1;
  std::int64_t offset_ = 0;  // in the file that is open
  std::int64_t total_ = 0;   // read from all
  std::string line_;         // as far as it was written
  bool clipped_ = false;     // it was longer than may be
  std::string failure_;
};

}  // namespace traceinject
