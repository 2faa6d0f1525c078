// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/rpd/rpd_calls.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace traceinject {
namespace {

constexpr std::string_view kApi = "rocpd_api";
// Of roctx and NVTX markers; their text is in the arguments.
constexpr std::string_view kMarkerName = "UserMarker";
// What the tracer notes of its own work.
constexpr std::array<std::string_view, 3> kTracerNames = {"hcc_activity_callback", "rpdflush",
                                                          "BLOCKING"};
constexpr std::string_view kTracerSuffix = "::writeRows";

enum class RpdApiKind : std::uint8_t { kCall, kMarker, kRange, kOfTracer };

RpdApiKind KindOf(std::string_view name) {
  if (name == kMarkerName) return RpdApiKind::kMarker;
  if (name.ends_with(kTracerSuffix) ||
      std::find(kTracerNames.begin(), kTracerNames.end(), name) != kTracerNames.end())
    return RpdApiKind::kOfTracer;
  for (const std::string_view prefix : {"hip", "__hip", "cuda", "__cuda", "cu"}) {
    if (name.size() > prefix.size() && name.starts_with(prefix) && name[prefix.size()] >= 'A' &&
        name[prefix.size()] <= 'Z')
      return RpdApiKind::kCall;
  }
  return RpdApiKind::kRange;
}

class RpdApiReader {
 public:
  explicit RpdApiReader(RpdReader& reader) : reader_(reader) {
    for (const std::string& name : reader.strings().texts) kinds_.push_back(KindOf(name));
  }

  Status Read() {
    return reader_.rows().ForEachRowOf(
        kApi, {"id", "start", "end", "pid", "tid", "apiName_id", "args_id"},
        {"start", "end", "id", "pid", "tid", "apiName_id", "args_id", "category_id"},
        [&](const SqlRow& row) { Add(row); });
  }

 private:
  void Add(const SqlRow& row) {
    const std::uint32_t name = reader_.strings().ids.Find(row.int64(5));
    if (name == kNone) return reader_.rows().Count(kApi, RowProblem::kNoName);
    if (kinds_[name] == RpdApiKind::kOfTracer) return;
    TimeNs start = 0, end = 0;
    if (!reader_.Times(kApi, row, start, end, reader_.base())) return;
    const std::int64_t pid = row.int64(3);
    ForeignProcess* process =
        reader_.Process(kApi, static_cast<std::uint64_t>(pid), reader_.PidOf(pid));
    if (process == nullptr) return;
    const std::int64_t tid = reader_.PidOf(row.int64(4));
    if (kinds_[name] != RpdApiKind::kCall) return AddRange(*process, row, name, tid, start, end);
    process->AddApi(start, end, tid, row.int64(5), reader_.strings().texts[name],
                    RpdReader::Id(row, 2), 0);
    reader_.AddCall({process, row.int64(2), name});
  }

  // Whether a range was pushed and popped or started and ended is not told.
  void AddRange(ForeignProcess& process, const SqlRow& row, std::uint32_t name, std::int64_t tid,
                TimeNs start, TimeNs end) {
    const std::string* text = reader_.texts().Find(row.int64(6));
    std::string_view shown = text == nullptr ? std::string_view() : *text;
    if (kinds_[name] == RpdApiKind::kRange) shown = reader_.strings().texts[name];
    const std::string* category = reader_.strings().Find(row.int64(7));
    NvtxRanges& nvtx = process.rank().nvtx;
    nvtx.start.push_back(start);
    nvtx.end.push_back(end);
    nvtx.thread.push_back(process.ThreadIndex(tid));
    nvtx.kind.push_back(start == end ? NvtxKind::kMark : NvtxKind::kPushPop);
    nvtx.domain.push_back(
        process.DomainIndex(row.int64(7), category == nullptr ? std::string_view() : *category));
    nvtx.text.push_back(process.StringIndex(shown));
    nvtx.category.push_back(kNone);
  }

  RpdReader& reader_;
  std::vector<RpdApiKind> kinds_;  // by index into strings().texts
};

}  // namespace

Status ReadRpdCalls(RpdReader& reader) { return RpdApiReader(reader).Read(); }

}  // namespace traceinject
