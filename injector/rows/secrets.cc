// SPDX-License-Identifier: Apache-2.0
#include "injector/rows/secrets.h"

#include <algorithm>

#include "injector/base/ascii.h"
#include "injector/rows/command_words.h"
#include "injector/rows/secret_names.h"

namespace traceinject {
namespace {

constexpr std::string_view kMaskedText = "***";

bool IsOfAName(char c) { return IsAlnum(c) || IsOneOf(c, "_-."); }

// ---- Tokens that tell by themselves what they are

bool IsOfAToken(char c) { return IsOfAName(c); }
bool IsUpperOrDigit(char c) { return IsUpper(c) || IsDigit(c); }
bool IsAlnumOrUnderscore(char c) { return IsAlnum(c) || c == '_'; }
bool IsAlnumOrHyphen(char c) { return IsAlnumOrUnderscore(c) || c == '-'; }
bool IsBase64(char c) { return IsAlnumOrHyphen(c) || IsOneOf(c, "+/="); }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); }
bool IsOfAPath(char c) { return IsAlnumOrHyphen(c) || c == '/'; }

// What tokens of well-known services begin with, what follows, and at least how much of it. With
// less, or with other characters, it is a name: hf_finetune.py, sk-resnet-50.
struct TokenShape {
  std::string_view prefix;
  std::size_t least;
  bool (*follows)(char);
};
constexpr TokenShape kTokenShapes[] = {{"hf_", 30, IsAlnum},
                                       {"hf_oauth_", 20, IsOfAToken},
                                       {"api_org_", 30, IsAlnum},
                                       {"wandb_v1_", 20, IsAlnumOrHyphen},
                                       {"ghp_", 36, IsAlnum},
                                       {"gho_", 36, IsAlnum},
                                       {"ghs_", 36, IsAlnum},
                                       {"ghu_", 36, IsAlnum},
                                       {"ghr_", 36, IsAlnum},
                                       {"github_pat_", 40, IsAlnumOrUnderscore},
                                       {"sk-proj-", 20, IsAlnumOrHyphen},
                                       {"sk-ant-", 20, IsAlnumOrHyphen},
                                       {"sk-svcacct-", 20, IsAlnumOrHyphen},
                                       {"sk-admin-", 20, IsAlnumOrHyphen},
                                       {"sk-or-v1-", 20, IsAlnum},
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
                                       {"pypi-AgE", 20, IsAlnumOrHyphen},
                                       {"hvs.", 16, IsAlnumOrHyphen},
                                       {"hvb.", 16, IsAlnumOrHyphen},
                                       {"glc_", 20, IsBase64},
                                       {"glsa_", 20, IsAlnumOrUnderscore},
                                       {"dapi", 32, IsHex},
                                       {"r8_", 30, IsAlnum},
                                       {"SG.", 30, IsOfAToken},
                                       {"ya29.", 20, IsOfAToken},
                                       {"hooks.slack.com/services/", 8, IsOfAPath},
                                       {"discord.com/api/webhooks/", 8, IsOfAPath},
                                       {"discordapp.com/api/webhooks/", 8, IsOfAPath},
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
    const bool begins = at == 0 || !IsAlnum(text[at - 1]);
    const std::size_t length = begins ? TokenLength(text.substr(at)) : 0;
    masked += length != 0 ? kMaskedText : text.substr(at, 1);
    at += std::max<std::size_t>(length, 1);
  }
  return masked;
}

// ---- Private keys

std::string WithoutPrivateKeys(std::string_view text) {
  constexpr std::string_view kBegin = "-----BEGIN ", kEnd = "-----END ", kDashes = "-----";
  std::vector<Span> blocks;
  for (std::size_t at = 0; (at = text.find(kBegin, at)) != std::string_view::npos;) {
    std::size_t end = text.find(kEnd, at);
    if (end != std::string_view::npos) end = text.find(kDashes, end + kEnd.size());
    end = end == std::string_view::npos ? text.size() : end + kDashes.size();
    blocks.push_back({at, end});
    at = end;
  }
  return Masked(text, blocks);
}

// ---- URLs

constexpr std::string_view kScheme = "://";

// Of what follows "://": the URL, and not the next one, up to one of `ends`. So that the whole is
// read once, no URL is looked at beyond what one may have.
std::string_view UrlOf(std::string_view rest, std::string_view ends) {
  constexpr std::size_t kLongest = 2048;
  rest = rest.substr(0, kLongest);
  rest = rest.substr(0, rest.find(kScheme));
  return rest.substr(0, rest.find_first_of(ends));
}

bool EndsAsWebScheme(std::string_view before) {
  return before.ends_with("http") || before.ends_with("https");
}

