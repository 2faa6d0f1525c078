// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/finish/find_loaders_and_steps.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

namespace traceinject {
namespace {

// As CUpti_ActivityMemcpyKind and CUpti_ActivityMemoryKind number them.
constexpr std::uint8_t kCopyHostToDevice = 1, kPinnedMemory = 2;
constexpr std::string_view kStepPrefix = "ProfilerStep#";
constexpr std::string_view kLoaderPrefix = "enumerate(DataLoader)#";
constexpr std::string_view kSingleProcess = "_SingleProcess";
constexpr std::string_view kOptimizerPrefix = "Optimizer.step#";

// Pinned memory is told by its effect.
bool CopiesFromPinnedMemory(const Rank& rank) {
  return std::any_of(rank.transfers.begin(), rank.transfers.end(), [](const Transfer& transfer) {
    return transfer.kind == kCopyHostToDevice && transfer.src_kind == kPinnedMemory;
  });
}

void AddDataWait(std::string_view name, std::size_t range, Rank& rank) {
  // Loaders that work in the training process are all one: the trace tells no more of them.
  std::uint32_t loader = kNone;
  if (name.substr(kLoaderPrefix.size()).starts_with(kSingleProcess)) {
    if (rank.loaders.empty()) rank.loaders.emplace_back().pin_memory = CopiesFromPinnedMemory(rank);
    loader = 0;
  }
  DataWaits& waits = rank.data_waits;
  waits.start.push_back(rank.nvtx.start[range]);
  waits.end.push_back(rank.nvtx.end[range]);
  waits.thread.push_back(rank.nvtx.thread[range]);
  waits.loader.push_back(loader);
  waits.batch.push_back(-1);
  waits.samples.push_back(-1);
}

}  // namespace

void FindLoadersAndSteps(Rank& rank) {
  const NvtxRanges& ranges = rank.nvtx;
  std::map<std::uint32_t, std::uint32_t> optimizers;  // by name
  StepMarks marks;
  bool has_steps = false;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges.end[i] == kOpen) continue;
    const std::string_view text = rank.string(ranges.text[i]);
    has_steps |= text.starts_with(kStepPrefix);
    if (text.starts_with(kLoaderPrefix)) AddDataWait(text, i, rank);
    if (!text.starts_with(kOptimizerPrefix)) continue;
    const auto number = static_cast<std::uint32_t>(optimizers.size()) + 1;
    marks.time.push_back(ranges.end[i]);
    marks.thread.push_back(ranges.thread[i]);
    marks.optimizer.push_back(optimizers.try_emplace(ranges.text[i], number).first->second);
  }
  // Unless the program marked its steps itself: two optimizers of one class cannot be told apart
  // here.
  if (!has_steps) rank.step_marks = std::move(marks);
}

}  // namespace traceinject
