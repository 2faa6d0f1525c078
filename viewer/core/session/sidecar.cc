// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/session/sidecar.h"

#include <fmt/format.h>
#include <simdjson.h>
#include <unistd.h>

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "analyzer/common/json_text.h"
#include "viewer/core/session/small_file.h"

namespace traceinject {
namespace {

constexpr std::string_view kFormat = "traceview sidecar";
constexpr std::int64_t kVersion = 2;
constexpr std::string_view kMarksFormat = "traceview marks";  // of version 1
constexpr std::size_t kMaxFileBytes = 16 << 20;

// The lists of rows, as the file calls them.
struct SavedRowList {
  std::string_view name;
  std::vector<std::string> SavedRows::*rows;
};
constexpr SavedRowList kRowLists[] = {{"folded", &SavedRows::collapsed},
                                      {"opened", &SavedRows::opened},
                                      {"hidden", &SavedRows::hidden},
                                      {"pinned", &SavedRows::pinned},
                                      {"order", &SavedRows::order}};

// "#ffb74d"; the first color to choose from for anything else.
Rgba ParseColor(std::string_view text) {
  std::uint32_t rgb = 0;
  if (text.size() != 7 || text[0] != '#') return MarkColors()[0];
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data() + 1, end, rgb, 16);
  return error == std::errc() && last == end ? rgb << 8 | 0xff : MarkColors()[0];
}

Result<Mark> ParseMark(const simdjson::dom::element& entry, std::int64_t base_ns) {
  std::int64_t start = 0, end = 0;
  std::string_view text, color;
  if (entry["start_unix_ns"].get(start) != simdjson::SUCCESS ||
      entry["end_unix_ns"].get(end) != simdjson::SUCCESS ||
      entry["text"].get(text) != simdjson::SUCCESS) {
    return Error{"a mark lacks start_unix_ns, end_unix_ns or text"};
  }
  if (entry["colour"].get(color) != simdjson::SUCCESS) color = "";
  Mark mark{0, 0, std::string(text), ParseColor(color)};
  if (__builtin_sub_overflow(start, base_ns, &mark.start) ||
      __builtin_sub_overflow(end, base_ns, &mark.end)) {
    return Error{"a mark's time is out of range"};
  }
  return mark;
}

Result<std::vector<Mark>> ParseMarks(const simdjson::dom::array& entries, std::int64_t base_ns) {
  if (entries.size() > kMaxMarks) return Error{fmt::format("has more than {} marks", kMaxMarks)};
  std::vector<Mark> marks;
  for (const simdjson::dom::element entry : entries) {
    Result<Mark> mark = ParseMark(entry, base_ns);
    if (!mark.ok()) return Error{mark.error()};
    marks.push_back(std::move(mark).value());
  }
  return marks;
}

// A list that is not there is empty.
Result<SavedRows> ParseRows(const simdjson::dom::element& file) {
  SavedRows saved;
  simdjson::dom::element lists;
  if (file["rows"].get(lists) != simdjson::SUCCESS) return saved;
  for (const SavedRowList& list : kRowLists) {
    simdjson::dom::element ids;
    if (lists[list.name].get(ids) != simdjson::SUCCESS) continue;
    simdjson::dom::array entries;
    if (ids.get(entries) != simdjson::SUCCESS) {
      return Error{fmt::format("has rows in \"{}\" that are not a list", list.name)};
    }
    for (const simdjson::dom::element entry : entries) {
      std::string_view id;
      if (entry.get(id) != simdjson::SUCCESS) {
        return Error{fmt::format("has a row in \"{}\" that is not a string", list.name)};
      }
      (saved.*list.rows).emplace_back(id);
    }
  }
  return saved;
}

}  // namespace

