// SPDX-License-Identifier: Apache-2.0
// A large JSON document in pieces small enough to parse one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/import/source/gzip_source.h"

namespace traceinject {

// What JSON has as white space.
constexpr bool IsJsonSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// One value of the document, still as text.
struct JsonPiece {
  std::string_view key;   // its name in the top-level object; empty for elements of a list
  std::string_view text;  // readable for kPadding bytes beyond its end
  bool is_element = false;
};

// Splits the top level of a document, {"key": value, ...} or [element, ...], and the list under the
// key `list_key`, whose elements come one by one. Only brackets and strings are looked at: whether
// a piece is valid is for its reader to see, so one bad piece costs one piece. Memory: the largest
// piece.
class JsonPieces {
 public:
  static constexpr std::size_t kPadding = 64;

  JsonPieces(GzipSource& source, std::string_view list_key);

  // The next piece, valid until the next call; empty at the end. Errors: not JSON, cut off.
  Result<std::optional<JsonPiece>> Next();

 private:
  enum class Place { kStart, kObject, kList, kTopList, kEnd };

  Result<std::optional<JsonPiece>> Begin();
  Result<std::optional<JsonPiece>> NextMember();
  Result<std::optional<JsonPiece>> NextElement();
  Result<std::optional<JsonPiece>> CheckEnd();
  // Consumes one value, which becomes value_ (as an offset: reading may move the buffer).
  Status TakeValue();
  // Consumes a comma if one is next.
  Status SkipComma();
  // The next byte that is not white space, not consumed; 0 at the end of the file.
  Result<char> Peek();
  // Appends more of the file. False at its end.
  Result<bool> Fill();
  // The whole length of the value at begin_.
  Result<std::size_t> MeasureValue();
  Error Broken(std::string_view what) const;

  GzipSource& source_;
  std::string_view list_key_;
  Place place_ = Place::kStart;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // what is read and not consumed
  std::uint64_t dropped_ = 0;        // bytes of the document before buffer_
  std::size_t value_begin_ = 0, value_length_ = 0;
  std::string key_;
};

}  // namespace traceinject
