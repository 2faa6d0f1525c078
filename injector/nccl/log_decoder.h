// SPDX-License-Identifier: Apache-2.0
// What the lines of NCCL's log tell becomes `nccl_setup`, `nccl_link` and `system_fact` rows.
// Writer thread only.
//
// Which communicator a line is of:
//   * while a thread makes a communicator, all that it writes is of that one
//   * connections come later, too (NCCL 2.22 and later connect at the first operation): such a line
//     names ranks and the own GPU. It is of the communicator that has these, if only one has; else
//     its row names none.
// Which row of `communicator` that is: the one with its hash; NCCL tells none of a communicator
// that was split from another, so there the only one with that parent, rank and size.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "injector/nccl/communicators.h"
#include "injector/nccl/log_line.h"
#include "injector/rows/dictionary.h"
#include "injector/rows/rows.h"

namespace traceinject {

class NcclLogDecoder {
 public:
  NcclLogDecoder(Dictionary* dictionary, Batch* batch, const NcclCommunicators* communicators)
      : dictionary_(dictionary), batch_(batch), communicators_(communicators) {}

  // O(communicators + log links).
  void Decode(std::string_view line);

  // Once a flush, before it is stored: rows of what is new. O(new + communicators).
  void EndFlush();

 private:
  static constexpr std::size_t kMaxChannels = 128;  // NCCL has 64 at most

  struct Setup {
    NcclSetupRow row{};
    NcclLogInit init;
    std::uint32_t parent = 0;  // id of that it is split from; 0: none, or unknown
    int thread = 0;            // that makes it; 0: it is ready
    bool gone = false;
    bool changed = false;
  };
  // Setup, rank, peer, sends, transport, detail, network, adapter, proxy.
  using Key = std::tuple<std::uint32_t, int, int, bool, std::uint32_t, std::uint32_t, std::uint32_t,
                         int, int>;
  struct Link {
    NcclLinkRow row{};
    std::bitset<kMaxChannels> channels;
    bool changed = false;
  };

  bool Note(int tid, const std::monostate&);
  bool Note(int tid, const NcclLogInit& init);
  bool Note(int tid, const NcclLogNodes& nodes);
  bool Note(int tid, const NcclLogNvls& nvls);
  bool Note(int tid, const NcclLogNetwork& network);
  bool Note(int tid, const NcclLogAdapters& adapters);
  bool Note(int tid, const NcclLogGpuDirect& direct);
  bool Note(int tid, const NcclLogChannels& channels);
  bool Note(int tid, const NcclLogRing& ring);
  bool Note(int tid, const NcclLogTrees& trees);
  bool Note(int tid, const NcclLogConnection& connection);

  void NoteFact(std::string key, std::string_view value);
  Setup* OfThread(int tid);
  Setup* OfAddress(std::uint64_t address);
  const Setup* Of(int tid, const NcclLogConnection& connection);
  std::uint32_t FindCommunicator(const Setup& setup);

  Dictionary* dictionary_;
  Batch* batch_;
  const NcclCommunicators* communicators_;
  std::vector<Setup> setups_;  // by id - 1
  std::map<Key, Link> links_;
  std::vector<Key> changed_links_;
  std::map<int, std::string> networks_;  // by thread: of the communicator that it makes next
  std::map<std::string, std::string> facts_;
};

}  // namespace traceinject
