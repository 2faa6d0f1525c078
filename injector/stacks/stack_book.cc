// SPDX-License-Identifier: Apache-2.0
#include "injector/stacks/stack_book.h"

#include <array>
#include <utility>

#include "injector/rows/secrets.h"
#include "injector/stacks/code_lines.h"

namespace traceinject {
namespace {

constexpr char kUnreadable[] = "?";
constexpr std::int64_t kStackUnitBytes = 2;  // of instructions

}  // namespace

std::uint32_t StackBook::Text(const std::string& text) {
  const auto [known, fresh] =
      text_ids_.try_emplace(text, static_cast<std::uint32_t>(texts_.size()));
  if (fresh) texts_.push_back(MaskSecrets(text));
  return known->second;
}

std::uint32_t StackBook::AddPlace(const BookedPlace& place) {
  const auto [known, fresh] =
      place_ids_.try_emplace({place.function, place.file, static_cast<std::uint64_t>(place.line),
                              static_cast<std::uint64_t>(place.first_line)},
                             static_cast<std::uint32_t>(places_.size()));
  if (fresh) places_.push_back(place);
  return known->second;
}

std::string StackBook::ReadTextOr(const Source& source, std::uint64_t text) {
  auto read = ReadText(*source.memory, *source.layout, *source.types, text);
  return read && !read->empty() ? std::move(*read) : std::string(kUnreadable);
}

// Null: it is no code object.
StackBook::Code* StackBook::KnownCode(const Source& source, std::uint64_t code,
                                      const CodeWords& words) {
  if (words.type != source.types->code) return nullptr;
  const IntegerKey<2> key{source.number, code};
  if (const auto known = codes_.find(key); known != codes_.end()) {
    if (known->second.words == words) return &known->second;
    codes_.erase(known);  // another one at the same address
  }
  auto lines = ReadBytes(*source.memory, *source.layout, *source.types, words.lines);
  if (!lines) return nullptr;
  Code fresh;
  fresh.words = words;
  fresh.function = Text(ReadTextOr(source, words.name));
  fresh.file = Text(ReadTextOr(source, words.file));
  fresh.is_hidden = texts_[fresh.file] == "<shim>";
  fresh.lines = std::move(*lines);
  // It may have gone while its texts were read.
  std::array<char, kMaxCodeBytes> again;
  const std::size_t bytes = CodeBytes(*source.layout);
  if (bytes > again.size() || !source.memory->Read(code, again.data(), bytes) ||
      !(DecodeCode(*source.layout, again.data()) == words))
    return nullptr;
  return &codes_.emplace(key, std::move(fresh)).first->second;
}

std::uint32_t StackBook::Place(const Source& source, std::uint64_t code, std::int64_t offset,
                               const CodeWords& words) {
  Code* known = KnownCode(source, code, words);
  if (known == nullptr) return 0;
  if (known->is_hidden) return kHidden;
  const bool has_units = source.layout->lines == PythonLayout::Lines::kLocations;
  if (has_units && offset >= words.units * kStackUnitBytes) return 0;
  const auto [place, fresh] = known->places.try_emplace(offset, 0);
  if (fresh) {
    const std::int64_t line =
        LineOfInstruction(source.layout->lines, known->lines, words.first_line, offset);
    place->second = AddPlace({known->function, known->file, line, words.first_line});
  }
  return place->second;
}

std::uint32_t StackBook::PlaceOfCheck(const Source& source, std::uint64_t code, std::int64_t offset,
                                      std::uint32_t check) {
  if (const auto known = codes_.find({source.number, code});
      known != codes_.end() && known->second.words.Check() == check)
    return Place(source, code, offset, known->second.words);
  std::array<char, kMaxCodeBytes> bytes;
  const std::size_t size = CodeBytes(*source.layout);
  if (size > bytes.size() || !source.memory->Read(code, bytes.data(), size)) return 0;
  const CodeWords words = DecodeCode(*source.layout, bytes.data());
  return words.Check() == check ? Place(source, code, offset, words) : 0;
}

std::uint32_t StackBook::Node(std::uint32_t parent, std::uint32_t place) {
  const IntegerKey<2> key{parent, place};
  if (const auto known = node_ids_.find(key); known != node_ids_.end()) return known->second;
  if (nodes_.size() > 2 * kMaxNodes) return 0;
  const auto id = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({parent, place});
  node_ids_.emplace(key, id);
  return id;
}

void StackBook::Forget() { *this = StackBook(); }

std::uint32_t StackBook::Row(std::uint32_t node, Dictionary* dictionary) {
  if (node == 0 || node >= nodes_.size()) return 0;
  if (std::exchange(rows_flush_, dictionary->flush()) != dictionary->flush()) row_ids_.clear();
  row_ids_.resize(nodes_.size());
  // From the outermost frame on: a frame is stored after its caller.
  std::vector<std::uint32_t> missing;
  std::uint32_t known = node;
  for (; known != 0 && row_ids_[known] == 0; known = nodes_[known].parent) missing.push_back(known);
  std::uint32_t row = known == 0 ? 0 : row_ids_[known];
  for (; !missing.empty(); missing.pop_back()) {
    const NodeKey& one = nodes_[missing.back()];
    const BookedPlace& place = places_[one.place];
    row = dictionary->Stack(row, dictionary->CodePlace(texts_[place.function], texts_[place.file],
                                                       place.line, place.first_line));
    row_ids_[missing.back()] = row;
  }
  return row;
}

}  // namespace traceinject