// A name in front of the @ that is not one of a person or a machine. Web sites take tokens there.
bool LooksDrawn(std::string_view user, bool is_web) {
  constexpr std::size_t kShortest = 16, kShortestWeb = 12, kShortestWebWithDigit = 8;
  if (!std::all_of(user.begin(), user.end(), IsOfAToken)) return false;
  const bool has_digit = std::any_of(user.begin(), user.end(), IsDigit);
  if (is_web && user.size() >= (has_digit ? kShortestWebWithDigit : kShortestWeb)) return true;
  return user.size() >= kShortest && has_digit;
}

// Whether a number behind the colon may be a port with a path behind it that has an @: so on web
// sites and in buckets, not in databases.
bool MayBePort(std::string_view before, std::string_view behind_at) {
  constexpr std::string_view kSchemes[] = {"http", "https", "tcp", "ws", "wss",   "s3",
                                           "gs",   "file",  "ftp", "az", "docker"};
  const bool has_path = std::any_of(std::begin(kSchemes), std::end(kSchemes),
                                    [&](std::string_view one) { return before.ends_with(one); });
  const std::size_t colon = behind_at.find_first_of(":/");
  const bool has_port = colon != std::string_view::npos && behind_at[colon] == ':' &&
                        colon + 1 < behind_at.size() && IsDigit(behind_at[colon + 1]);
  return has_path && !has_port;
}

// Where the password begins, and the @ after it. It may have slashes in it; what is before the
// first slash and has only digits is a port.
bool FindPassword(std::string_view before, std::string_view url, Span* password) {
  const std::string_view authority = url.substr(0, url.find_first_of("/?#"));
  const std::size_t near = authority.rfind('@');
  const std::size_t bracket = authority.starts_with('[') ? authority.find(']') : 0;
  const std::size_t colon =
      authority.substr(0, near).find(':', std::min(bracket, authority.size()));
  if (colon == std::string_view::npos) {
    *password = {0, near};
    return near != std::string_view::npos &&
           LooksDrawn(authority.substr(0, near), EndsAsWebScheme(before));
  }
  constexpr std::size_t kPortDigits = 5;
  const std::size_t far = url.rfind('@');
  if (far == std::string_view::npos || url.substr(far).starts_with("@sha256")) return false;
  const bool is_port = colon > 0 && IsCount(authority.substr(colon + 1), kPortDigits) &&
                       MayBePort(before, url.substr(far + 1));
  const std::size_t at = near != std::string_view::npos || is_port ? near : far;
  *password = {colon + 1, at};
  return at != std::string_view::npos && at > colon + 1;
}

// The same where the password has blanks: no host is named like that.
bool FindPasswordOfWords(std::string_view rest, Span* password) {
  constexpr std::size_t kLongest = 256, kPortDigits = 5;
  const std::string_view url = UrlOf(rest.substr(0, kLongest), "\r\n\"'`");
  const std::string_view first = url.substr(0, url.find_first_of(" \t/"));
  const std::size_t colon = first.find(':'), at = url.find('@', first.size());
  if (colon == std::string_view::npos || at == std::string_view::npos || first.starts_with('['))
    return false;
  if (IsCount(first.substr(colon + 1), kPortDigits) || first.size() == url.size() ||
      url[first.size()] == '/')
    return false;
  *password = {colon + 1, at};
  return true;
}

std::string WithoutPasswords(std::string_view text) {
  constexpr std::string_view kEnds = " \t\r\n\"'`";
  std::vector<Span> passwords;
  for (std::size_t at = 0; (at = text.find(kScheme, at)) != std::string_view::npos;) {
    const std::string_view before = text.substr(0, at);
    at += kScheme.size();
    Span password;
    const bool found = FindPassword(before, UrlOf(text.substr(at), kEnds), &password) ||
                       FindPasswordOfWords(text.substr(at), &password);
    if (found) passwords.push_back({at + password.begin, at + password.end});
  }
  return Masked(text, passwords);
}

// user:password@host in what has neither blanks nor a scheme.
Span PasswordOfRun(std::string_view run) {
  const std::size_t colon = run.find(':'), at = run.rfind('@');
  if (colon == std::string_view::npos || at == std::string_view::npos || at <= colon + 1) return {};
  if (colon == 0 || !IsOfAName(run[colon - 1]) || run.find(kScheme) != std::string_view::npos)
    return {};
  const std::string_view host = run.substr(at + 1);
  if (host.empty() || !(IsAlnum(host[0]) || IsOneOf(host[0], "[/"))) return {};
  return host.starts_with("sha256") ? Span{} : Span{colon + 1, at};
}

