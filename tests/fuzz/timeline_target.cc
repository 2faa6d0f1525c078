// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/timeline_target.h"

#include <fmt/format.h>

#include "analyzer/import/source/timeline_file.h"
#include "analyzer/ranks/findings/analyse_job.h"
#include "analyzer/ranks/summary/check_summary.h"
#include "analyzer/ranks/timeline/read_timeline.h"
#include "analyzer/report/text/text_ranks.h"
#include "tests/fuzz/changed_json.h"
#include "tests/fuzz/input_bytes.h"
#include "tests/fuzz/report_oracle.h"
#include "tests/fuzz/scratch_file.h"

namespace traceinject {
namespace {

// What one rank did in a step: two micro-batches through a pipeline of two stages, of which there
// are two copies. Rank 2 is slow.
class RankStep {
 public:
  RankStep(int rank, int step) : rank_(rank), step_(step), at_(1'000.5 * step) {}

  std::string Lines() {
    Add("data", 2, "");
    for (int micro_batch = 0; micro_batch < 2; ++micro_batch) {
      if (stage() == 1) Transfer("recv", rank_ - 1);
      Pass("forward", micro_batch);
      if (stage() == 0) Transfer("send", rank_ + 1);
    }
    for (int micro_batch = 0; micro_batch < 2; ++micro_batch) {
      if (stage() == 0) Transfer("recv", rank_ + 1);
      Pass("backward", micro_batch);
      if (stage() == 1) Transfer("send", rank_ - 1);
    }
    Add("all-reduce", 50,
        fmt::format(R"("group": "data of stage {}", "bytes": 536870912, )", stage()));
    Add("optimizer", 20, "");
    return lines_;
  }

 private:
  int stage() const { return rank_ % 2; }

  void Pass(std::string_view kind, int micro_batch) {
    Add(kind, rank_ == 2 ? 160 : 100, fmt::format(R"("micro_batch": {}, )", micro_batch));
  }
  void Transfer(std::string_view kind, int peer) {
    Add(kind, 10, fmt::format(R"("peer": {}, "bytes": 33554432, )", peer));
  }
  void Add(std::string_view kind, double length, std::string_view fields) {
    lines_ += fmt::format(
        R"({{"rank": {}, "stage": {}, "host": "node-{}", "step": {}, "kind": "{}", {}"start": {}, )"
        R"("end": {}}})"
        "\n",
        rank_, stage(), rank_ / 2, step_, kind, fields, at_, at_ + length);
    at_ += length;
  }

  int rank_, step_;
  double at_;
  std::string lines_;
};

std::string BaseTimeline() {
  std::string text = R"({"job_timeline": 1, "time_unit": "us", "world_size": 4, "gpu": "H200"})"
                     "\n";
  for (int step = 0; step < 4; ++step) {
    for (int rank = 0; rank < 4; ++rank) text += RankStep(rank, step).Lines();
  }
  return text;
}

// One list instead of a line each.
std::string AsList(const std::string& lines) {
  std::string list = "[";
  for (const char c : lines) list += c == '\n' ? std::string(",\n") : std::string(1, c);
  if (list.ends_with(",\n")) list.resize(list.size() - 2);
  return list + "]";
}

}  // namespace

std::string FuzzTimeline(std::string_view input) {
  static const ChangedJson base(BaseTimeline());
  InputBytes bytes(input);
  const std::uint8_t kind = bytes.Byte();
  std::string text = kind % 8 == 7 ? std::string(bytes.Rest()) : base.Choose(bytes);
  if (kind >= 128) text = AsList(text);
  const std::string path = PutFile("timeline.json", text);
  ReadProgress progress;
  const auto job = ReadTimeline(path, progress);
  if (!job.ok())
    return job.error().starts_with(path) ? "" : "an error without a file: " + job.error() + "\n";
  if (!IsTimeline(path)) return "read, but no timeline\n";
  const Status checked = CheckJob(job.value());
  if (!checked.ok()) return "read, but " + checked.error() + "\n";
  const proto::Ranks ranks = AnalyzeJob(job.value());
  return WrongFigures(ranks) + WrongText(WriteRanksText(ranks, {}), text);
}

}  // namespace traceinject
