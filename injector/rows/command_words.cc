// SPDX-License-Identifier: Apache-2.0
#include "injector/rows/command_words.h"

#include <algorithm>
#include <utility>

#include "injector/base/ascii.h"
#include "injector/rows/secret_names.h"

namespace traceinject {
namespace {

constexpr std::string_view kMask = "***";
constexpr std::size_t kIdDigits = 10;

// What commands mean by options of one letter.
struct CommandOptions {
  std::string_view command;
  std::string_view secrets;   // these have one behind them
  std::string_view harmless;  // these have none: srun -p PARTITION
};
constexpr CommandOptions kCommands[] = {
    {"mysql", "p", ""},   {"mysqldump", "p", ""},  {"mysqladmin", "p", ""}, {"mariadb", "p", ""},
    {"mycli", "p", ""},   {"sshpass", "p", ""},    {"7z", "p", ""},         {"7za", "p", ""},
    {"login", "p", ""},   {"unzip", "P", ""},      {"zip", "P", ""},        {"redis-cli", "a", ""},
    {"openssl", "k", ""}, {"ldapsearch", "w", ""}, {"curl", "b", ""},       {"srun", "", "p"},
    {"sbatch", "", "p"},  {"salloc", "", "p"},     {"squeue", "", "p"},     {"ssh", "", "p"},
    {"docker", "", "pu"}, {"podman", "", "pu"},    {"mkdir", "", "p"}};

const CommandOptions* OptionsOf(std::string_view command) {
  for (const CommandOptions& one : kCommands) {
    if (one.command == command) return &one;
  }
  return nullptr;
}

bool Knows(std::string_view command, std::string_view CommandOptions::*letters, char option) {
  const CommandOptions* known = OptionsOf(command);
  return known != nullptr && IsOneOf(option, known->*letters);
}

std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

Span All(std::string_view word) { return {0, word.size()}; }

std::size_t Dashes(std::string_view word) {
  return std::min(word.find_first_not_of('-'), word.size());
}

bool IsOption(std::string_view word) {
  const std::size_t dashes = Dashes(word);
  return (dashes == 1 || dashes == 2) && dashes < word.size() && IsAlnum(word[dashes]) &&
         !IsDigit(word[dashes]);
}

bool IsOfLowerLetters(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return IsOneOf(c, "-_") || (IsAlnum(c) && !IsDigit(c) && !IsUpper(c));
  });
}

// After the option of a password: what begins with one hyphen and is too long to be a letter's.
bool IsOddValue(std::string_view option, std::string_view word) {
  return IsSecretName(option) && word.size() > 2 && word[1] != '-' && !IsSecretName(word);
}

// bf16-mixed, fp16, float32: of -p, a precision.
bool IsPrecision(std::string_view value) {
  constexpr std::string_view kPrecisions[] = {"bfloat", "float", "bf", "fp", "tf", "int"};
  for (std::string_view precision : kPrecisions) {
    if (!value.starts_with(precision)) continue;
    return value.size() > precision.size() && IsDigit(value[precision.size()]);
  }
  return false;
}

// Of -p: a port, a path or what has a dot in it is no password.
bool IsHarmlessShort(std::string_view value) {
  constexpr std::size_t kPortDigits = 5;
  return IsCount(value, kPortDigits) || IsSwitch(value) || IsPrecision(value) ||
         value.find_first_of("/.:=,") != std::string_view::npos;
}

bool IsOfAList(std::string_view option) {
  constexpr std::string_view kPlurals[] = {"keys",    "tokens",  "secrets",     "passwords",
                                           "apikeys", "passwds", "credentials", "creds"};
  constexpr std::size_t kLongestPlural = 11;
  const std::string lower =
      InLower(option.substr(option.size() - std::min(option.size(), kLongestPlural)));
  return std::any_of(std::begin(kPlurals), std::end(kPlurals),
                     [&](std::string_view plural) { return lower.ends_with(plural); });
}

