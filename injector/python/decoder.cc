// SPDX-License-Identifier: Apache-2.0
#include "injector/python/decoder.h"

#include <algorithm>

namespace traceinject {

void PythonDecoder::DecodeLoader(const PythonEvent& event) {
  const auto& values = event.values;
  const auto [entry, fresh] =
      loaders_.try_emplace(values[0], static_cast<std::uint32_t>(loaders_.size() + 1));
  if (!fresh) return;  // told again for another pass
  batch_->data_loaders.push_back(
      {entry->second, values[1], values[2] != 0, values[3] != 0, values[4], values[5]});
}

// 0, unknown, when its description was lost: a row must not refer to one that is not there.
std::uint32_t PythonDecoder::Loader(std::int64_t number) const {
  const auto known = loaders_.find(number);
  return known == loaders_.end() ? 0 : known->second;
}

void PythonDecoder::Decode(int tid, const PythonEvent& event) {
  const auto type = static_cast<EventType>(event.header.type);
  if (type == EventType::kDataLoader) return DecodeLoader(event);
  if (type == EventType::kWorker) {
    if (workers_.size() < kMostWorkers)
      workers_.push_back({event.values[0], Loader(event.values[1])});
    return;
  }
  const std::int64_t start = event.header.time_ns - base_ns_;
  // The clock may have been set back in between.
  const std::int64_t dur = std::max<std::int64_t>(0, event.end_ns - event.header.time_ns);
  const std::uint32_t thread = dictionary_->Thread(tid);
  if (type == EventType::kDataWait) {
    batch_->data_waits.push_back({start, dur, thread, Loader(event.values[0]), event.values[1]});
  } else if (type == EventType::kStepMark) {
    batch_->step_marks.push_back({start, thread, event.values[0]});
  } else if (type == EventType::kHostSpan) {
    batch_->host_spans.push_back({start, dur, thread, event.values[0], event.values[1]});
  }
}

}  // namespace traceinject