Result<SidecarContent> ReadSidecarJson(const std::string& json, std::int64_t base_ns) {
  simdjson::dom::parser parser;
  simdjson::dom::element file;
  if (const auto error = parser.parse(json).get(file)) {
    return Error{std::string("is not JSON: ") + simdjson::error_message(error)};
  }
  std::string_view format;
  std::int64_t version = 0;
  simdjson::dom::array entries;
  if (file["format"].get(format) != simdjson::SUCCESS ||
      (format != kFormat && format != kMarksFormat) ||
      file["version"].get(version) != simdjson::SUCCESS ||
      file["marks"].get(entries) != simdjson::SUCCESS) {
    return Error{"is not a file of marks and rows"};
  }
  if (version < 1 || version > kVersion) {
    return Error{fmt::format("has format version {}; this traceview supports versions up to {}",
                             version, kVersion)};
  }
  Result<std::vector<Mark>> marks = ParseMarks(entries, base_ns);
  if (!marks.ok()) return Error{marks.error()};
  Result<SavedRows> rows = ParseRows(file);
  if (!rows.ok()) return Error{rows.error()};
  return SidecarContent{std::move(marks).value(), std::move(rows).value()};
}

std::string SidecarJson(const SidecarContent& content, std::int64_t base_ns) {
  std::string json =
      fmt::format("{{\"format\": \"{}\", \"version\": {}, \"marks\": [", kFormat, kVersion);
  for (const Mark& mark : content.marks) {
    json += fmt::format(
        "{}\n {{\"start_unix_ns\": {}, \"end_unix_ns\": {}, \"text\": {}, \"colour\": "
        "\"#{:06x}\"}}",
        &mark == content.marks.data() ? "" : ",", Rebased(mark.start, base_ns),
        Rebased(mark.end, base_ns), JsonString(mark.text), mark.color >> 8);
  }
  json += "\n], \"rows\": {";
  for (const SavedRowList& list : kRowLists) {
    json += fmt::format("{}\n \"{}\": [", &list == kRowLists ? "" : ",", list.name);
    const std::vector<std::string>& ids = content.rows.*list.rows;
    for (const std::string& id : ids) {
      json += (&id == ids.data() ? "\n  " : ",\n  ") + JsonString(id);
    }
    json += "]";
  }
  return json + "\n}}\n";
}

std::string SidecarPath(const Run& run) {
  if (run.ranks.empty() || run.ranks.front().path.empty()) return "";
  return run.ranks.front().path + ".marks.json";
}

SidecarContent Sidecar::Read(std::int64_t base_ns) {
  if (path_.empty() || access(path_.c_str(), F_OK) != 0) return {};
  const Result<std::string> json = ReadSmallFile(path_, kMaxFileBytes);
  Result<SidecarContent> content =
      json.ok() ? ReadSidecarJson(json.value(), base_ns) : Error{json.error()};
  if (content.ok()) return std::move(content).value();
  not_read_ = fmt::format(
      "{}: {}. Its marks and rows are not shown, and changes to them are not saved; move the file "
      "away to save them.",
      path_, content.error());
  return {};
}

void Sidecar::Write(const SidecarContent& content, std::int64_t base_ns) {
  if (path_.empty() || !not_read_.empty()) return;
  lost_ = lost_ || is_left_;
  if (is_left_) return;
  if (!writing_) {
    writing_ = std::make_unique<LatestTask<std::string, Status>>(
        [path = path_](const std::string& json, const std::atomic<bool>&) {
          return std::optional(ReplaceFile(path, json));
        });
  }
  writing_->Ask(SidecarJson(content, base_ns));
}

std::string Sidecar::problem() const {
  if (!not_read_.empty()) return not_read_;
  if (lost_)
    return "Another viewer of this recording saves marks and row visibility. Yours last only as "
           "long as this page.";
  const auto written = writing_ ? writing_->answer() : nullptr;
  if (!written || written->ok()) return "";
  return fmt::format(
      "{}: {}. Marks and row visibility are not saved and last only as long as this window.", path_,
      written->error());
}

}  // namespace traceinject
