// SPDX-License-Identifier: Apache-2.0
// What a program passes where a real one passes device code: the fake runtime takes the `func` of
// cudaLaunchKernel, a CUfunction, a cudaKernel_t and a cudaGraphExec_t as pointers to these.
#pragma once

#include <cstdint>
#include <vector>

namespace traceinject::fake {

struct KernelCode {
  static constexpr std::uint64_t kMagic = 0x4b45524e454c4b31;
  std::uint64_t magic = kMagic;
  const char* name = "";
  std::int64_t duration_ns = 0;
  std::int32_t registers = 32;
  std::int32_t static_shared_bytes = 0;
  std::uint32_t local_bytes = 0;
};

struct GraphNode {
  const KernelCode* kernel = nullptr;
  std::int32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  std::uint64_t node_id = 0;
};

struct GraphCode {
  static constexpr std::uint64_t kMagic = 0x4752415048474731;
  std::uint64_t magic = kMagic;
  std::uint32_t id = 0;
  std::vector<GraphNode> nodes;  // run one after the other
};

}  // namespace traceinject::fake
