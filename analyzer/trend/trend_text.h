// SPDX-License-Identifier: Apache-2.0
// What analyze trend says in words, wherever it is shown.
#pragma once

#include <string>

#include "schemas/trend.pb.h"

namespace traceinject {

// "+16.3 %".
std::string SignedPercent(double share);

// "2026-11-20": the day of a time since the epoch.
std::string DayOf(std::int64_t unix_ns);

// "train.py, 8 ranks on NVIDIA H200".
std::string GroupTitle(const proto::TrendGroup& group);

// "24 runs from 2026-10-01 to 2026-11-28; runs of one level differ by 1.2 %".
std::string GroupSentence(const proto::TrendGroup& group);

// "41.20 ms -> 47.90 ms (+16.3 %, 95 % interval +15.1 % to +17.4 %) since run.db of 2026-11-20
// (commit 1a2b3c4): idle: data wait +6.20 ms; the verdict changed from compute_bound to dataloader;
// num_workers 4 -> 0". `change`: one of the group.
std::string ChangeSentence(const proto::TrendGroup& group, const proto::LevelChange& change);

// "software driver (CUDA) 13000 -> 13010", of at most `most`; the others are counted.
std::string SettingsText(const google::protobuf::RepeatedPtrField<proto::SettingChange>& changes,
                         int most);

}  // namespace traceinject