std::string WithoutBarePasswords(std::string_view text) {
  std::vector<Span> passwords;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \t\r\n\"'`", at), text.size());
    const Span password = PasswordOfRun(text.substr(at, end - at));
    if (!password.empty()) passwords.push_back({at + password.begin, at + password.end});
    at = end + 1;
  }
  return Masked(text, passwords);
}

// ---- Names with values

// setdefault("HF_TOKEN", "..."): of a comma, both sides are quoted.
bool IsSeparator(std::string_view text, std::size_t at) {
  if (text[at] == '=') return true;
  if (text[at] == ':')
    return !text.substr(at).starts_with(kScheme) && !text.substr(at).starts_with("::");
  if (text[at] != ',' || at == 0 || !IsQuote(text[at - 1])) return false;
  const std::size_t next = text.find_first_not_of(" \t\\", at + 1);
  return next != std::string_view::npos && IsQuote(text[next]);
}

// The quote of the literal that begins at `at`, which may have a prefix: f"...", br'...'. npos:
// there is none.
std::size_t QuoteAt(std::string_view text, std::size_t at) {
  constexpr std::size_t kLongestPrefix = 2;
  for (std::size_t prefix = 0; prefix <= kLongestPrefix && at + prefix < text.size(); ++prefix) {
    if (IsQuote(text[at + prefix])) return at + prefix;
    if (!IsOneOf(Lower(text[at + prefix]), "frbu")) break;
  }
  return std::string_view::npos;
}

// What is between the quotes, of which there may be three.
Span Literal(std::string_view text, std::size_t quote) {
  const std::string_view three = text.substr(quote, 3);
  if (three == "\"\"\"" || three == "\'\'\'")
    return {quote + 3, std::min(text.find(three, quote + 3), text.size())};
  return {quote + 1, EndOfQuoted(text, quote + 1)};
}

// Behind the closing quote.
std::size_t EndOfLiteral(std::string_view text, std::size_t quote) {
  const Span inner = Literal(text, quote);
  std::size_t quotes = inner.begin - quote;
  if (inner.end < text.size() && text[inner.end] == '\\') ++quotes;
  return std::min(inner.end + quotes, text.size());
}

// A list, a table or a call, to its end. Brackets in literals are none.
std::size_t EndOfBracket(std::string_view text, std::size_t begin) {
  int depth = 0;
  for (std::size_t at = begin; at < text.size(); ++at) {
    if (IsQuote(text[at]))
      at = EndOfLiteral(text, at) - 1;
    else if (IsOneOf(text[at], "[{("))
      ++depth;
    else if (IsOneOf(text[at], "]})") && --depth == 0)
      return at + 1;
  }
  return text.size();
}

std::size_t EndOfBlanks(std::string_view text, std::size_t at) {
  for (;;) {
    at = std::min(text.find_first_not_of(" \t", at), text.size());
    const bool joined = text.substr(at).starts_with("\\\n");
    const bool indented = at + 1 < text.size() && text[at] == '\n' && IsOneOf(text[at + 1], " \t");
    if (!joined && !indented) return at;
    at += joined ? 2 : 1;
  }
}

// The quote of the literal that goes on behind the one that ended at the backslash `at`; `at`:
// there is none.
std::size_t NextLiteral(std::string_view text, std::size_t at) {
  if (text[at - 1] == '\'' && text.substr(at).starts_with("\\''")) return at + 2;  // 'a'\''b'
  const bool is_escaped = at > 1 && text[at - 2] == '\\' && IsQuote(text[at - 1]);
  return is_escaped && at + 1 < text.size() && IsQuote(text[at + 1]) ? at + 1 : at;  // \"\"\"
}

// What cannot be split by blanks, commas and the like. Whether that is a literal: *is_literal.
std::size_t EndOfTerm(std::string_view text, std::size_t at, bool* is_literal) {
  const std::size_t begin = at;
  *is_literal = false;
  while (at < text.size()) {
    const bool is_joint = at == begin || IsOneOf(text[at - 1], "+%=([{");
    if (is_joint && QuoteAt(text, at) != std::string_view::npos) {
      at = EndOfLiteral(text, QuoteAt(text, at));
      *is_literal = true;
    } else if (*is_literal && IsQuote(text[at])) {
      const std::size_t end = EndOfLiteral(text, at);
      if (end == text.size() && !IsQuote(text.back())) break;  // closes what is around
      at = end;
    } else if (*is_literal && text[at] == '\\' && NextLiteral(text, at) != at) {
      at = NextLiteral(text, at);
    } else if (IsOneOf(text[at], "([{")) {
      at = EndOfBracket(text, at);
      *is_literal = false;
    } else if (IsOneOf(text[at], " \t\r\n\"'\\,;&)}]")) {
      break;
    } else {
      ++at;
      *is_literal = false;
    }
  }
  return std::min(at, text.size());
}

