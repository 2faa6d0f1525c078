// SPDX-License-Identifier: Apache-2.0
#include "injector/python/reports.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "injector/base/counters.h"
#include "injector/base/events.h"
#include "injector/base/profiler_room.h"
#include "injector/base/ring.h"
#include "injector/base/safe_point.h"
#include "injector/base/sources.h"
#include "injector/base/state.h"
#include "injector/base/step_count.h"
#include "injector/python/attention_shapes.h"

namespace traceinject {
namespace {

// False: the event is lost.
bool Emit(EventType type, std::int64_t start_ns, std::int64_t end_ns, const std::int64_t* values,
          std::size_t count) {
  const auto size =
      static_cast<std::uint32_t>(offsetof(PythonEvent, values) + count * sizeof *values);
  Ring* ring = g_rings.OfThisThread();
  auto* event = ring == nullptr ? nullptr : static_cast<PythonEvent*>(ring->Reserve(size));
  if (event == nullptr) return false;
  event->header = {size, static_cast<std::uint16_t>(type), 0, start_ns};
  event->end_ns = end_ns;
  std::copy_n(values, count, event->values);
  ring->Publish(&g_wake);
  return true;
}

void Count(bool handed_over, Health seen, Health dropped) {
  if (!handed_over) g_counters.AddLost(seen, dropped);
}

}  // namespace

void ReportLoader(std::int64_t loader, std::int64_t workers, std::int64_t pin_memory,
                  std::int64_t persistent_workers, std::int64_t prefetch_factor,
                  std::int64_t batch_size) {
  if (!Recording()) return;
  const std::int64_t values[] = {loader,          workers,   pin_memory, persistent_workers,
                                 prefetch_factor, batch_size};
  // One that is lost is told again in the next pass; until then its waits are of an unknown loader.
  Emit(EventType::kDataLoader, 0, 0, values, std::size(values));
}

void ReportDataWait(std::int64_t start_ns, std::int64_t end_ns, std::int64_t loader,
                    std::int64_t batch, std::int64_t samples) {
  if (!Recording() || !Delivers(Source::kProgram)) return;
  const std::int64_t values[] = {loader, batch, samples};
  Count(Emit(EventType::kDataWait, start_ns, end_ns, values, std::size(values)),
        Health::kDataWaitSeen, Health::kDataWaitDropped);
}

void ReportStep(std::int64_t time_ns, std::int64_t optimizer) {
  if (!Recording()) return;
  g_safe_point.Pass();
  g_step_count.StepEnded(optimizer);
  Count(Emit(EventType::kStepMark, time_ns, time_ns, &optimizer, 1), Health::kStepMarkSeen,
        Health::kStepMarkDropped);
}

void ReportUnmarkedStep() {
  if (Recording()) g_counters.Add(Health::kStepMarkLeftOut);
}

void ReportSpan(std::int64_t start_ns, std::int64_t end_ns, std::int64_t kind,
                std::int64_t detail) {
  if (!Recording() || !Delivers(Source::kProgram)) return;
  const std::int64_t values[] = {kind, detail};
  Count(Emit(EventType::kHostSpan, start_ns, end_ns, values, std::size(values)),
        Health::kHostSpanSeen, Health::kHostSpanDropped);
}

void ReportWorker(std::int64_t pid, std::int64_t loader) {
  if (!Recording()) return;
  const std::int64_t values[] = {pid, loader};
  // One that is lost is told again in the next pass, and may be found as a child until then.
  Emit(EventType::kWorker, 0, 0, values, std::size(values));
  g_wake.Post();  // it may be gone before the next flush
}

std::int64_t AskForRoom(std::int64_t wanted) {
  if (!Recording()) return 1;
  return g_profiler_room.Ask(wanted != 0) == ProfilerRoom::Answer::kNone ? 0 : 1;
}

std::int64_t ReportAttentionShape(std::int64_t library, std::int64_t batch, std::int64_t heads,
                                  std::int64_t kv_heads, std::int64_t query_length,
                                  std::int64_t key_length, std::int64_t head_size,
                                  std::int64_t value_head_size, std::int64_t type,
                                  std::int64_t causal) {
  if (!Recording()) return 0;
  return g_attention_shapes.Add({library, batch, heads, kv_heads, query_length, key_length,
                                 head_size, value_head_size, type, causal});
}

bool WantsAttention() {
  g_safe_point.Pass();
  return Recording() && Delivers(Source::kProgram);
}

void ReportAttention(std::int64_t start_ns, std::int64_t end_ns, std::int64_t number,
                     std::int64_t direction, std::int64_t gradient) {
  if (!WantsAttention()) return;
  const std::int64_t values[] = {number, direction, gradient};
  Count(Emit(EventType::kAttention, start_ns, end_ns, values, std::size(values)),
        Health::kAttentionSeen, Health::kAttentionDropped);
}

void ReportAllocator(std::int64_t time_ns, std::int64_t device, std::int64_t allocated_bytes,
                     std::int64_t reserved_bytes, std::int64_t active_bytes,
                     std::int64_t peak_allocated_bytes, std::int64_t peak_reserved_bytes,
                     std::int64_t retries, std::int64_t ooms) {
  if (!Recording() || !Delivers(Source::kProgram)) return;
  const std::int64_t values[] = {device,
                                 allocated_bytes,
                                 reserved_bytes,
                                 active_bytes,
                                 peak_allocated_bytes,
                                 peak_reserved_bytes,
                                 retries,
                                 ooms};
  Count(Emit(EventType::kAllocatorSample, time_ns, 0, values, std::size(values)),
        Health::kAllocatorSampleSeen, Health::kAllocatorSampleDropped);
}

}  // namespace traceinject
