// SPDX-License-Identifier: Apache-2.0
#include "injector/rows/secret_names.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "injector/base/ascii.h"

namespace traceinject {
namespace {

using Words = std::vector<std::string>;

// "trainer.hfToken-2" -> trainer, hf, token. Digits at the end of a word number it.
Words WordsOf(std::string_view name) {
  constexpr std::size_t kLongest = 256;
  name.remove_prefix(name.size() - std::min(name.size(), kLongest));
  Words words(1);
  for (std::size_t at = 0; at < name.size(); ++at) {
    const bool hump = at > 0 && IsUpper(name[at]) && !IsUpper(name[at - 1]);
    if (!words.back().empty() && (hump || !IsAlnum(name[at]))) words.emplace_back();
    if (IsAlnum(name[at])) words.back() += Lower(name[at]);
  }
  for (std::string& word : words) {
    while (!word.empty() && IsDigit(word.back())) word.pop_back();
  }
  std::erase(words, std::string());
  return words;
}

// Wherever they stand in a name, also written as one with what is before: dbpassword, clientSecret.
constexpr std::string_view kSecretEndings[] = {
    "password",  "passwords",   "passwd",     "passphrase", "secret",        "secrets",
    "apikey",    "apikeys",     "authkey",    "accesskey",  "secretkey",     "privatekey",
    "awskey",    "wandbkey",    "dbpass",     "userpass",   "credential",    "credentials",
    "authtoken", "accesstoken", "signingkey", "hftoken",    "authorization", "creds",
    "passcode",  "userpw",      "userpwd",    "mypass",     "mypwd",         "dbpwd",
    "dbpw",      "accesskeyid", "ngckey",     "neptunekey", "cometkey",      "openaikey",
    "kagglekey", "hfkey",       "sshkey",     "cookie",     "cookies",       "connstr",
    "webhook"};
// Pairs of words, wherever they stand.
constexpr std::pair<std::string_view, std::string_view> kSecretPairs[] = {
    {"seed", "phrase"}, {"pass", "phrase"}, {"connection", "string"}, {"conn", "str"}};
// Whole names.
constexpr std::string_view kSecretNames[] = {"ak", "sk", "pin"};
// What makes a key or token, wherever it stands, that of an account: api_key, access-token.
constexpr std::string_view kOfAnAccount[] = {"api",     "access", "account",   "secret",
                                             "private", "auth",   "signing",   "refresh",
                                             "license", "proxy",  "encryption"};
// At the end of a name only: --key-frames and token_type_ids are something else.
constexpr std::string_view kSecretLast[] = {"token", "key", "auth", "oauth",     "pass",   "pwd",
                                            "pw",    "sig", "jwt",  "signature", "bearer", "cred",
                                            "psw",   "pat", "sas",  "otp",       "mfa",    "hmac"};
// What may follow that end.
constexpr std::string_view kQualifiers[] = {"read",  "write",   "ro",    "rw",    "prod",
                                            "dev",   "test",    "env",   "str",   "header",
                                            "value", "staging", "basic", "digest"};
// What is before "token", "key" and "pass" where they are those of texts, tables and images.
constexpr std::string_view kHarmlessBefore[] = {
    "pad",       "eos",     "bos",         "sep",         "cls",        "mask",     "unk",
    "special",   "stop",    "next",        "new",         "per",        "image",    "video",
    "text",      "label",   "input",       "target",      "data",       "query",    "sort",
    "group",     "public",  "start",       "end",         "primary",    "foreign",  "audio",
    "metric",    "total",   "caption",     "placeholder", "max",        "min",      "num",
    "partition", "two",     "single",      "multi",       "forward",    "backward", "first",
    "second",    "prompt",  "response",    "state",       "class",      "instance", "dict",
    "feature",   "sample",  "json",        "ckpt",        "checkpoint", "monitor",  "reward",
    "answer",    "bucket",  "cache",       "hash",        "lookup",     "column",   "adapter",
    "trigger",   "concept", "initializer", "prefix",      "suffix",     "middle",   "id",
    "dist",      "distill", "global",      "think",       "file",       "glob",     "path",
    "include",   "exclude", "attn",        "attention",   "learnable",  "blank",    "assistant"};

bool EndsAsSecret(const std::string& word) {
  return std::any_of(std::begin(kSecretEndings), std::end(kSecretEndings),
                     [&](std::string_view ending) { return word.ends_with(ending); });
}

bool IsKeyOrToken(std::string_view word) {
  return word == "key" || word == "keys" || word == "token" || word == "tokens";
}

bool IsPair(std::string_view first, std::string_view second) {
  return std::any_of(std::begin(kSecretPairs), std::end(kSecretPairs), [&](const auto& pair) {
    return first == pair.first && second == pair.second;
  });
}

// Whether it says so beyond doubt.
bool IsPlainlySecret(const Words& words) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (EndsAsSecret(words[at])) return true;
    if (at > 0 && IsPair(words[at - 1], words[at])) return true;
    if (at > 0 && IsKeyOrToken(words[at]) && Has(kOfAnAccount, words[at - 1])) return true;
  }
  return false;
}

bool IsSecret(Words words) {
  if (IsPlainlySecret(words)) return true;
  while (words.size() > 1 && Has(kQualifiers, words.back())) words.pop_back();
  if (words.empty()) return false;
  if (words.size() == 1 && Has(kSecretNames, words[0])) return true;
  const bool harmless = words.size() > 1 && Has(kHarmlessBefore, words[words.size() - 2]);
  return !harmless && (Has(kSecretLast, words.back()) || words.back().ends_with("token"));
}

bool IsLowerWord(std::string_view value) {
  return std::all_of(value.begin(), value.end(),
                     [](char c) { return c == '_' || (IsAlnum(c) && !IsDigit(c) && !IsUpper(c)); });
}

}  // namespace

bool IsSecretName(std::string_view name) { return IsSecret(WordsOf(name)); }

bool IsCount(std::string_view value, std::size_t most_digits) {
  if (!value.empty() && IsOneOf(value.back(), "kKmMbBtT")) value.remove_suffix(1);
  return !value.empty() && value.size() <= most_digits &&
         std::all_of(value.begin(), value.end(),
                     [](char c) { return IsDigit(c) || IsOneOf(c, ".,-+_"); });
}

bool IsSwitch(std::string_view value) {
  constexpr std::string_view kSwitches[] = {"true", "false", "yes",  "no",  "on",
                                            "off",  "none",  "null", "auto"};
  return value.size() <= 5 && Has(kSwitches, InLower(value));
}

bool IsHarmlessValue(std::string_view name, std::string_view value) {
  if (value.empty() || IsSwitch(value)) return true;
  constexpr std::size_t kLongest = 64;
  if (value.size() > kLongest) return false;
  const Words words = WordsOf(name);
  if (words.size() != 1 || IsPlainlySecret(words)) return false;
  constexpr std::size_t kLongestCount = 9, kMaxPasses = 3;
  if (words[0] == "token") return IsCount(value, kLongestCount);
  if (words[0] == "sig") return IsCount(value, kMaxPasses);
  if (words[0] == "pwd" || words[0] == "oldpwd") return value.starts_with('/');
  if (words[0] == "pass") return IsCount(value, kMaxPasses);
  return words[0] == "key" && (IsCount(value, kLongestCount) ||
                               (IsLowerWord(value) && value.find('_') != std::string_view::npos));
}

}  // namespace traceinject
