// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/message_targets.h"

#include <zlib.h>

#include <cstring>
#include <stdexcept>

#include "analyzer/compare/gate/condition.h"
#include "analyzer/import/load/load_run.h"
#include "analyzer/ranks/findings/analyse_job.h"
#include "analyzer/ranks/summary/check_summary.h"
#include "analyzer/ranks/summary/summarise_rank.h"
#include "analyzer/ranks/summary/summary_file.h"
#include "analyzer/report/text/text_ranks.h"
#include "schemas/rank_summary.pb.h"
#include "tests/fuzz/bases.h"
#include "tests/fuzz/changed_message.h"
#include "tests/fuzz/input_bytes.h"
#include "tests/fuzz/report_oracle.h"
#include "tests/fuzz/scratch_file.h"

namespace traceinject {
namespace {

// Mark, version, checksum, length.
constexpr std::size_t kChecksumAt = 12, kLengthAt = 16, kMessageAt = 24;

// As a timeline of operations tells of one.
void TellOperations(RankSummary* rank) {
  const TimeNs length = (rank->end - rank->start) / 8;
  rank->work_kinds = {"forward", "backward"};
  rank->stage = 1;
  for (std::uint32_t row = 0; row < 4; ++row) {
    const TimeNs start = rank->start + 2 * row * length;
    rank->work.start.push_back(start);
    rank->work.end.push_back(start + length);
    rank->work.kind.push_back(row % 2);
    rank->work.micro_batch.push_back(static_cast<std::int32_t>(row / 2) - 1);
    rank->work.step.push_back(row == 0 ? kNone : 0);
  }
}

// The block of a rank of the recordings, and of one that is told of otherwise.
std::string BaseBlock() {
  const auto run =
      LoadRun({PutFile("run.db", ReadBase("rank0.db"))}, {.threads = 1, .on_progress = {}});
  if (!run.ok()) throw std::runtime_error(run.error());
  Job job;
  job.base_ns = run.value().base_ns;
  job.ranks = SummarizeRank(run.value().ranks.front());
  job.ranks.push_back(job.ranks.front());
  job.ranks.back().rank = 1;
  TellOperations(&job.ranks.back());
  const auto block = WriteSummaries(job);
  if (!block.ok()) throw std::runtime_error(block.error());
  return block.value();
}

const std::string& Base() {
  static const std::string base = BaseBlock();
  return base;
}

// With the length and the checksum that its message has.
void SetHeader(std::string* block) {
  const std::uint64_t length = block->size() - kMessageAt;
  const auto checksum = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(block->data()) + kMessageAt, length));
  std::memcpy(block->data() + kLengthAt, &length, sizeof length);
  std::memcpy(block->data() + kChecksumAt, &checksum, sizeof checksum);
}

// Bytes of the message changed, left out, and put in.
std::string ChangedBytes(InputBytes& input) {
  std::string block = Base();
  while (!input.is_empty()) {
    const std::uint8_t kind = input.Byte();
    const std::size_t at = kMessageAt + input.Number(3) % (block.size() - kMessageAt);
    if (kind % 8 == 7) {
      block.erase(at, 1 + input.Byte());
    } else if (kind % 8 == 6) {
      block.insert(at, std::string(input.Take(1 + kind / 32)));
    } else {
      block[at] = static_cast<char>(input.Byte());
    }
    if (block.size() <= kMessageAt) break;
  }
  SetHeader(&block);
  return block;
}

// Fields of the message changed.
std::string ChangedFields(InputBytes& input) {
  constexpr int kMostChanges = 32;
  proto::Summaries summaries;
  summaries.ParseFromString(Base().substr(kMessageAt));
  for (int i = 0; i < kMostChanges && !input.is_empty(); ++i) ChangeField(input, &summaries);
  std::string block = Base().substr(0, kMessageAt) + summaries.SerializeAsString();
  SetHeader(&block);
  return block;
}

// As a file, alone or behind another one.
std::string WrongSummaryFile(const std::string& block, bool is_second) {
  const std::string path = PutFile("ranks.summary", is_second ? Base() + block : block);
  const auto job = ReadSummaryFile(path);
  if (!job.ok())
    return job.error().starts_with(path) ? "" : "an error without a file: " + job.error() + "\n";
  if (!IsSummaryFile(path)) return "read, but no summary\n";
  const Status checked = CheckJob(job.value());
  if (!checked.ok()) return "read, but " + checked.error() + "\n";
  return is_second ? WrongFigures(AnalyzeJob(job.value())) : "";
}

}  // namespace

std::string FuzzSummary(std::string_view input) {
  InputBytes bytes(input);
  const std::uint8_t kind = bytes.Byte();
  const std::string block = kind % 8 == 7   ? std::string(bytes.Rest())
                            : kind % 8 == 6 ? ChangedFields(bytes)
                                            : ChangedBytes(bytes);
  if (kind >= 64) return WrongSummaryFile(block, kind >= 128);
  const auto job = ReadSummaries(block, "run.summary");
  if (!job.ok())
    return job.error().starts_with("run.summary") ? "" : "an error without a name: " + job.error();
  const Status checked = CheckJob(job.value());
  if (!checked.ok()) return "read, but " + checked.error() + "\n";
  if (!WriteSummaries(job.value()).ok()) return "read, but cannot be written\n";
  const proto::Ranks ranks = AnalyzeJob(job.value());
  return WrongFigures(ranks) + WrongText(WriteRanksText(ranks, {}), block);
}

namespace {

// A condition holds of its own limit where it says that what is equal is fine.
std::string WrongCondition(const Condition& condition) {
  const bool is_met = condition.relation == Relation::kEqual ||
                      condition.relation == Relation::kAtMost ||
                      condition.relation == Relation::kAtLeast;
  if (condition.text.find(RelationText(condition.relation)) == std::string::npos)
    return "another relation than is written\n";
  if (condition.figure == nullptr) {
    if (condition.label.empty()) return "about nothing\n";
    return condition.holds(std::string_view(condition.label)) == is_met
               ? ""
               : "a verdict is not itself\n";
  }
  if (!(condition.limit == condition.limit)) return "the limit is no number\n";
  return condition.holds(condition.limit) == is_met ? "" : "a limit is not itself\n";
}

// The same text as a file.
std::string WrongBudget(std::string_view input) {
  const std::string path = PutFile("budget.txt", input);
  const auto budget = ReadBudget(path);
  if (!budget.ok())
    return budget.error().starts_with(path) ? "" : "an error without a file: " + budget.error();
  std::string wrong;
  for (const Condition& condition : budget.value()) wrong += WrongCondition(condition);
  return wrong;
}

}  // namespace

std::string FuzzCondition(std::string_view input) {
  const auto condition = ParseCondition(input, "budget.txt:1");
  if (!condition.ok() && condition.error().find("budget.txt:1") == std::string::npos)
    return "an error that does not say where: " + condition.error() + "\n";
  return (condition.ok() ? WrongCondition(condition.value()) : "") + WrongBudget(input);
}

}  // namespace traceinject
