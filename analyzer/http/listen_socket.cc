// SPDX-License-Identifier: Apache-2.0
#include "analyzer/http/listen_socket.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

namespace traceinject {
namespace {

bool IsLoopback(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET)
    return ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr) >> 24 == 127;
  return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr) != 0;
}

int PortOf(const sockaddr_storage& address) {
  const bool is_ipv4 = address.ss_family == AF_INET;
  return ntohs(is_ipv4 ? reinterpret_cast<const sockaddr_in&>(address).sin_port
                       : reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
}

// getaddrinfo() takes larger numbers, and cuts them.
bool IsPort(const std::string& text) {
  constexpr std::size_t kMaxDigits = 5;
  constexpr int kMaxPort = 65535;
  return !text.empty() && text.size() <= kMaxDigits &&
         text.find_first_not_of("0123456789") == std::string::npos && std::stoi(text) <= kMaxPort;
}

// "host:port" and "[host]:port".
bool Split(const std::string& address, std::string& host, std::string& port) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon + 1 == address.size()) return false;
  host = address.substr(0, colon);
  port = address.substr(colon + 1);
  if (host.size() > 1 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  return !host.empty() && IsPort(port);
}

}  // namespace

Result<ListenSocket> ListenSocket::Open(const std::string& address) {
  std::string host, port;
  if (!Split(address, host, port))
    return Error{fmt::format("{}: expected HOST:PORT, as in 127.0.0.1:9464, the port at most 65535",
                             address)};
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failed = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (failed != 0) return Error{fmt::format("{}: {}", address, gai_strerror(failed))};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  ListenSocket opened(socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int yes = 1;
  if (opened.fd_ >= 0) setsockopt(opened.fd_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (opened.fd_ < 0 || bind(opened.fd_, found->ai_addr, found->ai_addrlen) != 0 ||
      listen(opened.fd_, SOMAXCONN) != 0)
    return Error{
        fmt::format("{}: cannot listen on this address ({})", address, std::strerror(errno))};
  sockaddr_storage bound = {};
  socklen_t length = sizeof(bound);
  getsockname(opened.fd_, reinterpret_cast<sockaddr*>(&bound), &length);
  opened.port_ = PortOf(bound);
  opened.is_loopback_ = IsLoopback(bound);
  opened.is_ipv6_ = bound.ss_family == AF_INET6;
  return opened;
}

ListenSocket::ListenSocket(ListenSocket&& other) noexcept
    : fd_(other.Release()),
      port_(other.port_),
      is_loopback_(other.is_loopback_),
      is_ipv6_(other.is_ipv6_) {}

ListenSocket::~ListenSocket() {
  if (fd_ >= 0) close(fd_);
}

int ListenSocket::Release() { return std::exchange(fd_, -1); }

}  // namespace traceinject