bool TakesUser(std::string_view option) {
  constexpr std::string_view kUsers[] = {"-u",           "-U",        "--user",
                                         "--proxy-user", "--userpwd", "--login"};
  return Has(kUsers, option);
}

// user:password from `begin` on; docker run --user 1000:1000. A key in place of the user has
// nothing behind its colon.
Span PasswordOfUser(std::string_view word, std::size_t begin) {
  const std::size_t colon = word.find_first_of(":%", begin);
  if (colon == std::string_view::npos || colon == begin || word.substr(colon).starts_with("://"))
    return {};
  const bool is_id = IsCount(word.substr(begin, colon - begin), kIdDigits) &&
                     IsCount(word.substr(colon + 1), kIdDigits);
  if (is_id) return {};
  return colon + 1 == word.size() ? Span{begin, colon} : Span{colon + 1, word.size()};
}

bool LogsInByKey(std::string_view command) {
  constexpr std::string_view kCommandsOfKeys[] = {"wandb", "comet", "neptune", "huggingface-cli",
                                                  "hf",    "weave", "clearml"};
  return Has(kCommandsOfKeys, FileName(command));
}

// ---- Scripts

constexpr std::string_view kBlanks = " \t\r";

// Reads words as a shell does, but for what it would expand.
class Script {
 public:
  explicit Script(std::vector<Span>* secrets) : secrets_(secrets) {}

  void Read(std::string_view text, std::size_t offset, int depth) {
    CommandWords words;
    Unclosed unclosed;
    for (std::size_t at = 0; at < text.size();) {
      if (IsOneOf(text[at], "\n;|&")) words = {};
      if (IsOneOf(text[at], "\n;|&") || IsOneOf(text[at], kBlanks)) {
        ++at;
      } else if (text.substr(at).starts_with("\\\n")) {
        at += 2;
      } else {
        const std::size_t end = EndOfWord(text, at, offset, depth, &unclosed);
        Look(text, {at, end}, offset, &words);
        at = end;
      }
    }
  }

 private:
  // Quotes that nothing closes are none: don't. Each kind is looked for once more at most.
  struct Unclosed {
    bool kind[4] = {};
  };

  void Look(std::string_view text, Span word, std::size_t offset, CommandWords* words) {
    const bool quoted = word.end - word.begin > 1 && IsQuote(text[word.begin]) &&
                        text[word.end - 1] == text[word.begin];
    if (quoted) ++word.begin, --word.end;
    const Span secret = words->SecretOf(text.substr(word.begin, word.end - word.begin));
    const std::size_t begin = offset + word.begin;
    if (!secret.empty()) secrets_->push_back({begin + secret.begin, begin + secret.end});
  }

  std::size_t EndOfWord(std::string_view text, std::size_t at, std::size_t offset, int depth,
                        Unclosed* unclosed) {
    while (at < text.size() && !IsOneOf(text[at], kBlanks) && !IsOneOf(text[at], "\n;|&")) {
      if (IsQuote(text[at]))
        at = EndOfQuotes(text, at, offset, depth, unclosed);
      else if (text.substr(at).starts_with("\\\n"))
        break;
      else
        ++at;
    }
    return std::min(at, text.size());
  }

  // What is quoted may be a script itself.
  std::size_t EndOfQuotes(std::string_view text, std::size_t at, std::size_t offset, int depth,
                          Unclosed* unclosed) {
    constexpr int kDeepest = 3;
    const bool is_escaped = at > 0 && text[at - 1] == '\\';
    bool& is_unclosed = unclosed->kind[(text[at] == '"' ? 1 : 0) + (is_escaped ? 2 : 0)];
    if (is_unclosed) return at + 1;
    const std::size_t end = EndOfQuoted(text, at + 1);
    is_unclosed = end == text.size();
    if (is_unclosed) return at + 1;
    const std::string_view inner = text.substr(at + 1, end - at - 1);
    if (depth < kDeepest && inner.find_first_of(" \t\n") != std::string_view::npos)
      Read(inner, offset + at + 1, depth + 1);
    return end + (text[end] == '\\' ? 2 : 1);
  }

