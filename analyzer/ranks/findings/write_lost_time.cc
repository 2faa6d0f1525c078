// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/findings/write_lost_time.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "analyzer/ranks/match/rank_names.h"

namespace traceinject {
namespace {

struct Named {
  const char* kind;
  std::string name;
};

Named NameOf(const Job& job, const std::vector<ParallelGroups>& uses, const LostCause& cause) {
  switch (cause.kind) {
    case LostCause::Kind::kRank:
      return {"rank", RankName(job, cause.index)};
    case LostCause::Kind::kStage:
      return {"stage", fmt::format("stage {}", cause.index)};
    case LostCause::Kind::kHost:
      return {"host", "host " + job.ranks[cause.index].host};
    case LostCause::Kind::kGroups:
      return {"groups", fmt::format("{} groups of {} ranks", GroupUseName(uses[cause.index].use),
                                    uses[cause.index].size)};
  }
  return {"", ""};
}

}  // namespace

void WriteLostTime(const Job& job, const std::vector<ParallelGroups>& uses, const LostTime& lost,
                   proto::Ranks& to) {
  proto::LostTime& message = *to.mutable_lost();
  message.set_ideal_ns(std::llround(lost.ideal_ns));
  message.set_lost_ns(std::llround(lost.lost_ns));
  message.set_ranks_played(static_cast<std::int64_t>(lost.ranks_played));
  message.set_worst_ranks(static_cast<std::int64_t>(lost.worst_ranks));
  message.set_worst_rem(lost.worst_rem);
  for (const LostCause& cause : lost.causes) {
    proto::LostCause& one = *message.add_causes();
    const Named named = NameOf(job, uses, cause);
    one.set_kind(named.kind);
    one.set_name(named.name);
    for (const std::size_t rank : cause.ranks) one.add_rows(static_cast<int>(rank));
    one.set_rem(cause.rem);
    one.set_add(cause.add);
    if (cause.kind != LostCause::Kind::kRank) continue;
    proto::RankRow& row = *to.mutable_ranks(static_cast<int>(cause.index));
    row.set_lost_rem(cause.rem);
    row.set_lost_add(cause.add);
  }
}

}  // namespace traceinject
