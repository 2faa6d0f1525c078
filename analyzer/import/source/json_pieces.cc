// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/source/json_pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace traceinject {
namespace {

constexpr std::size_t kBlock = std::size_t{256} << 10;
// No event and no list of facts is that long; a missing quote must not fill the memory.
constexpr std::size_t kLargestPiece = std::size_t{256} << 20;

constexpr std::uint8_t kBracketCase = '[' ^ '{';  // also ']' ^ '}'
bool IsOpening(char c) { return (c | kBracketCase) == '{'; }
bool IsClosing(char c) { return (c | kBracketCase) == '}'; }

// Of so many bytes a bit each.
constexpr std::size_t kMarked = 64;
struct Marks {
  std::uint64_t quotes = 0, brackets = 0, backslashes = 0;
};
static_assert(JsonPieces::kPadding >= kMarked);

#ifdef __SSE2__
Marks MarksOf(const char* text) {
  const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
  const __m128i open = _mm_set1_epi8('{'), close = _mm_set1_epi8('}');
  const __m128i case_bit = _mm_set1_epi8(kBracketCase);
  Marks marks;
  for (std::size_t at = 0; at < kMarked; at += sizeof(__m128i)) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + at));
    const __m128i either = _mm_or_si128(bytes, case_bit);
    const auto add = [at](std::uint64_t& bits, __m128i found) {
      bits |= std::uint64_t{static_cast<std::uint16_t>(_mm_movemask_epi8(found))} << at;
    };
    add(marks.quotes, _mm_cmpeq_epi8(bytes, quote));
    add(marks.backslashes, _mm_cmpeq_epi8(bytes, backslash));
    add(marks.brackets, _mm_or_si128(_mm_cmpeq_epi8(either, open), _mm_cmpeq_epi8(either, close)));
  }
  return marks;
}
#else
Marks MarksOf(const char* text) {
  Marks marks;
  for (std::size_t at = 0; at < kMarked; ++at) {
    const std::uint64_t bit = std::uint64_t{1} << at;
    if (text[at] == '"') marks.quotes |= bit;
    if (text[at] == '\\') marks.backslashes |= bit;
    if (IsOpening(text[at]) || IsClosing(text[at])) marks.brackets |= bit;
  }
  return marks;
}
#endif

// Each bit becomes whether the number of ones up to it is odd: between two quotes it is.
std::uint64_t OddSoFar(std::uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

// Finds the end of a value that is handed over in blocks.
class ValueScanner {
 public:
  // Looks at text[at_, size), behind which is padding. True: the value ends before at().
  bool Scan(const char* text, std::size_t size) {
    while (at_ < size) {
      if (depth_ == 0 ? Step(text) : StepFar(text, size)) return true;
    }
    return false;
  }
  std::size_t at() const { return at_; }

 private:
  // Over a byte, unless the value ends before it.
  bool Step(const char* text) {
    const char c = text[at_];
    if (in_string_) return StepInString(c);
    if (depth_ == 0 && (IsClosing(c) || (at_ > 0 && (c == '"' || IsOpening(c))))) return true;
    // A bare number or word ends where anything else begins.
    if (depth_ == 0 && (IsJsonSpace(c) || c == ',')) return true;
    ++at_;
    in_string_ = c == '"';
    if (IsOpening(c)) ++depth_;
    return IsClosing(c) && --depth_ == 0;
  }

  bool StepInString(char c) {
    ++at_;
    const bool ends = c == '"' && !escaped_;
    escaped_ = c == '\\' && !escaped_;
    in_string_ = !ends;
    return ends && depth_ == 0;
  }

  // Over kMarked bytes of a list or an object, or up to its end.
  bool StepFar(const char* text, std::size_t size) {
    const std::size_t count = std::min(kMarked, size - at_);
    const std::uint64_t valid = ~std::uint64_t{0} >> (kMarked - count);
    const Marks marks = MarksOf(text + at_);
    if (escaped_ || (marks.backslashes & valid) != 0) {
      for (const std::size_t until = at_ + count; at_ < until;) {
        if (Step(text)) return true;
      }
      return false;
    }
    const std::uint64_t in_strings =
        OddSoFar(marks.quotes & valid) ^ (in_string_ ? ~std::uint64_t{0} : 0);
    for (std::uint64_t left = marks.brackets & valid & ~in_strings; left != 0; left &= left - 1) {
      const std::size_t bracket = at_ + static_cast<std::size_t>(std::countr_zero(left));
      depth_ = IsOpening(text[bracket]) ? depth_ + 1 : depth_ - 1;
      if (depth_ > 0) continue;
      at_ = bracket + 1;
      return true;
    }
    in_string_ = in_strings >> (kMarked - 1) != 0;
    at_ += count;
    return false;
  }

  std::size_t at_ = 0, depth_ = 0;
  bool in_string_ = false, escaped_ = false;
};

}  // namespace

JsonPieces::JsonPieces(GzipSource& source, std::string_view list_key)
    : source_(source), list_key_(list_key), buffer_(2 * kBlock + kPadding) {}