  std::vector<Span>* secrets_;
};

}  // namespace

std::string Masked(std::string_view text, std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(), [](Span a, Span b) { return a.begin < b.begin; });
  std::string masked;
  std::size_t copied = 0;
  for (Span span : spans) {
    if (span.empty() || span.end <= copied) continue;
    if (span.begin >= copied && !(span.begin == copied && copied != 0)) {
      masked += text.substr(copied, span.begin - copied);
      masked += kMask;
    }
    copied = span.end;
  }
  return masked += text.substr(copied);
}

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

Span CommandWords::SecretOf(std::string_view word) {
  const std::string_view option = std::exchange(option_, {});
  const bool is_option = IsOption(word) && !(option != "" && IsOddValue(option, word));
  Span secret;
  if (is_option) {
    option_ = word.find('=') == std::string_view::npos ? word : std::string_view();
    secret = SecretOfOption(word);
  } else if (!option.empty()) {
    secret = SecretOfValue(option, word);
    const bool goes_on = word == "=" || (IsOfAList(option) && IsSecretName(option));
    if (goes_on) option_ = option;
  }
  if (!is_option && secret.empty()) {
    if (logs_in_ && word.find("://") == std::string_view::npos) secret = All(word);
    Follow(word);
  }
  before_ = word;
  return secret;
}

Span CommandWords::SecretOfOption(std::string_view word) const {
  const std::size_t equals = std::min(word.find('='), word.size());
  const bool takes_user =
      TakesUser(word.substr(0, equals)) && !Knows(command_, &CommandOptions::harmless, 'u');
  if (takes_user && equals < word.size()) return PasswordOfUser(word, equals + 1);
  if (word.size() < 3 || word[1] == '-') return {};
  // Glued: -uroot:pw, -ppw
  const char letter = word[1];
  const std::string_view value = word.substr(2);
  if (Knows(command_, &CommandOptions::secrets, letter)) return {2, word.size()};
  if (Knows(command_, &CommandOptions::harmless, letter)) return {};
  if (letter == 'u') return PasswordOfUser(word, 2);
  if (letter != 'p' || IsHarmlessShort(value) || IsOfLowerLetters(value)) return {};
  return {2, word.size()};
}

Span CommandWords::SecretOfValue(std::string_view option, std::string_view word) const {
  if (word == "=") return {};
  const bool is_letter = option.size() == 2 && option[0] == '-';
  if (is_letter && Knows(command_, &CommandOptions::secrets, option[1])) return All(word);
  if (is_letter && Knows(command_, &CommandOptions::harmless, option[1])) return {};
  if (TakesUser(option)) {
    if (Knows(command_, &CommandOptions::harmless, 'u')) return {};
    const bool is_url = word.find('@') != std::string_view::npos;
    return is_url ? Span{} : PasswordOfUser(word, 0);
  }
  if (option == "-p") return IsHarmlessShort(word) ? Span{} : All(word);
  return IsSecretName(option) && !IsHarmlessValue(option, word) ? All(word) : Span{};
}

// A word that is neither an option nor a secret.
void CommandWords::Follow(std::string_view word) {
  logs_in_ = logs_in_ || (word == "login" && LogsInByKey(before_));
  if (OptionsOf(FileName(word)) != nullptr) command_ = FileName(word);
  if (sets_ && IsSecretName(word)) option_ = word;
  sets_ = word == "setenv" || word == "set";
}

std::vector<Span> SecretsOfScript(std::string_view text) {
  std::vector<Span> secrets;
  if (text.find_first_of(" \t\n") != std::string_view::npos) Script(&secrets).Read(text, 0, 0);
  return secrets;
}

}  // namespace traceinject
