// SPDX-License-Identifier: Apache-2.0
// The lines of NCCL's log at level INFO that tell how ranks are connected, as NCCL 2.18 to 2.30
// writes them (nccl src/debug.cc, init.cc, transport/{p2p,shm,net,coll_net,nvls}.cc,
// graph/{connect,topo}.cc). Pure functions; any bytes may be given to them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace traceinject {

// "host:2453:2468 [0] NCCL INFO text"; views into the line.
struct NcclLogLine {
  int tid = 0;
  std::string_view text;
};
std::optional<NcclLogLine> ParseNcclLogLine(std::string_view line);

// A communicator is being made, is ready, or is gone.
struct NcclLogInit {
  enum class Moment { kStart, kReady, kGone } moment = Moment::kStart;
  std::uint64_t address = 0;  // in the process; free for another one once it is gone
  int rank = 0, size = 0, device = 0;
  int nvml_device = -1;      // -1: not reported
  std::uint64_t hash = 0;    // commId; 0: not reported
  std::uint64_t parent = 0;  // address of that it is split from; 0: none
};
struct NcclLogNodes {
  std::uint64_t address = 0;
  int nodes = 0;
};
struct NcclLogNvls {
  std::uint64_t address = 0;
};
// The communicator that the thread makes, or makes next, uses this between nodes.
struct NcclLogNetwork {
  std::string_view name;
};
struct NcclLogAdapters {
  struct Adapter {
    int number;
    std::string_view name;  // "mlx5_0:1/IB", "eth0"
  };
  std::string_view network;
  std::vector<Adapter> adapters;
};
struct NcclLogGpuDirect {
  std::string_view network, name;
  int number = 0;
  bool enabled = false;
};
struct NcclLogChannels {
  int collective = -1, nvls = -1, p2p = -1, p2p_per_peer = -1;  // -1: not reported
};
struct NcclLogRing {
  int number = 0;
};
struct NcclLogTrees {
  int count = 0;
};
struct NcclLogConnection {
  int channel = 0;
  int rank = 0, peer = -1;  // own rank, and the other's; -1: CollNet has none
  int nvml_device = -1;     // of the own rank; -1: not reported
  bool sends = true;
  std::string_view transport, detail, network;  // as nccl_link in run_db.sql; empty: none
  int net_device = -1, proxy_rank = -1;         // -1: none
  bool gdrdma = false;
};

using NcclLogFact = std::variant<std::monostate, NcclLogInit, NcclLogNodes, NcclLogNvls,
                                 NcclLogNetwork, NcclLogAdapters, NcclLogGpuDirect, NcclLogChannels,
                                 NcclLogRing, NcclLogTrees, NcclLogConnection>;

// What a line's text tells; monostate: nothing of interest. O(length).
NcclLogFact ParseNcclLogText(std::string_view text);

}  // namespace traceinject
