// SPDX-License-Identifier: Apache-2.0
#include "injector/recorder/trigger_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "injector/base/guarded_io.h"

namespace traceinject {

std::int64_t TriggerFile::Read() const {
  // Not blocking: somebody may have put a pipe there.
  const int file = GuardedOpen(path_.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);
  if (file < 0) return kNoOrder;
  char bytes[64];
  struct stat about {};
  ssize_t length = -1;
  if (fstat(file, &about) == 0 && S_ISREG(about.st_mode) &&
      (about.st_uid == geteuid() || about.st_uid == 0) && GuardedIsOurs(file))
    length = pread(file, bytes, sizeof bytes, 0);
  GuardedClose(file);
  const std::int64_t written_ns =
      std::int64_t{about.st_mtim.tv_sec} * 1'000'000'000 + about.st_mtim.tv_nsec;
  if (length <= 0 || written_ns < since_ns_) return kNoOrder;
  std::string_view text(bytes, static_cast<std::size_t>(length));
  text = text.substr(0, text.find('\n'));
  if (text == "stop") return kStop;
  if (text == "start") return kStart;
  constexpr std::string_view kUntil = "start until ";
  std::int64_t until_ns = kStop;
  if (text.substr(0, kUntil.size()) != kUntil) return kNoOrder;
  text.remove_prefix(kUntil.size());
  std::from_chars(text.data(), text.data() + text.size(), until_ns);
  return std::max(until_ns, kStop);
}

}  // namespace traceinject