Error JsonPieces::Broken(std::string_view what) const {
  return Error{fmt::format("{}: not a complete JSON trace: {} at byte {}", source_.path(), what,
                           dropped_ + begin_)};
}

Result<bool> JsonPieces::Fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    dropped_ += begin_;
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ + kBlock + kPadding > buffer_.size()) {
    if (end_ > kLargestPiece) return Broken("a value of more than 256 MB");
    buffer_.resize(2 * end_ + kBlock + kPadding);
  }
  const auto count = source_.Read(buffer_.data() + end_, kBlock);
  if (!count.ok()) return Error{count.error()};
  end_ += count.value();
  return count.value() > 0;
}

Result<char> JsonPieces::Peek() {
  for (;;) {
    while (begin_ < end_ && IsJsonSpace(buffer_[begin_])) ++begin_;
    if (begin_ < end_) return buffer_[begin_];
    const auto more = Fill();
    if (!more.ok()) return Error{more.error()};
    if (!more.value()) return '\0';
  }
}

Result<std::size_t> JsonPieces::MeasureValue() {
  ValueScanner scanner;
  while (!scanner.Scan(buffer_.data() + begin_, end_ - begin_)) {
    const auto more = Fill();
    if (!more.ok()) return Error{more.error()};
    if (!more.value()) return Broken("truncated inside the value that begins");
  }
  if (scanner.at() == 0) return Broken("a value is missing");
  return scanner.at();
}

Status JsonPieces::TakeValue() {
  const auto first = Peek();
  if (!first.ok()) return Error{first.error()};
  if (first.value() == '\0') return Broken("it is cut off");
  const auto length = MeasureValue();
  if (!length.ok()) return Error{length.error()};
  value_begin_ = begin_;
  value_length_ = length.value();
  begin_ += length.value();
  return Done{};
}

Status JsonPieces::SkipComma() {
  const auto next = Peek();
  if (!next.ok()) return Error{next.error()};
  if (next.value() == ',') ++begin_;
  return Done{};
}

Result<std::optional<JsonPiece>> JsonPieces::Next() {
  switch (place_) {
    case Place::kStart:
      return Begin();
    case Place::kObject:
      return NextMember();
    case Place::kList:
    case Place::kTopList:
      return NextElement();
    case Place::kEnd:
      break;
  }
  return CheckEnd();
}

Result<std::optional<JsonPiece>> JsonPieces::Begin() {
  const auto more = Fill();
  if (!more.ok()) return Error{more.error()};
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (std::string_view(buffer_.data(), end_).starts_with(kByteOrderMark)) begin_ = 3;
  const auto first = Peek();
  if (!first.ok()) return Error{first.error()};
  if (first.value() == '\0') return Broken("it is empty");
  if (first.value() != '{' && first.value() != '[') return Broken("expected an object or a list");
  ++begin_;
  place_ = first.value() == '{' ? Place::kObject : Place::kTopList;
  return Next();
}

Result<std::optional<JsonPiece>> JsonPieces::NextMember() {
  // The comma behind the last value was left there: looking for it may have moved the value.
  if (const Status comma = SkipComma(); !comma.ok()) return Error{comma.error()};
  const auto next = Peek();
  if (!next.ok()) return Error{next.error()};
  if (next.value() == '\0') return Broken("truncated: the object is not closed");
  if (next.value() == '}') {
    ++begin_;
    place_ = Place::kEnd;
    return CheckEnd();
  }
  if (next.value() != '"') return Broken("expected a quoted name");
  Status status = TakeValue();
  if (!status.ok()) return Error{status.error()};
  key_.assign(buffer_.data() + value_begin_ + 1, value_length_ - 2);
  const auto colon = Peek();
  if (!colon.ok()) return Error{colon.error()};
  if (colon.value() != ':') return Broken("expected a colon");
  ++begin_;
  const auto first = Peek();
  if (!first.ok()) return Error{first.error()};
  if (key_ == list_key_ && first.value() == '[') {
    ++begin_;
    place_ = Place::kList;
    return NextElement();
  }
  status = TakeValue();
  if (!status.ok()) return Error{status.error()};
  return std::optional(JsonPiece{key_, {buffer_.data() + value_begin_, value_length_}, false});
}

Result<std::optional<JsonPiece>> JsonPieces::NextElement() {
  if (const Status status = SkipComma(); !status.ok()) return Error{status.error()};
  const auto next = Peek();
  if (!next.ok()) return Error{next.error()};
  if (next.value() == '\0') return Broken("truncated: the list of events is not closed");
  if (next.value() == ']') {
    ++begin_;
    if (place_ == Place::kTopList) {
      place_ = Place::kEnd;
      return CheckEnd();
    }
    place_ = Place::kObject;
    return NextMember();
  }
  if (const Status status = TakeValue(); !status.ok()) return Error{status.error()};
  return std::optional(JsonPiece{{}, {buffer_.data() + value_begin_, value_length_}, true});
}

Result<std::optional<JsonPiece>> JsonPieces::CheckEnd() {
  const auto next = Peek();
  if (!next.ok()) return Error{next.error()};
  if (next.value() != '\0') return Broken("there is data after its end");
  return std::optional<JsonPiece>();
}

}  // namespace traceinject