// Behind an operator that joins what is at both sides of it; 0: there is none.
std::size_t EndOfJoint(std::string_view text, std::size_t at) {
  constexpr std::string_view kJoints[] = {"or ", "and ", "if ", "else ", "+ ",
                                          "% ",  "+'",   "+\"", "or\n"};
  for (std::string_view joint : kJoints) {
    if (text.substr(at).starts_with(joint)) return at + joint.size() - 1;
  }
  return 0;
}

// An expression of a program, or a word of a shell.
std::size_t EndOfExpression(std::string_view text, std::size_t begin) {
  for (std::size_t at = begin;;) {
    bool is_literal = false;
    at = EndOfTerm(text, at, &is_literal);
    const std::size_t next = EndOfBlanks(text, at);
    if (next == text.size()) return at;
    const std::size_t joint = EndOfJoint(text, next);
    if (joint != 0) {
      at = EndOfBlanks(text, joint);
    } else if (is_literal && next > at && QuoteAt(text, next) != std::string_view::npos) {
      at = next;
    } else {
      return at;
    }
  }
}

// Of a value that begins an argument's: it goes on to the end, but for further names with values.
std::size_t EndOfArgument(std::string_view text, std::size_t begin, bool to_the_end) {
  if (to_the_end) return text.size();
  for (std::size_t at = text.find_first_of(",;& \t", begin); at != std::string_view::npos;
       at = text.find_first_of(",;& \t", at + 1)) {
    std::size_t name = at + 1;
    while (name < text.size() && IsOfAName(text[name])) ++name;
    if (name > at + 1 && name < text.size() && text[name] == '=') return at;
  }
  return text.size();
}

// The lines below that are further in: password: >- of YAML.
std::size_t EndOfLines(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    at = std::min(text.find('\n', at), text.size());
    if (at + 1 >= text.size() || !IsOneOf(text[at + 1], " \t")) return at;
    ++at;
  }
  return at;
}

// Where the value behind the separator begins; it may be on the next line.
std::size_t BeginOfValue(std::string_view text, std::size_t separator, bool* has_lines) {
  std::size_t at = std::min(text.find_first_not_of("= \t\\", separator + 1), text.size());
  *has_lines = false;
  if (text[separator] == ':' && at < text.size() && IsOneOf(text[at], "|>")) {
    const std::size_t line = std::min(text.find_first_not_of("|>+-", at), text.size());
    *has_lines = line < text.size() && text[line] == '\n';
    if (*has_lines) at = line;
  }
  // password: str = "..."
  if (text[separator] == ':' && !*has_lines) {
    std::size_t type = at;
    while (type < text.size() && (IsOfAName(text[type]) || IsOneOf(text[type], "[]"))) ++type;
    if (text.substr(type).starts_with(" = ")) at = type + 3;
  }
  if (at == text.size() || text[at] != '\n') return at;
  const std::size_t next = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
  const bool is_literal = QuoteAt(text, next) != std::string_view::npos;
  const bool is_inner = text[separator] == ':' && IsOneOf(text[next - 1], " \t");
  return is_literal || is_inner ? next : at;
}

// After the separator of a name. Quotes around it stay; so does the scheme of "Authorization:
// Bearer ...". `is_own`: the argument begins with the name, and is of one line.
Span FindValue(std::string_view text, std::size_t separator, bool is_own, bool to_the_end) {
  constexpr std::string_view kSchemes[] = {"bearer", "basic",  "token",    "key",
                                           "digest", "apikey", "negotiate"};
  constexpr std::size_t kLongestScheme = 9;
  bool has_lines = false;
  std::size_t begin = BeginOfValue(text, separator, &has_lines);
  if (begin == text.size()) return {begin, begin};
  if (has_lines) return {begin, EndOfLines(text, begin)};
  const std::size_t quote = QuoteAt(text, begin);
  if (quote != std::string_view::npos) {
    const std::size_t end = EndOfExpression(text, begin);
    return end == EndOfLiteral(text, quote) ? Literal(text, quote) : Span{begin, end};
  }
  if (IsOneOf(text[begin], "[{(")) return {begin, EndOfExpression(text, begin)};
  const std::size_t space = text.substr(begin, kLongestScheme + 1).find(' ');
  const bool has_scheme =
      space != std::string_view::npos && Has(kSchemes, InLower(text.substr(begin, space)));
  if (has_scheme) begin += space + 1;
  const std::size_t end = EndOfExpression(text, begin);
  if (!is_own || has_scheme) return {begin, end};
  return {begin, std::max(end, EndOfArgument(text, begin, to_the_end))};
}

