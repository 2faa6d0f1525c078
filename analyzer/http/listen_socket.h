// SPDX-License-Identifier: Apache-2.0
// A port of this machine that clients can connect to.
#pragma once

#include <string>

#include "analyzer/common/result.h"

namespace traceinject {

class ListenSocket {
 public:
  // `address`: "127.0.0.1:9464", "[::1]:9464", "localhost:0" (any free port).
  static Result<ListenSocket> Open(const std::string& address);
  ~ListenSocket();
  ListenSocket(ListenSocket&& other) noexcept;
  ListenSocket& operator=(ListenSocket&&) = delete;

  int port() const { return port_; }
  // Whether only this machine can reach it.
  bool is_loopback() const { return is_loopback_; }
  bool is_ipv6() const { return is_ipv6_; }
  // The descriptor, which is the caller's from now on.
  int Release();

 private:
  explicit ListenSocket(int fd) : fd_(fd) {}

  int fd_ = -1;
  int port_ = 0;
  bool is_loopback_ = false, is_ipv6_ = false;
};

}  // namespace traceinject
