// SPDX-License-Identifier: Apache-2.0
#include "injector/nvtx/decoder.h"

#include <cstring>

#include "injector/base/clock.h"
#include "injector/base/counters.h"
#include "injector/nccl/nccl_payload.h"

namespace traceinject {
namespace {

constexpr int kNoSlot = -1;  // of ranges that any thread may end
// Ranges that are open at one time, of a thread and domain and of those that any thread may end.
constexpr std::size_t kMaxOpen = 16'384;

void SetPayload(const NvtxEvent& event, NvtxRow* row) {
  switch (event.payload_type) {
    case NvtxPayloadType::kNone:
      break;
    case NvtxPayloadType::kUnsigned:
    case NvtxPayloadType::kSigned:
      row->payload_type = NvtxRow::Payload::kInteger;
      row->payload_integer = static_cast<std::int64_t>(event.payload);
      break;
    case NvtxPayloadType::kReal:
      row->payload_type = NvtxRow::Payload::kReal;
      std::memcpy(&row->payload_real, &event.payload, sizeof row->payload_real);
      break;
    case NvtxPayloadType::kExtended:
      if (event.payload_bytes == 0) break;
      row->payload_type = NvtxRow::Payload::kBlob;
      row->payload_blob.assign(reinterpret_cast<const char*>(event.payload_data()),
                               event.payload_bytes);
      break;
  }
}

}  // namespace

std::uint32_t NvtxDecoder::Domain(const NvtxName* domain) {
  const std::uint64_t key = domain == nullptr ? 0 : domain->id;
  return domains_.Id({key}, [&](std::uint32_t id) {
    batch_->nvtx_domains.push_back(
        {id, domain == nullptr ? std::string() : std::string(domain->text)});
  });
}

NvtxDecoder::Open NvtxDecoder::Begin(int tid, int kind, const NvtxEvent& event) {
  Open open;
  NvtxRow& row = open.row;
  row = {};
  row.start = event.header.time_ns - base_ns_;
  row.thread = dictionary_->Thread(tid);
  row.kind = kind;
  row.domain = Domain(event.domain);
  if (event.registered != nullptr) {
    row.text = dictionary_->StableString(event.registered->text);
  } else if (event.has_text != 0) {
    row.text = dictionary_->String({event.text(), event.text_bytes});
  }
  row.category = event.category;
  row.has_color = event.has_color != 0;
  row.color = event.color;
  SetPayload(event, &row);
  return open;
}

void NvtxDecoder::BeginNccl(int slot, const NvtxEvent& event, Open* open) {
  if (event.domain == nullptr || !event.domain->is_nccl) return;
  open->is_nccl = true;
  if (event.payload_type != NvtxPayloadType::kExtended) return;
  if (auto operation =
          ParseNcclOperation(event.payload, event.payload_data(), event.payload_bytes)) {
    open->collective = nccl_->Begin(slot, open->row.thread, open->row.start, *operation);
    return;
  }
  open->schema = event.payload;
  open->payload.assign(event.payload_data(), event.payload_data() + event.payload_bytes);
}

void NvtxDecoder::FinishNccl(const Open& open, const NvtxEvent& end) {
  const bool at_end = end.payload_type == NvtxPayloadType::kExtended;
  const auto made =
      at_end ? ParseNcclCommunicator(end.payload, end.payload_data(), end.payload_bytes)
             : ParseNcclCommunicator(open.schema, open.payload.data(), open.payload.size());
  if (made) nccl_->communicators().Announce(*made, end.header.time_ns - base_ns_);
}

void NvtxDecoder::Finish(int slot, Open* open, const NvtxEvent& end) {
  if (open->collective != 0) {
    nccl_->End(slot, open->collective, end.header.time_ns - base_ns_);
    // An operation that was stored as an open range is closed as one, too.
    if (!open->stored) return;
  } else if (open->is_nccl) {
    FinishNccl(*open, end);  // a comm-init or group range: stored as a range, too
  }
  open->row.dur = ElapsedNs(open->row.start, end.header.time_ns - base_ns_);
  SetPayload(end, &open->row);
  batch_->nvtx.push_back(std::move(open->row));
}

void NvtxDecoder::Decode(int slot, int tid, const NvtxEvent& event) {
  g_counters.Add(Health::kNvtxSeen);
  // Which push a pop belongs to is known again for those that follow.
  if ((event.header.flags & kNvtxAfterLoss) != 0) ForgetThread(slot);
  switch (static_cast<EventType>(event.header.type)) {
    case EventType::kNvtxPush: {
      Stack& stack = stacks_[{slot, event.domain}];
      stack.push_back(Begin(tid, 1, event));
      ForgetOldest(&stack);
      BeginNccl(slot, event, &stack.back());
      break;
    }
    case EventType::kNvtxPop: {
      Stack& stack = stacks_[{slot, event.domain}];
      if (stack.empty()) return g_counters.Add(Health::kNvtxUnmatched);
      Finish(slot, &stack.back(), event);
      stack.pop_back();
      break;
    }
    case EventType::kNvtxStart:
      started_.insert_or_assign(event.id, Begin(tid, 2, event));
      BeginNccl(kNoSlot, event, &started_[event.id]);
      ForgetOldestStarted();
      break;
    case EventType::kNvtxEnd: {
      auto open = started_.find(event.id);
      if (open == started_.end()) return g_counters.Add(Health::kNvtxUnmatched);
      Finish(kNoSlot, &open->second, event);
      started_.erase(open);
      break;
    }
    case EventType::kNvtxMark:
      batch_->nvtx.push_back(std::move(Begin(tid, 3, event).row));
      break;
    case EventType::kNvtxNameCategory:
      batch_->nvtx_categories.push_back({Domain(event.domain), static_cast<std::uint32_t>(event.id),
                                         std::string(event.text(), event.text_bytes)});
      break;
    case EventType::kNvtxNameThread:
      dictionary_->NameThread(static_cast<std::int64_t>(event.id),
                              {event.text(), event.text_bytes});
      break;
    case EventType::kNvtxNameStream:
      dictionary_->NameStream(static_cast<std::uint32_t>(event.id >> 32),
                              static_cast<std::uint32_t>(event.id),
                              {event.text(), event.text_bytes});
      break;
    case EventType::kNvtxNameDevice:
      batch_->facts.push_back({"gpu",
                               std::to_string(static_cast<std::int32_t>(event.id)) + ".nvtx_name",
                               std::string(event.text(), event.text_bytes),
                               {}});
      break;
    default:
      break;
  }
}

void NvtxDecoder::ForgetThread(int slot) {
  nccl_->ForgetThread(slot);
  auto first = stacks_.lower_bound({slot, nullptr});
  while (first != stacks_.end() && first->first.first == slot) {
    for (Open& open : first->second) StoreOpen(&open);
    first = stacks_.erase(first);
  }
}

void NvtxDecoder::ForgetRanges() {
  for (auto stack = stacks_.begin(); stack != stacks_.end();) {
    const NvtxName* domain = stack->first.second;
    if (domain != nullptr && domain->is_nccl) {
      ++stack;
      continue;
    }
    for (Open& open : stack->second) StoreOpen(&open);
    stack = stacks_.erase(stack);
  }
  for (auto& [id, open] : started_) StoreOpen(&open);
  started_.clear();
}

void NvtxDecoder::StoreOpen(Open* open) {
  if (open->stored) return;
  open->stored = true;
  open->row.row = next_open_row_++;
  NvtxRow row = open->row;
  row.dur = -1;
  batch_->nvtx.push_back(std::move(row));
}

void NvtxDecoder::ForgetOldest(Stack* stack) {
  if (stack->size() <= kMaxOpen) return;
  StoreOpen(&stack->front());
  stack->pop_front();
}

void NvtxDecoder::ForgetOldestStarted() {
  if (started_.size() <= kMaxOpen) return;
  StoreOpen(&started_.begin()->second);
  started_.erase(started_.begin());
}

void NvtxDecoder::StoreOpenRanges() {
  for (auto& [key, stack] : stacks_) {
    for (Open& open : stack) StoreOpen(&open);
  }
  for (auto& [id, open] : started_) StoreOpen(&open);
}

}  // namespace traceinject
