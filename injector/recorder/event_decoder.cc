// SPDX-License-Identifier: Apache-2.0
#include "injector/recorder/event_decoder.h"

#include "injector/base/clock.h"
#include "injector/base/counters.h"
#include "injector/base/ring.h"

namespace traceinject {

EventDecoder::EventDecoder(std::int64_t base_ns, Dictionary* dictionary, Batch* batch)
    : base_ns_(base_ns),
      dictionary_(dictionary),
      batch_(batch),
      nccl_(base_ns, dictionary, batch),
      nvtx_(base_ns, dictionary, batch, &nccl_),
      python_(base_ns, dictionary, batch) {}

void EventDecoder::Drain(const std::function<void()>& look) {
  constexpr int kLookEvery = 1024;
  int decoded = 0;
  g_rings.DrainAll(
      [&](int slot, int tid, const EventHeader& event) {
        if (++decoded % kLookEvery == 0) look();
        const auto type = static_cast<EventType>(event.type);
        if (type == EventType::kSync) {
          DecodeSync(tid, reinterpret_cast<const SyncEvent&>(event));
        } else if (type == EventType::kGemm) {
          DecodeGemm(tid, reinterpret_cast<const GemmEvent&>(event));
        } else if (type == EventType::kStack) {
          DecodeStack(tid, reinterpret_cast<const StackEvent&>(event));
        } else if (type == EventType::kNativeStack) {
          DecodeStack(tid, reinterpret_cast<const NativeStackEvent&>(event));
        } else if (PythonDecoder::Decodes(type)) {
          python_.Decode(tid, reinterpret_cast<const PythonEvent&>(event));
        } else if (NcclDecoder::Decodes(type)) {
          nccl_.Decode(slot, tid, event);
        } else {
          nvtx_.Decode(slot, tid, reinterpret_cast<const NvtxEvent&>(event));
        }
      },
      [&](int slot) { nvtx_.ForgetThread(slot); });
}

void EventDecoder::DecodeSync(int tid, const SyncEvent& event) {
  g_counters.Add(Health::kSyncSeen);
  batch_->syncs.push_back(
      {event.header.time_ns - base_ns_, ElapsedNs(event.header.time_ns, event.end_ns),
       dictionary_->Thread(tid), event.header.flags,
       event.event == 0 ? 0 : dictionary_->Event(event.event),
       event.has_stream != 0 ? dictionary_->Stream(event.device, event.context, event.stream) : 0});
}

template <typename Event>
void EventDecoder::DecodeStack(int tid, const Event& event) {
  if (stacks_ == nullptr) return g_counters.AddLost(Health::kStackSeen, Health::kStackDropped);
  stacks_->Decode(tid, event, dictionary_);
}

void EventDecoder::DecodeGemm(int tid, const GemmEvent& event) {
  g_counters.Add(Health::kGemmSeen);
  GemmShapeRow shape{};
  shape.m = event.m;
  shape.n = event.n;
  shape.k = event.k;
  shape.batch = event.batch;
  shape.trans_a = event.trans_a;
  shape.trans_b = event.trans_b;
  shape.type_a = event.type_a;
  shape.type_b = event.type_b;
  shape.type_c = event.type_c;
  shape.compute_type = event.compute_type;
  shape.least_bytes = event.least_bytes;
  batch_->gemms.push_back({event.header.time_ns - base_ns_,
                           ElapsedNs(event.header.time_ns, event.end_ns), dictionary_->Thread(tid),
                           dictionary_->GemmShape(event.function, shape)});
}

}  // namespace traceinject
