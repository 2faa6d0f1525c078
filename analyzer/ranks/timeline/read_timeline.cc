// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/timeline/read_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/import/source/gzip_source.h"
#include "analyzer/ranks/summary/check_summary.h"
#include "analyzer/ranks/timeline/summarise_timeline.h"
#include "analyzer/ranks/timeline/timeline_objects.h"
#include "analyzer/ranks/timeline/timeline_record.h"

namespace traceinject {
namespace {

constexpr std::size_t kProgressRows = 1 << 14;

// What was read of one rank.
struct RankRows {
  RankSummary summary;
  std::vector<TimelineRow> rows;
};

class TimelineReader {
 public:
  TimelineReader(GzipSource source, ReadProgress& progress)
      : source_(std::move(source)), progress_(progress) {}

  Result<Job> Read() {
    TimelineObjects objects(source_);
    if (Status header = ReadHeader(objects); !header.ok()) return Error{header.error()};
    TimelineOperation operation;
    while (true) {
      const auto object = objects.Next();
      if (!object.ok()) return Error{object.error()};
      if (!object.value()) break;
      Status read = ReadTimelineOperation(object.value()->text, header_, operation);
      if (read.ok()) read = Add(operation);
      if (!read.ok()) return At(object.value()->line, read.error());
      if (++count_ % kProgressRows == 0 && !Report()) return Stopped(source_.path());
    }
    if (ranks_.empty())
      return Error{fmt::format("{}: no operations after the header", source_.path())};
    return Finish();
  }

 private:
  Error At(std::uint64_t line, const std::string& what) const {
    return Error{fmt::format("{}:{}: {}", source_.path(), line, what)};
  }

  Status ReadHeader(TimelineObjects& objects) {
    const auto first = objects.Next();
    if (!first.ok()) return Error{first.error()};
    if (!first.value()) return Error{fmt::format("{}: this file is empty", source_.path())};
    auto header = ReadTimelineHeader(first.value()->text);
    if (!header.ok()) return At(first.value()->line, header.error());
    header_ = std::move(header).value();
    return Done{};
  }

  bool Report() {
    progress_.rows = count_;
    if (const std::uint64_t done = source_.offset_bytes(); done > 0)
      progress_.rows_total = static_cast<std::uint64_t>(static_cast<double>(count_) *
                                                        static_cast<double>(source_.size_bytes()) /
                                                        static_cast<double>(done));
    return !progress_.stop;
  }

  Status Add(const TimelineOperation& from) {
    const auto [at, is_new] = ranks_.try_emplace(from.rank);
    RankRows& to = at->second;
    if (is_new) {
      to.summary.path = source_.path();
      to.summary.rank = from.rank;
      to.summary.host = header_.host;
      to.summary.gpu = header_.gpu;
    }
    if (from.stage >= 0 && to.summary.stage >= 0 && from.stage != to.summary.stage)
      return Error{fmt::format("\"stage\" of rank {} is {} here and {} before", from.rank,
                               from.stage, to.summary.stage)};
    if (from.stage >= 0) to.summary.stage = from.stage;
    if (!from.host.empty()) to.summary.host = from.host;
    if (!from.gpu.empty()) to.summary.gpu = from.gpu;
    TimelineRow row{
        from.start, from.end, from.step.value_or(-1), from.kind, from.micro_batch, from.peer,
        kNone,      0};
    if (from.kind->work == TimelineWork::kCollective) row.group = GroupOf(from);
    row.size = SizeOf(from.bytes);
    if (from.step) LastStep(*from.step);
    least_ = std::min(least_, from.start);
    to.rows.push_back(row);
    return Done{};
  }

  std::uint32_t GroupOf(const TimelineOperation& from) {
    const auto [at, is_new] =
        group_of_.try_emplace(from.group, static_cast<std::uint32_t>(texts_.groups.size()));
    if (is_new) texts_.groups.push_back({from.group, from.group_size});
    return at->second;
  }

  std::uint32_t SizeOf(std::int64_t bytes) {
    const auto [at, is_new] =
        size_of_.try_emplace(bytes, static_cast<std::uint32_t>(texts_.bytes.size()));
    if (is_new) texts_.bytes.push_back(bytes);
    return at->second;
  }

  // Most operations are in the step of the one before.
  void LastStep(std::int64_t step) {
    if (last_step_ == step) return;
    last_step_ = step;
    steps_.insert(step);
  }

  Result<Job> Finish() {
    Job job;
    texts_.steps.assign(steps_.begin(), steps_.end());
    const int most = ranks_.rbegin()->first + 1;
    if (header_.world_size > 0 && header_.world_size < most)
      return Error{fmt::format("{}: there is a rank {}, and \"world_size\" of the header is {}",
                               source_.path(), most - 1, header_.world_size)};
    // Times since the epoch are kept as such; those that count from anything else are not.
    job.base_ns = least_ > 0 ? least_ : 0;
    for (auto& [number, rank] : ranks_) {
      rank.summary.world_size = header_.world_size;
      if (header_.world_size == 0 && ranks_.size() > 1) rank.summary.world_size = most;
      SummarizeTimeline(std::move(rank.rows), texts_, job.base_ns, rank.summary, job.notes);
      job.ranks.push_back(std::move(rank.summary));
    }
    if (texts_.steps.empty())
      job.notes.push_back(fmt::format(
          "{}: no operation has a \"step\", so nothing can be said of steps", source_.path()));
    if (const Status checked = CheckJob(job); !checked.ok()) return Error{checked.error()};
    return job;
  }

  GzipSource source_;
  ReadProgress& progress_;
  TimelineHeader header_;
  std::map<int, RankRows> ranks_;
  TimelineTexts texts_;
  std::unordered_map<std::string, std::uint32_t> group_of_;
  std::unordered_map<std::int64_t, std::uint32_t> size_of_;
  std::set<std::int64_t> steps_;
  std::optional<std::int64_t> last_step_;
  TimeNs least_ = kOpen;
  std::uint64_t count_ = 0;
};

}  // namespace

Result<Job> ReadTimeline(const std::string& path, ReadProgress& progress) {
  auto source = GzipSource::Open(path);
  if (!source.ok()) return Error{source.error()};
  return TimelineReader(std::move(source).value(), progress).Read();
}

}  // namespace traceinject
