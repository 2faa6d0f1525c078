// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/annotations.h"

#include <fmt/format.h>
#include <simdjson.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <tuple>

#include "analyzer/common/text.h"
#include "analyzer/metrics/printable.h"
#include "viewer/core/json_text.h"
#include "viewer/core/small_file.h"

namespace traceinject {
namespace {

constexpr std::string_view kFormat = "traceview marks";
constexpr std::int64_t kVersion = 1;
constexpr std::size_t kMostFileBytes = 16 << 20;
constexpr Rgba kColours[] = {0xffb74dff, 0x4fc3f7ff, 0x81c784ff,
                             0xf06292ff, 0xba68c8ff, 0xe0e0e0ff};

auto Order(const Mark& mark) { return std::tie(mark.start, mark.end); }

Mark Tidy(Mark mark) {
  if (mark.end < mark.start) std::swap(mark.start, mark.end);
  mark.text = ShortenMiddle(Printable(mark.text), kMostMarkTextBytes);
  return mark;
}

// "#ffb74d"; the first colour to choose from for anything else.
Rgba ParseColour(std::string_view text) {
  std::uint32_t rgb = 0;
  if (text.size() != 7 || text[0] != '#') return kColours[0];
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data() + 1, end, rgb, 16);
  return error == std::errc() && last == end ? rgb << 8 | 0xff : kColours[0];
}

Result<Mark> ParseMark(const simdjson::dom::element& entry, std::int64_t base_ns) {
  std::int64_t start = 0, end = 0;
  std::string_view text, colour;
  if (entry["start_unix_ns"].get(start) != simdjson::SUCCESS ||
      entry["end_unix_ns"].get(end) != simdjson::SUCCESS ||
      entry["text"].get(text) != simdjson::SUCCESS) {
    return Error{"a mark lacks start_unix_ns, end_unix_ns or text"};
  }
  if (entry["colour"].get(colour) != simdjson::SUCCESS) colour = "";
  Mark mark{0, 0, std::string(text), ParseColour(colour)};
  if (__builtin_sub_overflow(start, base_ns, &mark.start) ||
      __builtin_sub_overflow(end, base_ns, &mark.end)) {
    return Error{"a mark's time is out of range"};
  }
  return Tidy(std::move(mark));
}

Result<std::vector<Mark>> ParseMarks(const std::string& json, std::int64_t base_ns) {
  simdjson::dom::parser parser;
  simdjson::dom::element file;
  if (const auto error = parser.parse(json).get(file)) {
    return Error{std::string("is not JSON: ") + simdjson::error_message(error)};
  }
  std::string_view format;
  std::int64_t version = 0;
  simdjson::dom::array entries;
  if (file["format"].get(format) != simdjson::SUCCESS || format != kFormat ||
      file["version"].get(version) != simdjson::SUCCESS ||
      file["marks"].get(entries) != simdjson::SUCCESS) {
    return Error{"is not a file of marks"};
  }
  if (version != kVersion) {
    return Error{fmt::format("has version {} of the format; this traceview knows version {}",
                             version, kVersion)};
  }
  if (entries.size() > kMostMarks) return Error{fmt::format("has more than {} marks", kMostMarks)};
  std::vector<Mark> marks;
  for (const simdjson::dom::element entry : entries) {
    Result<Mark> mark = ParseMark(entry, base_ns);
    if (!mark.ok()) return Error{mark.error()};
    marks.push_back(std::move(mark).value());
  }
  std::stable_sort(marks.begin(), marks.end(),
                   [](const Mark& a, const Mark& b) { return Order(a) < Order(b); });
  return marks;
}

std::int64_t UnixNs(std::int64_t base_ns, TimeNs time) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(base_ns, time, &sum) ? time : sum;
}

std::string WriteMarks(const std::vector<Mark>& marks, std::int64_t base_ns) {
  std::string json =
      fmt::format("{{\"format\": \"{}\", \"version\": {}, \"marks\": [", kFormat, kVersion);
  for (const Mark& mark : marks) {
    json += fmt::format(
        "{}\n {{\"start_unix_ns\": {}, \"end_unix_ns\": {}, \"text\": {}, \"colour\": "
        "\"#{:06x}\"}}",
        &mark == marks.data() ? "" : ",", UnixNs(base_ns, mark.start), UnixNs(base_ns, mark.end),
        JsonString(mark.text), mark.colour >> 8);
  }
  return json + "\n]}\n";
}

}  // namespace

std::span<const Rgba> MarkColours() { return kColours; }

std::string MarksPath(const Run& run) {
  if (run.ranks.empty() || run.ranks.front().path.empty()) return "";
  return run.ranks.front().path + ".marks.json";
}

Annotations::Annotations(std::string path, std::int64_t base_ns)
    : path_(std::move(path)), base_ns_(base_ns) {
  if (path_.empty() || access(path_.c_str(), F_OK) != 0) return;
  const Result<std::string> json = ReadSmallFile(path_, kMostFileBytes);
  Result<std::vector<Mark>> marks =
      json.ok() ? ParseMarks(json.value(), base_ns_) : Error{json.error()};
  if (marks.ok()) {
    marks_ = std::move(marks).value();
    return;
  }
  may_write_ = false;
  problem_ = fmt::format(
      "{}: {}. Its marks are not shown, and new ones are not saved; move the file away to save "
      "them.",
      path_, marks.error());
}

void Annotations::SetBase(std::int64_t base_ns) {
  TimeNs moved = 0;
  if (__builtin_sub_overflow(base_ns_, base_ns, &moved)) return;
  for (Mark& mark : marks_) {
    mark.start = UnixNs(moved, mark.start);
    mark.end = UnixNs(moved, mark.end);
  }
  base_ns_ = base_ns;
}

std::size_t Annotations::Insert(Mark mark) {
  const auto place =
      std::upper_bound(marks_.begin(), marks_.end(), mark,
                       [](const Mark& a, const Mark& b) { return Order(a) < Order(b); });
  const auto index = static_cast<std::size_t>(place - marks_.begin());
  marks_.insert(place, std::move(mark));
  return index;
}

std::size_t Annotations::Add(Mark mark) {
  const std::size_t index = Insert(Tidy(std::move(mark)));
  Save();
  return index;
}

std::size_t Annotations::Change(std::size_t index, Mark mark) {
  marks_.erase(marks_.begin() + static_cast<std::ptrdiff_t>(index));
  return Add(std::move(mark));
}

void Annotations::Remove(std::size_t index) {
  marks_.erase(marks_.begin() + static_cast<std::ptrdiff_t>(index));
  Save();
}

void Annotations::Save() {
  if (path_.empty() || !may_write_) return;
  const Status written = ReplaceFile(path_, WriteMarks(marks_, base_ns_));
  problem_ = written.ok() ? ""
                          : fmt::format("{}: {}. The marks last as long as this window.", path_,
                                        written.error());
}

}  // namespace traceinject
