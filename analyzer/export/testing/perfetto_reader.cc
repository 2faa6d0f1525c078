// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/testing/perfetto_reader.h"

#include <fmt/format.h>
#include <google/protobuf/unknown_field_set.h>

#include <fstream>
#include <set>

#include "public_trace.pb.h"

namespace traceinject {
namespace {

enum Type { kBegin = 1, kEnd = 2, kMark = 3, kCounter = 4 };
constexpr std::uint32_t kStateCleared = 1, kNeedsState = 2;

class Reader {
 public:
  PerfettoContents Read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    public_trace::File trace;
    if (!trace.ParseFromIstream(&file)) Complain("this is no trace");
    for (const public_trace::Packet& packet : trace.packet()) Take(packet);
    for (const auto& [uuid, open] : open_) {
      if (!open.empty())
        Complain(fmt::format("{} slices of track {} do not end", open.size(), uuid));
    }
    for (const std::uint64_t flow : open_flows_) Complain(fmt::format("flow {} goes on", flow));
    return std::move(contents_);
  }

 private:
  struct State {  // of a sequence
    std::map<std::uint64_t, std::string> categories, names, argument_names, argument_texts;
    bool begun = false;
  };

  void Complain(std::string text) { contents_.complaints.push_back(std::move(text)); }

  void ExpectKnownFields(const google::protobuf::Message& message) {
    const auto* reflection = message.GetReflection();
    if (!reflection->GetUnknownFields(message).empty())
      Complain(fmt::format("{} has fields that are not published", message.GetTypeName()));
    std::vector<const google::protobuf::FieldDescriptor*> fields;
    reflection->ListFields(message, &fields);
    for (const auto* field : fields) {
      if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) continue;
      if (!field->is_repeated()) {
        ExpectKnownFields(reflection->GetMessage(message, field));
        continue;
      }
      for (int i = 0; i < reflection->FieldSize(message, field); ++i)
        ExpectKnownFields(reflection->GetRepeatedMessage(message, field, i));
    }
  }

  void Take(const public_trace::Packet& packet) {
    ExpectKnownFields(packet);
    State& state = states_[packet.trusted_packet_sequence_id()];
    if (packet.trusted_packet_sequence_id() == 0) Complain("a packet of no sequence");
    if (packet.sequence_flags() & kStateCleared) {
      state = State();
      state.begun = true;
    } else if (!state.begun || !(packet.sequence_flags() & kNeedsState)) {
      Complain("a packet that does not say that it needs what came before");
    }
    Learn(packet.interned_data(), state);
    if (packet.has_track_descriptor()) Take(packet.track_descriptor());
    if (packet.has_track_event()) Take(packet.timestamp(), packet.track_event(), state);
  }

  template <typename Entries, typename TextOf>
  void LearnSome(const Entries& entries, TextOf text_of,
                 std::map<std::uint64_t, std::string>& texts) {
    for (const auto& entry : entries) {
      if (entry.iid() == 0 || !texts.emplace(entry.iid(), text_of(entry)).second)
        Complain(fmt::format("text {} is sent twice, or is number 0", entry.iid()));
    }
  }
  void Learn(const public_trace::Interned& data, State& state) {
    const auto name = [](const auto& entry) { return entry.name(); };
    LearnSome(data.event_categories(), name, state.categories);
    LearnSome(data.event_names(), name, state.names);
    LearnSome(data.debug_annotation_names(), name, state.argument_names);
    LearnSome(
        data.debug_annotation_string_values(), [](const auto& entry) { return entry.str(); },
        state.argument_texts);
  }

  const std::string& Text(const std::map<std::uint64_t, std::string>& texts, std::uint64_t iid) {
    static const std::string none;
    const auto found = texts.find(iid);
    if (found != texts.end()) return found->second;
    Complain(fmt::format("text {} was not sent", iid));
    return none;
  }

