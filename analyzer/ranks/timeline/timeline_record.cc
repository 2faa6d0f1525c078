// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/timeline/timeline_record.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <utility>

#include "analyzer/common/printable.h"
#include "analyzer/import/source/decimal.h"
#include "analyzer/import/source/timeline_file.h"
#include "analyzer/ranks/summary/check_summary.h"
#include "analyzer/ranks/timeline/timeline_objects.h"

namespace traceinject {
namespace {

namespace ondemand = simdjson::ondemand;

using enum TimelineWork;
constexpr TimelineKind kKinds[] = {
    {"forward", kCompute, "forward passes"},
    {"backward", kCompute, "backward passes"},
    {"backward-input", kCompute, "backward passes (inputs)"},
    {"backward-weight", kCompute, "backward passes (weights)"},
    {"optimizer", kCompute, "optimizer steps"},
    {"compute", kCompute, "other operations"},
    {"send", kPair, "Send"},
    {"recv", kPair, "Recv"},
    {"all-reduce", kCollective, "AllReduce"},
    {"reduce-scatter", kCollective, "ReduceScatter"},
    {"all-gather", kCollective, "AllGather"},
    {"all-to-all", kCollective, "AlltoAll"},
    {"broadcast", kCollective, "Broadcast"},
    {"reduce", kCollective, "Reduce"},
    {"barrier", kCollective, "AllReduce"},
    {"data", kHost, "", IdleCause::kDataWait},
    {"checkpoint", kHost, "", IdleCause::kCheckpoint},
    {"gc", kHost, "", IdleCause::kGc},
    {"host", kHost, "", IdleCause::kHostWait},
};

// "All-Reduce", "all_reduce" and "allreduce" are one.
std::string Plain(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c != '-' && c != '_') plain += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  return plain;
}

const TimelineKind* FindKind(std::string_view name) {
  for (const TimelineKind& kind : kKinds) {
    if (kind.name == name) return &kind;
  }
  const std::string plain = Plain(name);
  for (const TimelineKind& kind : kKinds) {
    if (Plain(kind.name) == plain) return &kind;
  }
  return nullptr;
}

struct Unit {
  std::string_view name;
  int decimals;
};
constexpr Unit kUnits[] = {{"ns", 9}, {"us", 6}, {"ms", 3}, {"s", 0}};

// A value as it stands in the file, for a message: its beginning.
std::string Shown(std::string_view token) {
  constexpr std::size_t kMost = 40;
  const std::size_t last = token.find_last_not_of(" \t\r\n,");
  token = token.substr(0, last == std::string_view::npos ? 0 : last + 1);
  return Printable(std::string(token.substr(0, kMost))) + (token.size() > kMost ? "..." : "");
}

Error Wrong(std::string_view field, std::string_view expected, ondemand::value& value) {
  return Error{
      fmt::format("\"{}\" must be {}, found {}", field, expected, Shown(value.raw_json_token()))};
}

std::string_view NumberToken(ondemand::value& value) {
  std::string_view token = value.raw_json_token();
  return token.substr(0, token.find_last_not_of(" \t\r\n,") + 1);
}

// A whole number in [0, beyond).
Status ReadNumber(std::string_view field, ondemand::value& value, std::int64_t beyond,
                  std::int64_t& to) {
  const std::optional<std::int64_t> number = ParseDecimal(NumberToken(value));
  if (!number || *number < 0 || *number >= beyond)
    return Wrong(field, "a whole number of 0 or more", value);
  to = *number;
  return Done{};
}

Status ReadNumber(std::string_view field, ondemand::value& value, int& to) {
  std::int64_t number = 0;
  if (Status read = ReadNumber(field, value, kMaxRanks, number); !read.ok()) return read;
  to = static_cast<int>(number);
  return Done{};
}

Status ReadTime(std::string_view field, ondemand::value& value, int decimals,
                std::optional<TimeNs>& to) {
  to = ParseDecimal(NumberToken(value), 9 - decimals);
  if (!to) return Wrong(field, "a number", value);
  if (*to <= -kMaxTimeNs || *to >= kMaxTimeNs)
    return Wrong(field, "a time within 73 years of 0 (is \"time_unit\" right?)", value);
  return Done{};
}

Status ReadText(std::string_view field, ondemand::value& value, std::string& to) {
  std::string_view text;
  if (value.get_string().get(text) != simdjson::SUCCESS || text.empty())
    return Wrong(field, "a text, \"...\"", value);
  to.assign(text);
  return Done{};
}

// The ranks in it, or a name: text, or a number.
Status ReadGroup(ondemand::value& value, TimelineOperation& to) {
  constexpr std::string_view kExpected = "a name or a list of ranks, [0, 8]";
  ondemand::json_type type{};
  if (value.type().get(type) != simdjson::SUCCESS) return Wrong("group", kExpected, value);
  if (type == ondemand::json_type::string) return ReadText("group", value, to.group);
  if (type == ondemand::json_type::number) {
    int number = 0;
    if (Status read = ReadNumber("group", value, number); !read.ok()) return read;
    to.group = std::to_string(number);
    return Done{};
  }
  ondemand::array list;
  if (value.get_array().get(list) != simdjson::SUCCESS) return Wrong("group", kExpected, value);
  std::vector<int> ranks;
  for (auto element : list) {
    ondemand::value one;
    if (std::move(element).get(one) != simdjson::SUCCESS)
      return Error{"\"group\" is no valid list"};
    if (Status read = ReadNumber("group", one, ranks.emplace_back()); !read.ok()) return read;
  }
  if (ranks.empty()) return Error{"\"group\" is an empty list"};
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  to.group = fmt::format("{}", fmt::join(ranks, ","));
  to.group_size = static_cast<int>(ranks.size());
  return Done{};
}

Status ReadKind(ondemand::value& value, TimelineOperation& to) {
  std::string_view name;
  if (value.get_string().get(name) != simdjson::SUCCESS)
    return Wrong("kind", "a text, \"...\"", value);
  to.kind = FindKind(name);
  if (to.kind == nullptr)
    return Error{fmt::format("unknown \"kind\" {}: expected {}", Shown(name), TimelineKindNames())};
  return Done{};
}

struct Times {
  std::optional<TimeNs> start, end, duration;
};

// Keys that are not listed are left alone.
Status ReadField(std::string_view key, ondemand::value& value, const TimelineHeader& header,
                 Times& times, TimelineOperation& to) {
  struct IntField {
    std::string_view key;
    int TimelineOperation::*member;
  };
  static constexpr IntField kInts[] = {{"rank", &TimelineOperation::rank},
                                       {"stage", &TimelineOperation::stage},
                                       {"micro_batch", &TimelineOperation::micro_batch},
                                       {"peer", &TimelineOperation::peer}};
  for (const IntField& field : kInts) {
    if (key == field.key) return ReadNumber(key, value, to.*field.member);
  }
  if (key == "kind") return ReadKind(value, to);
  if (key == "start") return ReadTime(key, value, header.decimals, times.start);
  if (key == "end") return ReadTime(key, value, header.decimals, times.end);
  if (key == "duration") return ReadTime(key, value, header.decimals, times.duration);
  if (key == "step") return ReadNumber(key, value, kMaxTimeNs, to.step.emplace());
  if (key == "bytes") return ReadNumber(key, value, kMaxTimeNs, to.bytes);
  if (key == "group") return ReadGroup(value, to);
  if (key == "host") return ReadText(key, value, to.host);
  if (key == "gpu") return ReadText(key, value, to.gpu);
  return Done{};
}

// Calls field(key, value) for each; null values count as absent.
template <typename Field>
Status ReadObject(std::string_view text, Field field) {
  thread_local ondemand::parser parser;
  constexpr std::string_view kInvalid = "no valid JSON object";
  ondemand::document document;
  ondemand::object object;
  if (parser.iterate(text.data(), text.size(), text.size() + TimelineObjects::kPadding)
              .get(document) != simdjson::SUCCESS ||
      document.get_object().get(object) != simdjson::SUCCESS)
    return Error{std::string(kInvalid)};
  for (auto member : object) {
    ondemand::field one;
    std::string_view key;
    if (std::move(member).get(one) != simdjson::SUCCESS ||
        one.unescaped_key().get(key) != simdjson::SUCCESS)
      return Error{std::string(kInvalid)};
    ondemand::value value = one.value();
    if (value.is_null()) continue;
    const std::string name(key);
    if (Status read = field(name, value); !read.ok()) return read;
  }
  return Done{};
}

Status CheckOperation(const Times& times, TimelineOperation& to) {
  if (to.rank < 0) return Error{"\"rank\" is missing"};
  if (to.kind == nullptr) return Error{"\"kind\" is missing"};
  if (!times.start) return Error{"\"start\" is missing"};
  if (!times.end && !times.duration) return Error{"\"end\" is missing (or \"duration\")"};
  to.start = *times.start;
  to.end = times.end ? *times.end : *times.start + *times.duration;
  if (to.end < to.start)
    return Error{times.end ? "\"end\" is before \"start\"" : "\"duration\" is below 0"};
  if (to.end >= kMaxTimeNs) return Error{"\"duration\" is too long"};
  if (to.kind->work == TimelineWork::kPair && to.peer < 0)
    return Error{
        fmt::format("\"peer\" is missing: the rank at the other end of the {}", to.kind->name)};
  if (to.kind->work == TimelineWork::kPair && to.peer == to.rank)
    return Error{"\"peer\" is the rank itself"};
  if (to.kind->work == TimelineWork::kCollective && to.group.empty())
    return Error{fmt::format("\"group\" is missing: what the ranks of the {} have in common",
                             to.kind->name)};
  return Done{};
}

}  // namespace

