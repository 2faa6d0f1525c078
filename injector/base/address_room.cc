// SPDX-License-Identifier: Apache-2.0
#include "injector/base/address_room.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>

#include "injector/base/guarded_io.h"

namespace traceinject {
namespace {

// 0: not known. /proc/self/statm (proc_pid_statm(5)): the first number is of mapped pages.
std::int64_t MappedBytes() {
  const int file = GuardedOpen("/proc/self/statm", O_RDONLY, 0);
  if (file < 0) return 0;
  char text[128] = {};
  if (read(file, text, sizeof text - 1) < 0) text[0] = '\0';
  GuardedClose(file);
  return std::strtoll(text, nullptr, 10) * sysconf(_SC_PAGESIZE);
}

}  // namespace

std::int64_t AddressRoomBytes() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
      limit.rlim_cur > static_cast<rlim_t>(kNoAddressLimit))
    return kNoAddressLimit;
  return static_cast<std::int64_t>(limit.rlim_cur) - MappedBytes();
}

}  // namespace traceinject
