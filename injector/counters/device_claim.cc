// SPDX-License-Identifier: Apache-2.0
#include "injector/counters/device_claim.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>

namespace traceinject {
namespace {

constexpr char kPrefix[] = "traceinject-counters-";

// The sockets of this process, for the forked child: 0 is none, which a socket of ours never is.
constinit std::array<std::atomic<int>, 64> g_sockets{};

void CloseInChild() {
  for (std::atomic<int>& one : g_sockets) {
    if (const int descriptor = one.exchange(0); descriptor != 0) close(descriptor);
  }
}

socklen_t NameOf(const std::string& uuid, sockaddr_un* name) {
  *name = {};
  name->sun_family = AF_UNIX;
  // The first byte stays 0: a name without a file.
  const std::string text = kPrefix + uuid;
  const std::size_t bytes = std::min(text.size(), sizeof name->sun_path - 1);
  memcpy(name->sun_path + 1, text.data(), bytes);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + bytes);
}

// -1: there is none. Never one of the standard three, which the program may have closed.
int NewSocket() {
  const int first = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (first < 0 || first > STDERR_FILENO) return first;
  const int other = fcntl(first, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  close(first);
  return other;
}

// Who listens there; 0: not seen, or ended just now.
std::int64_t HolderOf(const sockaddr_un& name, socklen_t bytes) {
  const int asking = NewSocket();
  if (asking < 0) return 0;
  ucred holder{};
  socklen_t size = sizeof holder;
  const bool told = connect(asking, reinterpret_cast<const sockaddr*>(&name), bytes) == 0 &&
                    getsockopt(asking, SOL_SOCKET, SO_PEERCRED, &holder, &size) == 0;
  close(asking);
  return told ? holder.pid : 0;
}

}  // namespace

bool DeviceClaim::Take(const std::string& uuid, std::int64_t* holder) {
  static const bool registered = pthread_atfork(nullptr, nullptr, CloseInChild) == 0;
  Release();
  *holder = -1;
  auto* const free = std::find_if(g_sockets.begin(), g_sockets.end(),
                                  [](const auto& one) { return one.load() == 0; });
  const int own = NewSocket();
  if (!registered || free == g_sockets.end() || own < 0) {
    if (own >= 0) close(own);
    return false;
  }
  sockaddr_un name;
  const socklen_t bytes = NameOf(uuid, &name);
  if (bind(own, reinterpret_cast<const sockaddr*>(&name), bytes) != 0 || listen(own, 1) != 0) {
    close(own);
    *holder = HolderOf(name, bytes);
    return false;
  }
  free->store(own);
  slot_ = static_cast<int>(free - g_sockets.begin());
  return true;
}

void DeviceClaim::Release() {
  if (slot_ < 0) return;
  // 0 in a forked child.
  const int own = g_sockets[static_cast<std::size_t>(slot_)].exchange(0);
  slot_ = -1;
  sockaddr_un name{};
  socklen_t bytes = sizeof name;
  // The program may have closed it, and have one of its own under that number.
  if (own != 0 && getsockname(own, reinterpret_cast<sockaddr*>(&name), &bytes) == 0 &&
      name.sun_family == AF_UNIX && name.sun_path[0] == '\0' &&
      strncmp(name.sun_path + 1, kPrefix, sizeof kPrefix - 1) == 0)
    close(own);
}

}  // namespace traceinject
