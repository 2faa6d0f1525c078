// SPDX-License-Identifier: Apache-2.0
#include "injector/rows/secrets.h"

#include <algorithm>

#include "injector/base/ascii.h"
#include "injector/rows/secret_names.h"

namespace traceinject {
namespace {

constexpr std::string_view kMask = "***";

bool IsOfAName(char c) { return IsAlnum(c) || IsOneOf(c, "_-."); }

// ---- Tokens that tell by themselves what they are

bool IsOfAToken(char c) { return IsOfAName(c); }
bool IsUpperOrDigit(char c) { return IsUpper(c) || IsDigit(c); }
bool IsAlnumOrUnderscore(char c) { return IsAlnum(c) || c == '_'; }
bool IsAlnumOrHyphen(char c) { return IsAlnumOrUnderscore(c) || c == '-'; }

// What tokens of well-known services begin with, what follows, and at least how much of it. With
// less, or with other characters, it is a name: hf_finetune.py, sk-resnet-50.
struct TokenShape {
  std::string_view prefix;
  std::size_t least;
  bool (*follows)(char);
};
constexpr TokenShape kTokenShapes[] = {{"hf_", 30, IsAlnum},
                                       {"ghp_", 36, IsAlnum},
                                       {"gho_", 36, IsAlnum},
                                       {"ghs_", 36, IsAlnum},
                                       {"ghu_", 36, IsAlnum},
                                       {"ghr_", 36, IsAlnum},
                                       {"github_pat_", 40, IsAlnumOrUnderscore},
                                       {"sk-proj-", 20, IsAlnumOrHyphen},
                                       {"sk-ant-", 20, IsAlnumOrHyphen},
                                       {"sk-", 32, IsAlnum},
                                       {"sk_live_", 16, IsAlnum},
                                       {"sk_test_", 16, IsAlnum},
                                       {"AKIA", 16, IsUpperOrDigit},
                                       {"ASIA", 16, IsUpperOrDigit},
                                       {"AIza", 35, IsAlnumOrHyphen},
                                       {"glpat-", 20, IsAlnumOrHyphen},
                                       {"xoxb-", 20, IsAlnumOrHyphen},
                                       {"xoxp-", 20, IsAlnumOrHyphen},
                                       {"xapp-", 20, IsAlnumOrHyphen},
                                       {"nvapi-", 40, IsAlnumOrHyphen},
                                       {"gsk_", 40, IsAlnum},
                                       {"npm_", 36, IsAlnum},
                                       {"dckr_pat_", 20, IsAlnumOrHyphen},
                                       {"eyJ", 30, IsOfAToken}};

// Length of the token at the beginning of `text`; 0: there is none.
std::size_t TokenLength(std::string_view text) {
  for (const TokenShape& shape : kTokenShapes) {
    if (!text.starts_with(shape.prefix)) continue;
    std::size_t length = shape.prefix.size();
    while (length < text.size() && shape.follows(text[length])) ++length;
    if (length >= shape.prefix.size() + shape.least) return length;
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

// ---- URLs

constexpr std::string_view kScheme = "://";

// Of what follows "://": the URL, and not the next one. So that the whole is read once, no URL is
// looked at beyond what one may have.
std::string_view UrlOf(std::string_view rest) {
  constexpr std::size_t kLongest = 2048;
  rest = rest.substr(0, kLongest);
  rest = rest.substr(0, rest.find_first_of(" \t\r\n\"'<>`"));
  return rest.substr(0, rest.find(kScheme));
}

// A name in front of the @ that is not one of a person or a machine.
bool LooksDrawn(std::string_view user) {
  constexpr std::size_t kShortest = 16;
  return user.size() >= kShortest && std::all_of(user.begin(), user.end(), IsOfAToken) &&
         std::any_of(user.begin(), user.end(), IsDigit);
}

// Where the password begins, and the @ after it. It may have slashes in it; what is before the
// first slash and has only digits is a port.
bool FindPassword(std::string_view url, std::size_t* begin, std::size_t* end) {
  const std::string_view authority = url.substr(0, url.find_first_of("/?#"));
  const std::size_t near = authority.rfind('@');
  const std::size_t bracket = authority.starts_with('[') ? authority.find(']') : 0;
  const std::size_t colon =
      authority.substr(0, near).find(':', std::min(bracket, authority.size()));
  if (colon == std::string_view::npos) {
    *begin = 0;
    *end = near;
    return near != std::string_view::npos && LooksDrawn(authority.substr(0, near));
  }
  constexpr std::size_t kPortDigits = 5;
  const bool port = IsCount(authority.substr(colon + 1), kPortDigits);
  const std::size_t at = near != std::string_view::npos || port ? near : url.rfind('@');
  *begin = colon + 1;
  *end = at;
  return at != std::string_view::npos && at > colon + 1 && !url.substr(at).starts_with("@sha256");
}

std::string WithoutPasswords(std::string_view text) {
  std::string masked;
  for (;;) {
    const std::size_t scheme = text.find(kScheme);
    if (scheme == std::string_view::npos) return masked += text;
    masked += text.substr(0, scheme + kScheme.size());
    text.remove_prefix(scheme + kScheme.size());
    std::size_t begin = 0, end = 0;
    if (!FindPassword(UrlOf(text), &begin, &end)) continue;
    masked += text.substr(0, begin);
    masked += kMask;
    text.remove_prefix(end);
  }
}

// ---- Names with values

// The name in front of the separator at `at`, which may be quoted, also with backslashes, and be an
// index: os.environ["HF_TOKEN"] = ...
std::string_view NameBefore(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end > 0 && IsOneOf(text[end - 1], " \t\"'\\]")) --end;
  std::size_t begin = end;
  while (begin > 0 && IsOfAName(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

bool IsQuote(char c) { return c == '"' || c == '\''; }

// setdefault("HF_TOKEN", "..."): of a comma, both sides are quoted.
bool IsSeparator(std::string_view text, std::size_t at) {
  if (text[at] == '=') return true;
  if (text[at] == ':')
    return !text.substr(at).starts_with(kScheme) && !text.substr(at).starts_with("::");
  if (text[at] != ',' || at == 0 || !IsQuote(text[at - 1])) return false;
  const std::size_t next = text.find_first_not_of(" \t\\", at + 1);
  return next != std::string_view::npos && IsQuote(text[next]);
}

// What follows `begin` up to the quote that ends it. Where the whole is quoted once more, that has
// a backslash.
std::size_t EndOfQuoted(std::string_view text, std::size_t begin) {
  const char quote = text[begin - 1];
  const bool is_escaped = begin > 1 && text[begin - 2] == '\\';
  for (std::size_t at = begin; at < text.size(); ++at) {
    if (text[at] == quote) return at;
    if (text[at] != '\\' || at + 1 == text.size()) continue;
    if (is_escaped && text[at + 1] == quote) return at;
    ++at;
  }
  return text.size();
}

// A list or a table, to its end.
std::size_t EndOfBracket(std::string_view text, std::size_t begin) {
  int depth = 0;
  for (std::size_t at = begin; at < text.size(); ++at) {
    if (IsOneOf(text[at], "[{")) ++depth;
    if (IsOneOf(text[at], "]}") && --depth == 0) return at + 1;
  }
  return text.size();
}

// Of a value that begins an argument's: it goes on to the end, but for further names with values.
std::size_t EndOfArgument(std::string_view text, std::size_t begin, bool is_option) {
  if (is_option) return text.size();
  for (std::size_t at = text.find_first_of(",;& \t", begin); at != std::string_view::npos;
       at = text.find_first_of(",;& \t", at + 1)) {
    std::size_t name = at + 1;
    while (name < text.size() && IsOfAName(text[name])) ++name;
    if (name > at + 1 && name < text.size() && text[name] == '=') return at;
  }
  return text.size();
}

struct Value {
  std::size_t begin, end;
};

// After the separator of the name that begins at `name`. Quotes around it stay; so does the scheme
// of "Authorization: Bearer ...".
Value FindValue(std::string_view text, std::size_t name, std::size_t separator) {
  constexpr std::string_view kSchemes[] = {"bearer", "basic",  "token",
                                           "digest", "apikey", "negotiate"};
  constexpr std::size_t kLongestScheme = 9;
  std::size_t begin = separator + 1;
  const auto skip_blanks = [&] {
    while (begin < text.size() && IsOneOf(text[begin], "= \t\\")) ++begin;
  };
  skip_blanks();
  // password: str = "..."
  if (text[separator] == ':') {
    std::size_t type = begin;
    while (type < text.size() && IsOfAName(text[type])) ++type;
    if (text.substr(type).starts_with(" = ")) begin = type, skip_blanks();
  }
  // f"..."
  if (begin + 1 < text.size() && IsOneOf(Lower(text[begin]), "frbu") && IsQuote(text[begin + 1]))
    ++begin;
  if (begin == text.size()) return {begin, begin};
  if (IsQuote(text[begin])) return {begin + 1, EndOfQuoted(text, begin + 1)};
  if (IsOneOf(text[begin], "[{")) return {begin, EndOfBracket(text, begin)};
  const std::size_t space = text.substr(begin, kLongestScheme + 1).find(' ');
  const bool has_scheme =
      space != std::string_view::npos && Has(kSchemes, InLower(text.substr(begin, space)));
  if (has_scheme) begin += space + 1;
  const bool is_option = text.starts_with('-');
  const std::size_t dashes = std::min(text.find_first_not_of('-'), text.size());
  const bool is_own = name == dashes && text.find('\n') == std::string_view::npos;
  if (is_own && !has_scheme) return {begin, EndOfArgument(text, begin, is_option)};
  return {begin, std::min(text.find_first_of(" \t\r\n\"'\\,;&)}]", begin), text.size())};
}

// Also of a --name with its value behind a blank, within one argument: sh -c "train --password x".
bool IsSpacedOption(std::string_view text, std::size_t at, std::string_view name) {
  const std::size_t begin = at - name.size();
  return text[at] == ' ' && !name.empty() && begin >= 2 && text.substr(begin - 2, 2) == "--" &&
         (begin == 2 || IsOneOf(text[begin - 3], " \t\"'")) && at + 1 < text.size() &&
         !IsOneOf(text[at + 1], "- \t");
}

std::string WithoutNamedValues(std::string_view text) {
  std::string masked;
  std::size_t copied = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool is_blank = text[at] == ' ';
    if (!is_blank && !IsSeparator(text, at)) continue;
    std::string_view name = NameBefore(text, at);
    // Hyphens in front are an option's.
    name.remove_prefix(std::min(name.find_first_not_of("-."), name.size()));
    if (is_blank && !IsSpacedOption(text, at, name)) continue;
    if (!IsSecretName(name)) continue;
    const auto begin = static_cast<std::size_t>(name.data() - text.data());
    const Value value =
        is_blank ? Value{at + 1, std::min(text.find_first_of(" \t\r\n\"'", at + 1), text.size())}
                 : FindValue(text, begin, at);
    if (value.begin >= value.end ||
        IsHarmlessValue(name, text.substr(value.begin, value.end - value.begin)))
      continue;
    masked += text.substr(copied, value.begin - copied);
    masked += kMask;
    copied = value.end;
    at = value.end - 1;
  }
  return masked += text.substr(copied);
}

// "Bearer ..." that stands alone.
std::string WithoutBearers(std::string_view text) {
  constexpr std::string_view kBearer = "bearer ";
  const std::string lower = InLower(text);
  std::string masked;
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

// ---- Arguments

// Of -p: a port, a path or what has a dot in it is no password.
bool IsHarmlessShort(std::string_view value) {
  constexpr std::size_t kPortDigits = 5;
  return IsCount(value, kPortDigits) || IsSwitch(value) ||
         value.find_first_of("/.:=,") != std::string_view::npos;
}

// curl -u user:password; docker run --user 1000:1000.
std::string MaskedUser(std::string_view value) {
  constexpr std::size_t kIdDigits = 10;
  const std::size_t colon = value.find(':');
  if (colon == std::string_view::npos || colon == 0 || value.substr(colon).starts_with(kScheme) ||
      IsCount(value.substr(colon + 1), kIdDigits))
    return MaskSecrets(value);
  return std::string(value.substr(0, colon + 1)) + std::string(kMask);
}

// The argument after `option`.
std::string MaskedArgument(std::string_view option, std::string_view value) {
  constexpr std::string_view kUsers[] = {"-u", "--user", "--proxy-user"};
  constexpr std::size_t kShortestKey = 20;
  if (Has(kUsers, option)) return MaskedUser(value);
  if (option == "-p") return IsHarmlessShort(value) ? MaskSecrets(value) : std::string(kMask);
  if (option == "login" && value.size() >= kShortestKey &&
      std::all_of(value.begin(), value.end(), IsAlnum))
    return std::string(kMask);
  return option.starts_with('-') ? MaskedValue(option, value) : MaskSecrets(value);
}

}  // namespace

std::string MaskSecrets(std::string_view text) {
  return WithoutTokens(WithoutBearers(WithoutNamedValues(WithoutPasswords(text))));
}

std::string MaskedValue(std::string_view name, std::string_view value) {
  if (!IsSecretName(name) || IsHarmlessValue(name, value)) return MaskSecrets(value);
  return std::string(kMask);
}

std::string MaskedCommandLine(const std::vector<std::string>& arguments) {
  std::string line;
  std::string_view before;
  for (const std::string& argument : arguments) {
    if (!line.empty()) line += ' ';
    line += argument.starts_with('-') ? MaskSecrets(argument) : MaskedArgument(before, argument);
    before = argument;
  }
  return line;
}

}  // namespace traceinject
