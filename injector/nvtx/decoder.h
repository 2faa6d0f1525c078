// SPDX-License-Identifier: Apache-2.0
// NVTX events -> rows: pairs of push and pop, start and end become ranges; NCCL's operations and
// communicators go to its own decoder. Writer thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "injector/base/events.h"
#include "injector/nccl/decoder.h"
#include "injector/rows/dictionary.h"

namespace traceinject {

class NvtxDecoder {
 public:
  NvtxDecoder(std::int64_t base_ns, Dictionary* dictionary, Batch* batch, NcclDecoder* nccl)
      : base_ns_(base_ns), dictionary_(dictionary), batch_(batch), nccl_(nccl) {}

  // `slot` tells the thread's ring, `tid` the thread. Events of one slot come in order.
  void Decode(int slot, int tid, const NvtxEvent& event);
  // The thread of that slot ended, or it is not known which of its ranges are open: they stay open.
  void ForgetThread(int slot);

  // No event of the program is told of for a while: its open ranges stay open. NCCL's go on.
  void ForgetRanges();

  // Call once a flush: ranges that stayed open since the last flush are stored as such, so that a
  // killed process keeps them; they are written again when they end.
  void StoreOpenRanges();

 private:
  struct Open {
    NvtxRow row;
    bool is_nccl = false;
    std::uint64_t collective = 0;  // of an NCCL operation: its number
    std::uint64_t schema = 0;      // of another NCCL range's payload at the start
    std::vector<std::uint8_t> payload;
    bool stored = false;
  };
  using Stack = std::deque<Open>;

  Open Begin(int tid, int kind, const NvtxEvent& event);
  void BeginNccl(int slot, const NvtxEvent& event, Open* open);
  void Finish(int slot, Open* open, const NvtxEvent& end);
  void FinishNccl(const Open& open, const NvtxEvent& end);
  std::uint32_t Domain(const NvtxName* domain);
  void StoreOpen(Open* open);
  // A program that forgets to end ranges has ever more of them: the oldest stay open.
  void ForgetOldest(Stack* stack);
  void ForgetOldestStarted();

  std::int64_t base_ns_;
  Dictionary* dictionary_;
  Batch* batch_;
  NcclDecoder* nccl_;
  std::map<std::pair<int, const NvtxName*>, Stack> stacks_;  // by slot and domain
  std::map<std::uint64_t, Open> started_;  // start/end ranges by id, which ascends
  IntegerIdMap<1> domains_;
  // Ranges stored while open are numbered, to be replaced when they end (NvtxRow::row).
  std::uint64_t next_open_row_ = 1;
};

}  // namespace traceinject
