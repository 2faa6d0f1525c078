// SPDX-License-Identifier: Apache-2.0
#include "analyzer/http/listen_socket.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace traceinject {
namespace {

TEST(ListenSocket, SaysWhoCanReachIt) {
  const auto loopback = ListenSocket::Open("127.0.0.1:0");
  ASSERT_TRUE(loopback.ok()) << loopback.error();
  EXPECT_TRUE(loopback.value().is_loopback());
  EXPECT_FALSE(loopback.value().is_ipv6());
  const auto all = ListenSocket::Open("0.0.0.0:0");
  ASSERT_TRUE(all.ok()) << all.error();
  EXPECT_FALSE(all.value().is_loopback());
}

TEST(ListenSocket, SaysWhyItCannotListen) {
  const auto first = ListenSocket::Open("127.0.0.1:0");
  ASSERT_TRUE(first.ok()) << first.error();
  const std::string taken = fmt::format("127.0.0.1:{}", first.value().port());
  const auto second = ListenSocket::Open(taken);
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().find("in use"), std::string::npos) << second.error();
  for (const char* wrong : {"", "9464", ":9464", "127.0.0.1", "127.0.0.1:", "127.0.0.1:http",
                            "256.0.0.1:1", "127.0.0.1:65536", "127.0.0.1:99999999999"})
    EXPECT_FALSE(ListenSocket::Open(wrong).ok()) << wrong;
}

}  // namespace
}  // namespace traceinject
