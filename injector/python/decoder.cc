// SPDX-License-Identifier: Apache-2.0
#include "injector/python/decoder.h"

#include <algorithm>

#include "injector/base/clock.h"
#include "injector/base/counters.h"
#include "injector/python/attention_shapes.h"

namespace traceinject {

void PythonDecoder::DecodeLoader(const PythonEvent& event) {
  const auto& values = event.values;
  const auto [entry, fresh] =
      loaders_.try_emplace(values[0], static_cast<std::uint32_t>(loaders_.size() + 1));
  if (!fresh) return;  // told again for another pass
  batch_->data_loaders.push_back(
      {entry->second, values[1], values[2] != 0, values[3] != 0, values[4], values[5]});
}

// 0: there is none.
std::uint32_t PythonDecoder::Shape(std::int64_t number) {
  const auto [entry, fresh] = shapes_.try_emplace(number, 0);
  const auto v = fresh ? g_attention_shapes.Get(number) : std::nullopt;
  if (!v) return entry->second;
  const auto small = [&](int i) { return static_cast<int>((*v)[i]); };
  return entry->second =
             dictionary_->AttentionShape({0, small(0), (*v)[1], (*v)[2], (*v)[3], (*v)[4], (*v)[5],
                                          (*v)[6], (*v)[7], small(8), small(9)});
}

void PythonDecoder::DecodeAttention(int tid, const PythonEvent& event) {
  g_counters.Add(Health::kAttentionSeen);
  const std::uint32_t shape = Shape(event.values[0]);
  if (shape == 0) return g_counters.Add(Health::kAttentionDropped);
  const std::int64_t start = event.header.time_ns;
  const std::int64_t dur = ElapsedNs(start, event.end_ns);
  batch_->attentions.push_back({start - base_ns_, dur, dictionary_->Thread(tid), shape,
                                static_cast<int>(event.values[1]),
                                static_cast<int>(event.values[2])});
}

void PythonDecoder::DecodeAllocator(const PythonEvent& event) {
  g_counters.Add(Health::kAllocatorSampleSeen);
  const auto& v = event.values;
  batch_->allocator_samples.push_back(
      {event.header.time_ns - base_ns_, v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]});
}

// 0, unknown, when its description was lost: a row must not refer to one that is not there.
std::uint32_t PythonDecoder::Loader(std::int64_t number) const {
  const auto known = loaders_.find(number);
  return known == loaders_.end() ? 0 : known->second;
}

void PythonDecoder::Decode(int tid, const PythonEvent& event) {
  const auto type = static_cast<EventType>(event.header.type);
  if (type == EventType::kDataLoader) return DecodeLoader(event);
  if (type == EventType::kAttention) return DecodeAttention(tid, event);
  if (type == EventType::kAllocatorSample) return DecodeAllocator(event);
  if (type == EventType::kWorker) {
    if (workers_.size() < kMaxWorkers)
      workers_.push_back({event.values[0], Loader(event.values[1])});
    return;
  }
  const std::int64_t start = event.header.time_ns - base_ns_;
  // The clock may have been set back in between.
  const std::int64_t dur = ElapsedNs(event.header.time_ns, event.end_ns);
  const std::uint32_t thread = dictionary_->Thread(tid);
  if (type == EventType::kDataWait) {
    g_counters.Add(Health::kDataWaitSeen);
    batch_->data_waits.push_back(
        {start, dur, thread, Loader(event.values[0]), event.values[1], event.values[2]});
  } else if (type == EventType::kStepMark) {
    g_counters.Add(Health::kStepMarkSeen);
    batch_->step_marks.push_back({start, thread, event.values[0]});
  } else if (type == EventType::kHostSpan) {
    g_counters.Add(Health::kHostSpanSeen);
    batch_->host_spans.push_back({start, dur, thread, event.values[0], event.values[1]});
  }
}

}  // namespace traceinject
