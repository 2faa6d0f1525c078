// SPDX-License-Identifier: Apache-2.0
// How the ranks of NCCL's communicators are connected, and what that proves.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

// One way from rank to rank.
struct NcclPath {
  std::string name;  // P2P/CUMEM, SHM/direct/direct, NET/Socket, NET/IB/GDRDMA, COLLNET/IB, ...
  int pairs = 0;     // of ranks connected so; CollNet: ranks
  int channels_min = 0, channels_max = 0;  // of one connection

  bool operator==(const NcclPath&) const = default;
};

// What the connections prove, in a sentence, and the check (hygiene_checks.h) that it belongs to.
struct NcclRemark {
  std::string_view check;
  std::string text;

  bool operator==(const NcclRemark&) const = default;
};

// Communicators that are alike.
struct NcclConnections {
  std::optional<int> size;  // ranks; empty: connections of an unknown communicator
  int communicators = 1;
  int ranks_told = 0;        // of each: recorded with their logs
  std::optional<int> nodes;  // as NCCL counts
  std::string network;       // between nodes; empty: not reported
  std::optional<int> rings, trees, channels, nvls_channels;
  bool nvls = false;
  std::vector<NcclPath> paths;
  std::vector<NcclRemark> remarks;

  bool operator==(const NcclConnections&) const = default;
};

// Largest communicators first, unknown ones last. Ranks of several recordings are taken as of one
// communicator only where its hash is known. O(setups + links log links).
std::vector<NcclConnections> SummarizeNcclTransports(const Run& run);

}  // namespace traceinject
