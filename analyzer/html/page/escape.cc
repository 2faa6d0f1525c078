// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/page/escape.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>

#include "analyzer/common/printable.h"

namespace traceinject {
namespace {

struct CodeRange {
  std::uint32_t first, last;
};

// Characters without width, those that turn the direction of writing, line ends that are no
// controls, tags, and two that XML does not allow. https://www.unicode.org/reports/tr9/ and the
// property Default_Ignorable_Code_Point.
constexpr std::array<CodeRange, 9> kHidden = {{{0x00AD, 0x00AD},
                                               {0x061C, 0x061C},
                                               {0x180E, 0x180E},
                                               {0x200B, 0x200F},
                                               {0x2028, 0x202E},
                                               {0x2060, 0x206F},
                                               {0xFEFF, 0xFEFF},
                                               {0xFFFE, 0xFFFF},
                                               {0xE0000, 0xE0FFF}}};

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
};

// At the front of well-formed UTF-8.
Character First(std::string_view text) {
  const auto lead = static_cast<std::uint8_t>(text[0]);
  Character found;
  found.bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  found.code = found.bytes == 1 ? lead : lead & (0x7FU >> found.bytes);
  for (std::size_t i = 1; i < found.bytes; ++i)
    found.code = found.code << 6 | (static_cast<std::uint8_t>(text[i]) & 0x3FU);
  return found;
}

bool IsHidden(std::uint32_t code) {
  for (const CodeRange& range : kHidden) {
    if (code >= range.first && code <= range.last) return true;
  }
  return false;
}

}  // namespace

std::string Escaped(std::string_view text) {
  const std::string printable = Printable(text);
  std::string result;
  result.reserve(printable.size() + printable.size() / 8);
  for (std::string_view left = printable; !left.empty();) {
    const Character character = First(left);
    switch (character.code) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        if (IsHidden(character.code))
          result += fmt::format("[U+{:04X}]", character.code);
        else
          result += left.substr(0, character.bytes);
    }
    left.remove_prefix(character.bytes);
  }
  return result;
}

}  // namespace traceinject
