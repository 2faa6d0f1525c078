// SPDX-License-Identifier: Apache-2.0
// The packets of one process in a Perfetto trace: sends each text once, and numbers afterwards.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/export/event_arguments.h"
#include "analyzer/export/output_file.h"
#include "schemas/perfetto.pb.h"

namespace traceinject {

class PerfettoSequence {
 public:
  // `id`: from 1, of no other sequence. The file must outlive this.
  PerfettoSequence(std::uint32_t id, OutputFile& file);

  // A packet to be filled; only one at a time.
  perfetto::TracePacket& Begin();
  perfetto::TracePacket& Begin(std::uint64_t timestamp_ns);
  void Send();

  // These fill the event of the packet that was begun.
  // `number`: small, the same for the same text.
  void SetName(std::uint32_t number, const std::string& text);
  void AddCategory(std::string_view category);  // a literal
  void AddArguments(const std::vector<Argument>& arguments);

 private:
  struct TextHash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  using Texts = std::unordered_map<std::string, std::uint64_t, TextHash, std::equal_to<>>;
  // Few, and asked for by the million: found by where they are, which takes a tenth of the time.
  struct Literals {
    std::vector<std::pair<const char*, std::uint64_t>> by_place;
    Texts by_text;  // one may be in several places
  };
  // The number of a text, which is sent with this packet if it is new.
  std::uint64_t Intern(std::string_view text, Texts& texts,
                       perfetto::InternedName* (perfetto::InternedData::*add)());

  // The same for texts that stay where they are, such as keys of arguments.
  std::uint64_t InternLiteral(std::string_view text, Literals& literals,
                              perfetto::InternedName* (perfetto::InternedData::*add)());

  std::uint32_t id_;
  OutputFile& file_;
  perfetto::TracePacket packet_;
  std::string bytes_;
  std::uint64_t packets_ = 0;
  std::vector<bool> sent_names_;
  Literals categories_, argument_names_;
  Texts argument_texts_;
};

}  // namespace traceinject