  void Take(const public_trace::Track& track) {
    if (track.uuid() == 0 || !tracks_.emplace(track.uuid(), track).second)
      Complain(fmt::format("track {} is told twice, or is number 0", track.uuid()));
    if (track.has_parent_uuid() && tracks_.count(track.parent_uuid()) == 0)
      Complain(fmt::format("the parent of track {} is not known", track.uuid()));
    if (track.has_process()) contents_.pids.push_back(track.process().pid());
    if (track.has_thread() && !threads_.insert({track.thread().pid(), track.thread().tid()}).second)
      Complain(fmt::format("thread {} is told twice", track.thread().tid()));
  }

  void Take(std::uint64_t time, const public_trace::Event& event, const State& state) {
    const auto found = tracks_.find(event.track_uuid());
    if (found == tracks_.end())
      return Complain(fmt::format("track {} is not known", event.track_uuid()));
    const public_trace::Track& track = found->second;
    std::uint64_t& last = last_time_[event.track_uuid()];
    if (time < last) Complain(fmt::format("track {} goes back in time", event.track_uuid()));
    last = time;
    if (track.has_counter() != (event.type() == kCounter))
      Complain("an event on a track of another kind");
    std::vector<std::size_t>& open = open_[event.track_uuid()];
    if (event.type() == kCounter) {
      contents_.values.push_back({time, track.name(), ParentOf(track), track.counter().unit_name(),
                                  event.has_counter_value()
                                      ? static_cast<double>(event.counter_value())
                                      : event.double_counter_value()});
    } else if (event.type() == kEnd) {
      if (open.empty()) return Complain("an end without a beginning");
      contents_.slices[open.back()].end_ns = time;
      open.pop_back();
    } else {
      AddSlice(time, event, track, state);
      if (event.type() == kBegin) open.push_back(contents_.slices.size() - 1);
    }
  }

  std::string ParentOf(const public_trace::Track& track) const {
    const auto found = tracks_.find(track.parent_uuid());
    return found == tracks_.end() ? "" : found->second.name();
  }

  void AddSlice(std::uint64_t time, const public_trace::Event& event,
                const public_trace::Track& track, const State& state) {
    TracedSlice slice;
    slice.start_ns = slice.end_ns = time;
    slice.name = Text(state.names, event.name_iid());
    for (const std::uint64_t iid : event.category_iids())
      slice.category += Text(state.categories, iid);
    slice.thread = track.thread().thread_name();
    slice.track = track.name();
    slice.parent = ParentOf(track);
    for (const public_trace::Annotation& argument : event.debug_annotations()) {
      slice.arguments[Text(state.argument_names, argument.name_iid())] =
          argument.has_string_value_iid() ? Text(state.argument_texts, argument.string_value_iid())
          : argument.has_double_value()   ? fmt::format("{}", argument.double_value())
                                          : fmt::format("{}", argument.int_value());
    }
    for (const std::uint64_t flow : event.flow_ids()) {
      slice.flows.push_back(flow);
      open_flows_.insert(flow);
    }
    for (const std::uint64_t flow : event.terminating_flow_ids()) {
      slice.ending_flows.push_back(flow);
      if (open_flows_.erase(flow) == 0)
        Complain(fmt::format("flow {} ends without a beginning", flow));
    }
    contents_.slices.push_back(std::move(slice));
  }

  PerfettoContents contents_;
  std::map<std::uint32_t, State> states_;
  std::map<std::uint64_t, public_trace::Track> tracks_;
  std::map<std::uint64_t, std::vector<std::size_t>> open_;  // slices by track
  std::map<std::uint64_t, std::uint64_t> last_time_;
  std::set<std::pair<std::int32_t, std::int32_t>> threads_;
  std::set<std::uint64_t> open_flows_;
};

}  // namespace

PerfettoContents ReadPerfettoTrace(const std::string& path) { return Reader().Read(path); }

}  // namespace traceinject
