// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/guest/nvtx_target.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "injector/base/events.h"
#include "injector/nccl/decoder.h"
#include "injector/nvtx/decoder.h"
#include "tests/fuzz/input_bytes.h"

namespace traceinject {
namespace {

// As a ring holds it. Other texts than those of domains and registered strings follow it.
std::vector<std::uint64_t> SomeNvtxEvent(InputBytes& input, std::int64_t base_ns) {
  static constexpr std::array kTypes = {
      EventType::kNvtxPush,       EventType::kNvtxPop,        EventType::kNvtxStart,
      EventType::kNvtxEnd,        EventType::kNvtxMark,       EventType::kNvtxNameCategory,
      EventType::kNvtxNameThread, EventType::kNvtxNameStream, EventType::kNvtxNameDevice};
  static constexpr NvtxName kDomains[] = {{1, true, "NCCL"}, {2, false, "train"}};
  static constexpr NvtxName kRegistered = {1, false, "forward"};
  const EventType type = kTypes[input.Below(kTypes.size())];
  const std::uint8_t flags = input.Byte();
  NvtxEvent event{};
  event.header.type = static_cast<std::uint16_t>(type);
  event.header.flags = (flags & 1) != 0 ? kNvtxAfterLoss : std::uint16_t{0};
  // Before and after, by days.
  event.header.time_ns = base_ns + static_cast<std::int64_t>(input.Number(flags % 7)) - (1 << 24);
  const std::size_t domain = flags / 16 % 3;
  event.domain = domain < std::size(kDomains) ? &kDomains[domain] : nullptr;
  event.registered = (flags & 2) != 0 ? &kRegistered : nullptr;
  event.id = input.Number(1 + flags % 8);
  event.payload = input.Number(4) + ((flags & 4) != 0 ? 1 << 24 : 0);
  event.category = input.Byte();
  event.payload_type = static_cast<NvtxPayloadType>(input.Byte() % 5);
  event.has_text = (flags & 8) != 0;
  const std::string_view text = input.Take(event.registered == nullptr ? input.Byte() % 64 : 0);
  const std::string_view payload = input.Take(input.Byte() % 128);
  event.text_bytes = static_cast<std::uint16_t>(text.size());
  event.payload_bytes = static_cast<std::uint16_t>(payload.size());
  const std::size_t text_words = (text.size() + 7) / 8;
  std::vector<std::uint64_t> words(sizeof event / 8 + text_words + (payload.size() + 7) / 8);
  std::memcpy(words.data(), &event, sizeof event);
  std::uint64_t* const behind = words.data() + sizeof event / 8;
  std::copy(text.begin(), text.end(), reinterpret_cast<char*>(behind));
  std::copy(payload.begin(), payload.end(), reinterpret_cast<char*>(behind + text_words));
  return words;
}

}  // namespace

std::string FuzzNvtx(std::string_view input) {
  constexpr std::int64_t kBaseNs = 1'700'000'000'000'000'000;
  Batch batch;
  Dictionary dictionary(&batch);
  NcclDecoder nccl(kBaseNs, &dictionary, &batch);
  NvtxDecoder decoder(kBaseNs, &dictionary, &batch, &nccl);
  InputBytes bytes(input);
  while (!bytes.is_empty()) {
    const std::uint8_t choice = bytes.Byte();
    const int slot = choice % 3;
    if (choice >= 250) {
      decoder.ForgetThread(slot);
    } else if (choice >= 240) {
      decoder.StoreOpenRanges();
    } else if (choice == 239) {
      decoder.ForgetRanges();
    } else {
      const std::vector<std::uint64_t> words = SomeNvtxEvent(bytes, kBaseNs);
      decoder.Decode(slot, 100 + slot, *reinterpret_cast<const NvtxEvent*>(words.data()));
    }
  }
  decoder.StoreOpenRanges();
  std::string wrong;
  for (const NvtxRow& row : batch.nvtx)
    if (row.dur < -1) wrong += "a range of negative length\n";
  return wrong;
}

}  // namespace traceinject
