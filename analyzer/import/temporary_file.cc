// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/temporary_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

namespace traceinject {
namespace {

constexpr std::string_view kJournal = "-journal";

// What a signal handler may look at: it can neither allocate nor lock. A file that finds no free
// slot is just not removed by a signal.
struct Slot {
  enum State : int { kFree, kChanging, kUsed };
  std::atomic<int> state{kFree};
  std::array<char, 512> path, journal;
};
std::array<Slot, 64> slots;
constexpr std::size_t kNoSlot = slots.size();

std::size_t TakeSlot(const std::string& path) {
  if (path.size() + kJournal.size() >= slots[0].path.size()) return kNoSlot;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    int free = Slot::kFree;
    if (!slots[i].state.compare_exchange_strong(free, Slot::kChanging)) continue;
    std::strcpy(slots[i].path.data(), path.c_str());
    std::strcpy(slots[i].journal.data(), (path + std::string(kJournal)).c_str());
    slots[i].state = Slot::kUsed;
    return i;
  }
  return kNoSlot;
}

extern "C" void RemoveTemporaryFiles(int signal) {
  const int saved_errno = errno;
  for (Slot& slot : slots) {
    int used = Slot::kUsed;
    // Nobody gets the slot again, for the process ends.
    if (!slot.state.compare_exchange_strong(used, Slot::kChanging)) continue;
    unlink(slot.path.data());
    unlink(slot.journal.data());
  }
  errno = saved_errno;
  // The handler is reset (SA_RESETHAND) and the signal blocked until it returns.
  raise(signal);
}

void RemoveOnSignals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction current = {};
    // What is ignored (nohup) or handled by somebody else stays so.
    if (sigaction(signal, nullptr, &current) != 0 || current.sa_handler != SIG_DFL) continue;
    struct sigaction ours = {};
    ours.sa_handler = RemoveTemporaryFiles;
    ours.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    sigemptyset(&ours.sa_mask);
    sigaction(signal, &ours, nullptr);
  }
}

}  // namespace

FileDescriptor::FileDescriptor(FileDescriptor&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)) {}

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) close(fd_);
}

Result<TemporaryFile> TemporaryFile::Create() {
  RemoveOnSignals();
  const char* folder = std::getenv("TMPDIR");
  std::string path =
      std::string(folder != nullptr && *folder != '\0' ? folder : "/tmp") + "/traceinject-XXXXXX";
  FileDescriptor fd(mkostemp(path.data(), O_CLOEXEC));
  if (!fd.valid()) {
    return Error{
        fmt::format("{}: no temporary file can be made there ({}). Set TMPDIR to a folder with "
                    "room.",
                    path, std::strerror(errno))};
  }
  return TemporaryFile(std::move(path), std::move(fd));
}

Result<TemporaryFile> TemporaryFile::CreateBeside(const std::string& path) {
  RemoveOnSignals();
  std::string name = path + ".part-XXXXXX";
  FileDescriptor fd(mkostemp(name.data(), O_CLOEXEC));
  if (!fd.valid())
    return Error{fmt::format("{}: no file can be made there ({})", path, std::strerror(errno))};
  return TemporaryFile(std::move(name), std::move(fd));
}

TemporaryFile::TemporaryFile(std::string path, FileDescriptor fd)
    : path_(std::move(path)), fd_(std::move(fd)), slot_(TakeSlot(path_)) {}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : path_(std::exchange(other.path_, {})), fd_(std::move(other.fd_)), slot_(other.slot_) {}

TemporaryFile::~TemporaryFile() {
  if (path_.empty()) return;
  unlink(path_.c_str());
  unlink((path_ + std::string(kJournal)).c_str());
  Forget();
}

void TemporaryFile::Forget() {
  path_.clear();
  int used = Slot::kUsed;
  if (slot_ != kNoSlot) slots[slot_].state.compare_exchange_strong(used, Slot::kFree);
}

Status TemporaryFile::Keep(const std::string& path) {
  const mode_t mask = umask(0);
  umask(mask);
  if (fchmod(fd_.get(), 0666 & ~mask) != 0 || fsync(fd_.get()) != 0 ||
      std::rename(path_.c_str(), path.c_str()) != 0)
    return Error{fmt::format("{}: cannot be written ({})", path, std::strerror(errno))};
  Forget();
  return Done{};
}

Status TemporaryFile::Append(const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t written = write(fd_.get(), bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      return Error{
          fmt::format("{}: writing the temporary file failed ({}). Set TMPDIR to a folder with "
                      "room.",
                      path_, std::strerror(errno))};
    }
    bytes += written;
    count -= static_cast<std::size_t>(written);
  }
  return Done{};
}

}  // namespace traceinject
