// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/source/json_pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace traceinject {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;
// No event and no list of facts is that long; a missing quote must not fill the memory.
constexpr std::size_t kLargestPiece = std::size_t{256} << 20;

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

enum class Mark : std::uint8_t { kNone, kOpen, kClose, kQuote };

constexpr std::array<Mark, 256> kMarks = [] {
  std::array<Mark, 256> marks{};
  marks['{'] = marks['['] = Mark::kOpen;
  marks['}'] = marks[']'] = Mark::kClose;
  marks['"'] = Mark::kQuote;
  return marks;
}();

// From `at` on, the first quote or bracket that is not before `size`, else `size`. Looks at up to
// 15 bytes beyond that.
std::size_t FindMark(const char* text, std::size_t at, std::size_t size) {
#ifdef __SSE2__
  static_assert(JsonPieces::kPadding >= sizeof(__m128i));
  const __m128i quote = _mm_set1_epi8('"'), case_bit = _mm_set1_epi8('[' ^ '{');
  const __m128i open = _mm_set1_epi8('{'), close = _mm_set1_epi8('}');
  for (; at < size; at += sizeof(__m128i)) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + at));
    const __m128i either = _mm_or_si128(bytes, case_bit);  // "[" as "{", "]" as "}"
    const __m128i brackets =
        _mm_or_si128(_mm_cmpeq_epi8(either, open), _mm_cmpeq_epi8(either, close));
    const int marks = _mm_movemask_epi8(_mm_or_si128(brackets, _mm_cmpeq_epi8(bytes, quote)));
    if (marks != 0)
      return std::min(
          size, at + static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(marks))));
  }
  return size;
#else
  while (at < size && kMarks[static_cast<unsigned char>(text[at])] == Mark::kNone) ++at;
  return at;
#endif
}

// Likewise the first quote.
std::size_t FindQuote(const char* text, std::size_t at, std::size_t size) {
#ifdef __SSE2__
  // Most strings are short: a call costs more than they do.
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + at));
  const int quotes = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')));
  if (quotes != 0)
    return std::min(size,
                    at + static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(quotes))));
#endif
  const void* const quote = std::memchr(text + at, '"', size - at);
  return quote == nullptr ? size : static_cast<std::size_t>(static_cast<const char*>(quote) - text);
}

// Finds the end of a value that is handed over in blocks.
class ValueScanner {
 public:
  // Looks at text[at_, size), behind which is padding. True: the value ends before at().
  bool Scan(const char* text, std::size_t size) {
    while (at_ < size) {
      if (in_string_) {
        if (!LeaveString(text, size)) return false;
        if (depth_ == 0) return true;
        continue;
      }
      if (depth_ > 0) {
        at_ = FindMark(text, at_, size);
        if (at_ == size) return false;
      }
      switch (kMarks[static_cast<unsigned char>(text[at_])]) {
        case Mark::kNone:
          // A bare number or word ends where anything else begins.
          if (depth_ == 0 && (IsSpace(text[at_]) || text[at_] == ',')) return true;
          break;
        case Mark::kQuote:
          if (depth_ == 0 && at_ > 0) return true;
          in_string_ = true;
          string_begin_ = at_ + 1;
          break;
        case Mark::kOpen:
          if (depth_ == 0 && at_ > 0) return true;
          ++depth_;
          break;
        case Mark::kClose:
          if (depth_ == 0) return true;
          if (--depth_ == 0) {
            ++at_;
            return true;
          }
          break;
      }
      ++at_;
    }
    return false;
  }
  std::size_t at() const { return at_; }

 private:
  // Moves behind the closing quote; false if it is not there yet.
  bool LeaveString(const char* text, std::size_t size) {
    while (at_ < size) {
      const std::size_t found = FindQuote(text, at_, size);
      if (found == size) {
        at_ = size;
        return false;
      }
      std::size_t first = found;
      while (first > string_begin_ && text[first - 1] == '\\') --first;
      at_ = found + 1;
      if ((found - first) % 2 == 1) continue;
      in_string_ = false;
      return true;
    }
    return false;
  }

  std::size_t at_ = 0, string_begin_ = 0, depth_ = 0;
  bool in_string_ = false;
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
    while (begin_ < end_ && IsSpace(buffer_[begin_])) ++begin_;
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
