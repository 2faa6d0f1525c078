// SPDX-License-Identifier: Apache-2.0
#include "injector/stacks/stack_book.h"

#include <array>
#include <string_view>
#include <utility>

#include "injector/rows/secrets.h"
#include "injector/stacks/code_lines.h"

namespace traceinject {
namespace {

constexpr char kUnreadable[] = "?";
constexpr std::int64_t kStackUnitBytes = 2;  // of instructions

// The functions through which PyTorch calls modules; before Python 3.11 their names are known
// without the class. Since PyTorch 2.0 the first calls the second.
bool CallsModule(std::string_view function, std::string_view file) {
  function.remove_prefix(function.starts_with("Module.") ? sizeof "Module." - 1 : 0);
  return (function == "_wrapped_call_impl" || function == "_call_impl") &&
         file.ends_with("torch/nn/modules/module.py");
}

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
  fresh.calls_module = CallsModule(texts_[fresh.function], texts_[fresh.file]);
  fresh.lines = std::move(*lines);
  // It may have gone while its texts were read.
  std::array<char, kMaxCodeBytes> again;
  const std::size_t bytes = CodeBytes(*source.layout);
  if (bytes > again.size() || !source.memory->Read(code, again.data(), bytes) ||
      !(DecodeCode(*source.layout, again.data()) == words))
    return nullptr;
  return &codes_.emplace(key, std::move(fresh)).first->second;
}

// The frame of a call of `object`. What it is called in the module that calls it follows from that
// module's own; one that is not part of it is a root itself, with its class for a name.
void StackBook::Enter(const Source& source, std::uint64_t object, WithinModule* within) {
  if (object == 0 || object == within->object || !source.layout->has_attributes()) return;
  const AttributeReader reader(*source.memory, *source.layout, *source.types);
  const ModuleNames::Name& name = modules_.Of(reader, source.number, within->object, object);
  within->object = object;
  within->path = name.text.empty()                   ? 0
                 : name.is_part && within->path != 0 ? Text(texts_[within->path] + "." + name.text)
                                                     : Text(name.text);
}

std::uint32_t StackBook::Place(const Source& source, const RawFrame& frame, const CodeWords& words,
                               WithinModule* within) {
  Code* known = KnownCode(source, frame.code, words);
  if (known == nullptr) return 0;
  if (known->is_hidden) return kHidden;
  const bool has_units = source.layout->lines == PythonLayout::Lines::kLocations;
  if (has_units && frame.offset >= words.units * kStackUnitBytes) return 0;
  if (known->calls_module && !within->is_call) Enter(source, frame.first_local, within);
  within->is_call = known->calls_module;
  const auto [place, fresh] = known->places.try_emplace(frame.offset, 0);
  if (fresh) {
    const std::int64_t line =
        LineOfInstruction(source.layout->lines, known->lines, words.first_line, frame.offset);
    place->second = AddPlace({known->function, known->file, line, words.first_line});
  }
  return place->second;
}

std::uint32_t StackBook::PlaceOfCheck(const Source& source, const RawFrame& frame,
                                      std::uint32_t check, WithinModule* within) {
  if (const auto known = codes_.find({source.number, frame.code});
      known != codes_.end() && known->second.words.Check() == check)
    return Place(source, frame, known->second.words, within);
  std::array<char, kMaxCodeBytes> bytes;
  const std::size_t size = CodeBytes(*source.layout);
  if (size > bytes.size() || !source.memory->Read(frame.code, bytes.data(), size)) return 0;
  const CodeWords words = DecodeCode(*source.layout, bytes.data());
  return words.Check() == check ? Place(source, frame, words, within) : 0;
}

std::uint32_t StackBook::Node(std::uint32_t parent, std::uint32_t place, std::uint32_t module) {
  const IntegerKey<3> key{parent, place, module};
  if (const auto known = node_ids_.find(key); known != node_ids_.end()) return known->second;
  if (nodes_.size() > 2 * kMaxNodes) return 0;
  const auto id = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({parent, place, module});
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
    row = dictionary->Stack(row,
                            dictionary->CodePlace(texts_[place.function], texts_[place.file],
                                                  place.line, place.first_line),
                            texts_[one.module]);
    row_ids_[missing.back()] = row;
  }
  return row;
}

}  // namespace traceinject
