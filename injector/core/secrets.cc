// SPDX-License-Identifier: Apache-2.0
#include "injector/core/secrets.h"

#include <algorithm>
#include <iterator>

namespace traceinject {
namespace {

constexpr std::string_view kMask = "***";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
bool IsAlnum(char c) { return IsDigit(c) || (Lower(c) >= 'a' && Lower(c) <= 'z'); }
bool IsOneOf(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

template <std::size_t count>
bool Has(const std::string_view (&set)[count], std::string_view one) {
  return std::find(std::begin(set), std::end(set), one) != std::end(set);
}

// "trainer.HF-Token" -> trainer, hf, token.
std::vector<std::string> WordsOf(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (IsAlnum(c)) {
      words.back() += Lower(c);
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

// Wherever they stand in a name, also written as one with what is before: dbpassword, clientSecret.
constexpr std::string_view kSecretEndings[] = {
    "password",    "passwd",    "passphrase",  "secret",       "secrets",    "apikey",
    "authkey",     "accesskey", "secretkey",   "privatekey",   "signingkey", "credential",
    "credentials", "authtoken", "accesstoken", "authorization"};
// At the end of a name only: --key-frames and token_type_ids are something else.
constexpr std::string_view kSecretLast[] = {"token", "key", "auth", "oauth",     "pass",
                                            "pwd",   "pw",  "sig",  "signature", "bearer"};
// What is before "token" and "key" where they are those of texts, tables and images.
constexpr std::string_view kHarmlessBefore[] = {
    "pad",  "eos",   "bos",    "sep",   "cls",  "mask",    "unk",     "special",   "stop",  "next",
    "new",  "per",   "image",  "video", "text", "label",   "input",   "target",    "data",  "query",
    "sort", "group", "public", "start", "end",  "primary", "foreign", "partition", "metric"};

bool EndsAsSecret(const std::string& word) {
  return std::any_of(std::begin(kSecretEndings), std::end(kSecretEndings),
                     [&](std::string_view ending) { return word.ends_with(ending); });
}

bool IsNumber(std::string_view value, std::size_t most_digits) {
  return !value.empty() && value.size() <= most_digits &&
         std::all_of(value.begin(), value.end(),
                     [](char c) { return IsDigit(c) || IsOneOf(c, ".,-+_"); });
}

// A count (--token 512, --pass 3) is no secret, but a password may well be a number.
bool IsHarmlessValue(std::string_view name, std::string_view value) {
  const std::vector<std::string> words = WordsOf(name);
  if (words.empty() || std::any_of(words.begin(), words.end(), EndsAsSecret)) return false;
  const std::string& last = words.back();
  constexpr std::size_t kLongestCount = 9, kMostPasses = 3;
  if (last == "pass") return IsNumber(value, kMostPasses);
  if (last == "pwd" || last == "pw") return false;
  return IsNumber(value, kLongestCount);
}

// Beginnings of tokens of well-known services, and how many characters follow at least.
struct TokenShape {
  std::string_view prefix;
  std::size_t least;
  bool has_digit;  // where words of a name could look the same
};
constexpr TokenShape kTokenShapes[] = {
    {"hf_", 12, false},   {"ghp_", 12, false},        {"gho_", 12, false},  {"ghs_", 12, false},
    {"ghu_", 12, false},  {"github_pat_", 12, false}, {"sk-", 12, true},    {"sk_", 12, true},
    {"AKIA", 12, true},   {"ASIA", 12, true},         {"AIza", 30, false},  {"glpat-", 12, false},
    {"xoxb-", 12, false}, {"xoxp-", 12, false},       {"wandb_", 12, true}, {"nvapi-", 12, false},
    {"eyJ", 30, false}};

bool IsOfAToken(char c) { return IsAlnum(c) || c == '_' || c == '-' || c == '.'; }

// Length of the token at the beginning of `text`; 0: there is none.
std::size_t TokenLength(std::string_view text) {
  for (const TokenShape& shape : kTokenShapes) {
    if (!text.starts_with(shape.prefix)) continue;
    std::size_t length = shape.prefix.size();
    bool digit = false;
    for (; length < text.size() && IsOfAToken(text[length]); ++length)
      digit = digit || IsDigit(text[length]);
    if (length >= shape.prefix.size() + shape.least && (digit || !shape.has_digit)) return length;
  }
  return 0;
}

std::string WithoutTokens(std::string_view text) {
  std::string masked;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins = at == 0 || !IsOfAToken(text[at - 1]) || text[at - 1] == '.';
    const std::size_t length = begins ? TokenLength(text.substr(at)) : 0;
    masked += length != 0 ? kMask : text.substr(at, 1);
    at += std::max<std::size_t>(length, 1);
  }
  return masked;
}

constexpr std::string_view kUrlEnds = " \t\r\n\"'<>`";

// Of what follows "://": where the password begins, and the @ after it. A password may have slashes
// in it; what is before the first slash and has only digits is a port.
bool FindPassword(std::string_view rest, std::size_t* begin, std::size_t* end) {
  rest = rest.substr(0, rest.find_first_of(kUrlEnds));
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  const std::size_t colon = authority.find(':');
  if (colon == std::string_view::npos) return false;
  const std::size_t near = authority.rfind('@');
  const bool port = IsNumber(authority.substr(colon + 1), 5);
  const std::size_t at = near != std::string_view::npos || port ? near : rest.rfind('@');
  if (at == std::string_view::npos || at <= colon + 1) return false;
  *begin = colon + 1;
  *end = at;
  return true;
}

std::string WithoutPasswords(std::string_view text) {
  constexpr std::string_view kScheme = "://";
  std::string masked;
  for (;;) {
    const std::size_t scheme = text.find(kScheme);
    if (scheme == std::string_view::npos) return masked += text;
    masked += text.substr(0, scheme + kScheme.size());
    text.remove_prefix(scheme + kScheme.size());
    std::size_t begin = 0, end = 0;
    if (!FindPassword(text, &begin, &end)) continue;
    masked += text.substr(0, begin);
    masked += kMask;
    text.remove_prefix(end);
  }
}

// The name in front of the = or : at `at`, which may be quoted, also with backslashes, and be an
// index: os.environ["HF_TOKEN"] = ...
std::string_view NameBefore(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end > 0 && IsOneOf(text[end - 1], " \t\"'\\]")) --end;
  std::size_t begin = end;
  while (begin > 0 && IsOfAToken(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

// Where the value after a separator begins and ends. Quotes around it stay; so does the scheme of
// "Authorization: Bearer ...".
void FindValue(std::string_view text, std::size_t* begin, std::size_t* end) {
  constexpr std::string_view kSchemes[] = {"bearer", "basic", "token", "digest", "apikey"};
  while (*begin < text.size() && IsOneOf(text[*begin], "= \t\\")) ++*begin;
  const char quote = *begin < text.size() && IsOneOf(text[*begin], "\"'") ? text[*begin] : '\0';
  if (quote != '\0') ++*begin;
  const auto stop = [&](std::size_t from) {
    const std::size_t found = quote != '\0' ? text.find_first_of(std::string{quote, '\\'}, from)
                                            : text.find_first_of(" \t\r\n\"'\\,;&)}]", from);
    return std::min(found, text.size());
  };
  *end = stop(*begin);
  const std::size_t space = text.substr(*begin).find(' ');
  if (space == std::string_view::npos) return;
  std::string word;
  for (const char c : text.substr(*begin, space)) word += Lower(c);
  if (!Has(kSchemes, word)) return;
  *begin += space + 1;
  *end = stop(*begin);
}

std::string WithoutNamedValues(std::string_view text) {
  std::string masked;
  std::size_t copied = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '=' && text[at] != ':') continue;
    if (text.substr(at).starts_with("://") || text.substr(at).starts_with("::")) continue;
    const std::string_view name = NameBefore(text, at);
    if (!IsSecretName(name)) continue;
    std::size_t begin = at + 1, end = begin;
    FindValue(text, &begin, &end);
    if (begin >= end || IsHarmlessValue(name, text.substr(begin, end - begin))) continue;
    masked += text.substr(copied, begin - copied);
    masked += kMask;
    copied = end;
    at = end - 1;
  }
  return masked += text.substr(copied);
}

// "Bearer ..." that stands alone.
std::string WithoutBearers(std::string_view text) {
  constexpr std::string_view kBearer = "bearer ";
  std::string lower(text), masked;
  std::transform(lower.begin(), lower.end(), lower.begin(), Lower);
  std::size_t copied = 0;
  for (std::size_t at = 0; (at = lower.find(kBearer, at)) != std::string::npos;) {
    const std::size_t begin = at + kBearer.size();
    const std::size_t end = std::min(text.find_first_of(" \t\r\n\"'\\,;", begin), text.size());
    if (end == begin || text.substr(begin, end - begin) == kMask) {
      at = begin;
      continue;
    }
    masked += text.substr(copied, begin - copied);
    masked += kMask;
    at = copied = end;
  }
  return masked += text.substr(copied);
}

bool IsSecretOption(const std::string& argument) {
  return argument == "-p" || (argument.starts_with("--") && IsSecretName(argument)) ||
         (argument.starts_with("-") && argument.size() > 2 && IsSecretName(argument));
}

}  // namespace

bool IsSecretName(std::string_view name) {
  const std::vector<std::string> words = WordsOf(name);
  if (words.empty()) return false;
  if (std::any_of(words.begin(), words.end(), EndsAsSecret)) return true;
  const std::string& last = words.back();
  const bool before = words.size() > 1 && Has(kHarmlessBefore, words[words.size() - 2]);
  return !before && (Has(kSecretLast, last) || last.ends_with("token"));
}

std::string MaskSecrets(std::string_view text) {
  return WithoutTokens(WithoutBearers(WithoutNamedValues(WithoutPasswords(text))));
}

std::string MaskedValue(std::string_view name, std::string_view value) {
  if (value.empty() || !IsSecretName(name) || IsHarmlessValue(name, value))
    return MaskSecrets(value);
  return std::string(kMask);
}

std::string MaskedCommandLine(const std::vector<std::string>& arguments) {
  std::string line;
  std::string_view option;  // whose value the next argument is, where that is a secret
  for (const std::string& argument : arguments) {
    if (!line.empty()) line += ' ';
    const bool is_value = !option.empty() && !argument.starts_with("-");
    // -p has no name; of a port or a count it has just the number.
    line +=
        is_value ? MaskedValue(option == "-p" ? "key" : option, argument) : MaskSecrets(argument);
    option =
        !is_value && IsSecretOption(argument) ? std::string_view(argument) : std::string_view();
  }
  return line;
}

}  // namespace traceinject
