// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/perfetto_sequence.h"

#include <google/protobuf/io/coded_stream.h>

#include "analyzer/common/printable.h"

namespace traceinject {
namespace {

// Trace.packet: field 1, of a length that follows.
constexpr std::uint8_t kPacketTag = 1 << 3 | 2;
constexpr std::size_t kLongestHead = 1 + 10;

}  // namespace

PerfettoSequence::PerfettoSequence(std::uint32_t id, OutputFile& file) : id_(id), file_(file) {}

perfetto::TracePacket& PerfettoSequence::Begin() {
  packet_.Clear();
  packet_.set_trusted_packet_sequence_id(id_);
  packet_.set_sequence_flags(packets_ == 0 ? perfetto::TracePacket::SEQ_INCREMENTAL_STATE_CLEARED
                                           : perfetto::TracePacket::SEQ_NEEDS_INCREMENTAL_STATE);
  return packet_;
}

perfetto::TracePacket& PerfettoSequence::Begin(std::uint64_t timestamp_ns) {
  Begin().set_timestamp(timestamp_ns);
  return packet_;
}

void PerfettoSequence::Send() {
  using google::protobuf::io::CodedOutputStream;
  const std::size_t size = packet_.ByteSizeLong();
  bytes_.resize(kLongestHead + size);
  auto* const begin = reinterpret_cast<std::uint8_t*>(bytes_.data());
  *begin = kPacketTag;
  std::uint8_t* at = CodedOutputStream::WriteVarint64ToArray(size, begin + 1);
  at = packet_.SerializeWithCachedSizesToArray(at);
  file_.Write({bytes_.data(), static_cast<std::size_t>(at - begin)});
  ++packets_;
}

std::uint64_t PerfettoSequence::Intern(std::string_view text, Texts& texts,
                                       perfetto::InternedName* (perfetto::InternedData::*add)()) {
  const auto found = texts.find(text);
  if (found != texts.end()) return found->second;
  const std::uint64_t iid = texts.size() + 1;
  texts.emplace(text, iid);
  perfetto::InternedName& entry = *(packet_.mutable_interned_data()->*add)();
  entry.set_iid(iid);
  entry.set_name(Printable(text));
  return iid;
}

std::uint64_t PerfettoSequence::InternLiteral(
    std::string_view text, Literals& literals,
    perfetto::InternedName* (perfetto::InternedData::*add)()) {
  for (const auto& [place, iid] : literals.by_place) {
    if (place == text.data()) return iid;
  }
  const std::uint64_t iid = Intern(text, literals.by_text, add);
  literals.by_place.emplace_back(text.data(), iid);
  return iid;
}

void PerfettoSequence::SetName(std::uint32_t number, const std::string& text) {
  packet_.mutable_track_event()->set_name_iid(number + 1);
  if (number >= sent_names_.size()) sent_names_.resize(number + 1);
  if (sent_names_[number]) return;
  sent_names_[number] = true;
  perfetto::InternedName& entry = *packet_.mutable_interned_data()->add_event_names();
  entry.set_iid(number + 1);
  entry.set_name(text);
}

void PerfettoSequence::AddCategory(std::string_view category) {
  packet_.mutable_track_event()->add_category_iids(
      InternLiteral(category, categories_, &perfetto::InternedData::add_event_categories));
}

void PerfettoSequence::AddArguments(const std::vector<Argument>& arguments) {
  for (const Argument& argument : arguments) {
    perfetto::DebugAnnotation& to = *packet_.mutable_track_event()->add_debug_annotations();
    to.set_name_iid(InternLiteral(argument.key, argument_names_,
                                  &perfetto::InternedData::add_debug_annotation_names));
    switch (argument.kind) {
      case Argument::Kind::kCount:
        to.set_int_value(argument.count);
        break;
      case Argument::Kind::kReal:
        to.set_double_value(argument.real);
        break;
      case Argument::Kind::kText:
      case Argument::Kind::kList:
        to.set_string_value_iid(
            Intern(argument.text, argument_texts_,
                   &perfetto::InternedData::add_debug_annotation_string_values));
        break;
    }
  }
}

}  // namespace traceinject
