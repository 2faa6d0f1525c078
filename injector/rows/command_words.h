// SPDX-License-Identifier: Apache-2.0
// Secrets that only the words around them tell: the value behind --password, the user behind
// curl -u, what stands behind mysql's -p. Of arguments, and of commands within one (bash -c "...").
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace traceinject {

struct Span {
  std::size_t begin = 0, end = 0;
  bool empty() const { return begin >= end; }
};

// The text with *** for each of the spans, which may be in any order and overlap.
std::string Masked(std::string_view text, std::vector<Span> spans);

// Where the literal that `begin` is the first character of ends: at its closing quote, or where the
// text does. Where the whole is quoted once more, quotes have backslashes, and it ends at that.
std::size_t EndOfQuoted(std::string_view text, std::size_t begin);

inline bool IsQuote(char c) { return c == '"' || c == '\''; }

// The words of one command line, one after another; they outlive this.
class CommandWords {
 public:
  // What of the next word is a secret because of those before it.
  Span SecretOf(std::string_view word);

 private:
  Span SecretOfOption(std::string_view word) const;
  Span SecretOfValue(std::string_view option, std::string_view word) const;
  void Follow(std::string_view word);

  std::string_view option_;   // that waits for its value
  std::string_view command_;  // the last word that is one whose options are known
  std::string_view before_;
  bool logs_in_ = false;  // wandb login KEY
  bool sets_ = false;     // setenv NAME VALUE
};

// The same of text that may be a script of a shell. O(characters).
std::vector<Span> SecretsOfScript(std::string_view text);

}  // namespace traceinject