std::string TimelineKindNames() {
  std::string names;
  for (const TimelineKind& kind : kKinds)
    names += (names.empty() ? "" : ", ") + std::string(kind.name);
  return names;
}

Result<TimelineHeader> ReadTimelineHeader(std::string_view text) {
  TimelineHeader header;
  int version = 0;
  bool has_unit = false;
  const Status read = ReadObject(text, [&](std::string_view key, ondemand::value& value) -> Status {
    if (key == kTimelineKey) return ReadNumber(key, value, version);
    if (key == "world_size") return ReadNumber(key, value, header.world_size);
    if (key == "host") return ReadText(key, value, header.host);
    if (key == "gpu") return ReadText(key, value, header.gpu);
    if (key != "time_unit") return Done{};
    std::string_view name;
    const bool is_text = value.get_string().get(name) == simdjson::SUCCESS;
    for (const Unit& unit : kUnits) {
      if (!is_text || unit.name != name) continue;
      header.decimals = unit.decimals;
      has_unit = true;
    }
    if (!has_unit) return Wrong(key, "\"ns\", \"us\", \"ms\" or \"s\"", value);
    return Done{};
  });
  if (!read.ok()) return Error{read.error()};
  if (version < 1 || version > kTimelineVersion)
    return Error{fmt::format("\"{}\" is version {}; this analyze reads versions up to {}",
                             kTimelineKey, version, kTimelineVersion)};
  if (!has_unit)
    return Error{"\"time_unit\" is missing in the header: \"ns\", \"us\", \"ms\" or \"s\""};
  return header;
}

Status ReadTimelineOperation(std::string_view text, const TimelineHeader& header,
                             TimelineOperation& to) {
  to.rank = to.stage = to.micro_batch = to.peer = -1;
  to.step.reset();
  to.kind = nullptr;
  to.bytes = -1;
  to.group_size = 0;
  to.group.clear();
  to.host.clear();
  to.gpu.clear();
  Times times;
  const Status read = ReadObject(text, [&](std::string_view key, ondemand::value& value) {
    return ReadField(key, value, header, times, to);
  });
  return read.ok() ? CheckOperation(times, to) : read;
}

}  // namespace traceinject