// sorted(x, key=len); "who has the key: you". So "key" alone, not in quotes.
bool IsOtherKey(std::string_view text, std::string_view name, std::size_t separator) {
  const auto begin = static_cast<std::size_t>(name.data() - text.data());
  if (name != "key" || begin < 2 || begin + name.size() != separator) return false;
  if (text[separator] == ':')
    return text[begin - 1] == ' ' && IsAlnum(text[begin - 2]) &&
           text.substr(separator + 1, 1) == " ";
  constexpr std::size_t kLongest = 64;
  const std::string_view rest = text.substr(separator + 1, kLongest);
  const auto* const end = std::find_if_not(rest.begin(), rest.end(), [](char c) {
    return IsOneOf(c, "._") || (IsAlnum(c) && !IsDigit(c));
  });
  const bool is_called = end != rest.begin() && end != rest.end() && *end == ')';
  return is_called || rest.starts_with("lambda ");
}

// Whether what is in these brackets logs in: login("..."), whatever the parameter's name is.
bool LogsIn(std::string_view text, std::size_t bracket) {
  constexpr std::string_view kLogin = "login";
  return text[bracket] == '(' && bracket >= kLogin.size() &&
         InLower(text.substr(bracket - kLogin.size(), kLogin.size())) == kLogin;
}

void FindLiterals(std::string_view text, std::size_t begin, std::size_t end,
                  std::vector<Span>* found) {
  for (std::size_t at = begin; at < end;) {
    if (!IsQuote(text[at])) {
      ++at;
      continue;
    }
    const Span inner = Literal(text, at);
    found->push_back({inner.begin, std::min(inner.end, end)});
    at = EndOfLiteral(text, at);
  }
}

std::string WithoutNamedValues(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of('-'), text.size());
  const bool is_one_line = text.find('\n') == std::string_view::npos;
  std::vector<Span> values;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (LogsIn(text, at)) {
      const std::size_t end = EndOfBracket(text, at);
      FindLiterals(text, at, end, &values);
      at = end - 1;
      continue;
    }
    if (!IsSeparator(text, at)) continue;
    std::string_view name = NameBefore(text, at);
    // Hyphens in front are an option's.
    name.remove_prefix(std::min(name.find_first_not_of("-."), name.size()));
    if (!IsSecretName(name) || IsOtherKey(text, name, at)) continue;
    const bool is_own = is_one_line && static_cast<std::size_t>(name.data() - text.data()) == first;
    const bool to_the_end = text.starts_with('-') || InLower(name) == "cookie";
    const Span value = FindValue(text, at, is_own, to_the_end);
    if (value.empty() || IsHarmlessValue(name, text.substr(value.begin, value.end - value.begin)))
      continue;
    values.push_back(value);
    at = value.end - 1;
  }
  return Masked(text, values);
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
    if (end == begin || text.substr(begin, end - begin) == kMaskedText) {
      at = begin;
      continue;
    }
    masked += text.substr(copied, begin - copied);
    masked += kMaskedText;
    at = copied = end;
  }
  return masked += text.substr(copied);
}

}  // namespace

std::string_view NameBefore(std::string_view text, std::size_t at) {
  const std::size_t least = at - std::min(at, kLongestName);
  std::size_t end = at;
  while (end > least && IsOneOf(text[end - 1], " \t\"'\\]")) --end;
  std::size_t begin = end;
  while (begin > least && IsOfAName(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

std::string MaskSecrets(std::string_view text) {
  const std::string without_keys = WithoutPrivateKeys(text);
  const std::string commands = Masked(without_keys, SecretsOfScript(without_keys));
  const std::string without_users = WithoutBarePasswords(WithoutPasswords(commands));
  return WithoutTokens(WithoutBearers(WithoutNamedValues(without_users)));
}

std::string MaskedValue(std::string_view name, std::string_view value) {
  if (!IsSecretName(name) || IsHarmlessValue(name, value)) return MaskSecrets(value);
  return std::string(kMaskedText);
}

std::string MaskedCommandLine(const std::vector<std::string>& arguments) {
  std::string line;
  CommandWords words;
  for (const std::string& argument : arguments) {
    if (!line.empty()) line += ' ';
    const Span secret = words.SecretOf(argument);
    line += secret.empty() ? MaskSecrets(argument) : Masked(argument, {secret});
  }
  return line;
}

}  // namespace traceinject
