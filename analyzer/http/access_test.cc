// SPDX-License-Identifier: Apache-2.0
#include "analyzer/http/access.h"

#include <gtest/gtest.h>

#include <fstream>

#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

int StatusOf(const AccessRules& rules, const HttpHeaders& headers,
             const std::string& path = "/metrics") {
  const auto refused = RefuseAccess(rules, {"GET", path, headers});
  return refused ? refused->status : 200;
}

TEST(Access, OnLoopbackTheHostHasToBeThisMachine) {
  const AccessRules rules;
  for (const char* host : {"localhost", "LocalHost:9464", "127.0.0.1", "127.1.2.3:80", "[::1]",
                           "[::1]:9464", "jobs.localhost:9464"})
    EXPECT_EQ(StatusOf(rules, {{"host", host}}), 200) << host;
  EXPECT_EQ(StatusOf(rules, {}), 200);
  for (const char* host : {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example",
                           "10.0.0.1:9464", "[::2]:9464", "evil.example:127", "127.x"})
    EXPECT_EQ(StatusOf(rules, {{"host", host}}), 403) << host;
  AccessRules outside;
  outside.is_loopback = false;
  outside.open = true;
  EXPECT_EQ(StatusOf(outside, {{"host", "node7:9464"}}), 200);
}

TEST(Access, WithoutCredentialsOtherMachinesHaveOnePath) {
  AccessRules rules;
  rules.is_loopback = false;
  rules.open_path = "/metrics";
  EXPECT_EQ(StatusOf(rules, {}), 200);
  EXPECT_EQ(StatusOf(rules, {}, "/"), 403);
  EXPECT_EQ(StatusOf(rules, {}, "/metrics/"), 403);
  rules.open = true;
  EXPECT_EQ(StatusOf(rules, {}, "/"), 200);
}

TEST(Access, CredentialsAreNeededWhereThereAreAny) {
  AccessRules rules;
  rules.open = true;
  rules.open_path = "/metrics";
  rules.credentials.AddToken("secret");
  rules.credentials.AddUser("ann", "pass:word");
  // "any:secret", "ann:pass:word"
  for (const char* good : {"Bearer secret", "bearer  secret", "Basic YW55OnNlY3JldA==",
                           "basic YW55OnNlY3JldA", "Basic YW5uOnBhc3M6d29yZA=="})
    EXPECT_EQ(StatusOf(rules, {{"authorization", good}}), 200) << good;
  // "ann:secre", "bob:pass:word", "secret", "ann:"
  for (const char* bad :
       {"", "Bearer", "Bearer ", "Bearer secre", "Bearer secrets", "Bearer Secret", "secret",
        "Bearer pass:word", "Basic YW5uOnNlY3Jl", "Basic Ym9iOnBhc3M6d29yZA==", "Basic c2VjcmV0",
        "Basic YW5uOg==", "Basic !!!", "Basic", "Digest secret"}) {
    const auto refused = RefuseAccess(rules, {"GET", "/metrics", {{"authorization", bad}}});
    ASSERT_TRUE(refused) << bad;
    EXPECT_EQ(refused->status, 401) << bad;
    EXPECT_EQ(refused->headers.size(), 2U);
  }
}

TEST(Credentials, SecretsComeFromFiles) {
  const TemporaryFolder folder;
  const std::string path = folder / "token";
  std::ofstream(path) << "se cret \r\nsecond line\n";
  const auto secret = ReadSecret(path);
  ASSERT_TRUE(secret.ok()) << secret.error();
  EXPECT_EQ(secret.value(), "se cret");
  std::ofstream(path) << "\n";
  EXPECT_FALSE(ReadSecret(path).ok());
  EXPECT_FALSE(ReadSecret(folder / "none").ok());
}

TEST(Credentials, MadeSecretsDiffer) {
  const auto first = MakeSecret(), second = MakeSecret();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first.value().size(), 32U);
  EXPECT_NE(first.value(), second.value());
}

}  // namespace
}  // namespace traceinject
