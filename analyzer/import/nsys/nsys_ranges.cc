// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/nsys/nsys_ranges.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace traceinject {
namespace {

constexpr std::string_view kNvtx = "NVTX_EVENTS";

// NVTX_EVENTS.eventType.
enum NvtxEvent : std::int64_t { kMark = 34, kPushPop = 59, kStartEnd = 60, kDomainCreate = 75 };

class RangeReader {
 public:
  explicit RangeReader(NsysReader& reader) : reader_(reader) {}

  Status Read() {
    std::map<std::pair<std::uint64_t, std::int64_t>, std::string> domains;
    const Status named = reader_.rows().ForEachRowOf(
        kNvtx, {"eventType", "globalTid"}, {"globalTid", "domainId", "text", "textId"},
        [&](const SqlRow& row) {
          domains[{NsysProcessKey(row.int64(0)), row.int64(1)}] = TextOf(row, 2, 3);
        },
        fmt::format("WHERE eventType = {}", std::int64_t{kDomainCreate}));
    if (!named.ok()) return named;
    return reader_.rows().ForEachRowOf(
        kNvtx, {"start", "end"},
        {"start", "end", "globalTid", "eventType", "domainId", "text", "textId", "category"},
        [&](const SqlRow& row) {
          const auto kind = KindOf(row.int64(3));
          if (!kind) return;
          if (row.is_null(2)) return reader_.rows().Count(kNvtx, RowProblem::kNoThread);
          TimeNs start = 0, end = 0;
          if (!NvtxTimes(row, *kind, start, end)) return;
          const std::uint64_t key = NsysProcessKey(row.int64(2));
          const auto domain = domains.find({key, row.int64(4)});
          ForeignProcess* process = reader_.Process(kNvtx, key);
          if (process == nullptr) return;
          AddRange(*process, row, *kind, start, end,
                   domain == domains.end() ? std::string_view() : domain->second);
        });
  }

 private:
  // A message is in the table, or registered before and in StringIds.
  std::string TextOf(const SqlRow& row, int text, int text_id) const {
    if (!row.is_null(text)) return std::string(row.text(text));
    const std::string* found =
        row.is_null(text_id) ? nullptr : reader_.strings().Find(row.int64(text_id));
    return found == nullptr ? std::string() : *found;
  }

  static std::optional<NvtxKind> KindOf(std::int64_t event) {
    switch (event) {
      case kMark:
        return NvtxKind::kMark;
      case kPushPop:
        return NvtxKind::kPushPop;
      case kStartEnd:
        return NvtxKind::kStartEnd;
      default:
        return std::nullopt;
    }
  }

  bool NvtxTimes(const SqlRow& row, NvtxKind kind, TimeNs& start, TimeNs& end) {
    if (!row.is_null(1) && kind != NvtxKind::kMark) return reader_.Times(kNvtx, row, start, end);
    if (row.type(0) != SQLITE_INTEGER) {
      reader_.rows().Count(kNvtx, RowProblem::kNoTime);
      return false;
    }
    start = row.int64(0);
    if (!reader_.rows().Times(kNvtx, start, 0, end)) return false;
    if (kind != NvtxKind::kMark) end = kOpen;
    return true;
  }

  void AddRange(ForeignProcess& process, const SqlRow& row, NvtxKind kind, TimeNs start, TimeNs end,
                std::string_view domain) {
    NvtxRanges& nvtx = process.rank().nvtx;
    nvtx.start.push_back(start);
    nvtx.end.push_back(end);
    nvtx.thread.push_back(process.ThreadIndex(NsysTid(row.int64(2))));
    nvtx.kind.push_back(kind);
    nvtx.domain.push_back(process.DomainIndex(row.int64(4), domain));
    nvtx.text.push_back(!row.is_null(5)  ? process.StringIndex(row.text(5))
                        : row.is_null(6) ? kNone
                                         : process.StringIndex(row.int64(6)));
    const std::int64_t category = row.int64(7);
    nvtx.category.push_back(
        category <= 0 || category >= kNone ? kNone : static_cast<std::uint32_t>(category));
  }

  NsysReader& reader_;
};

}  // namespace

Status ReadNsysRanges(NsysReader& reader) { return RangeReader(reader).Read(); }

}  // namespace traceinject
