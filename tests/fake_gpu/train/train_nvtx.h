// SPDX-License-Identifier: Apache-2.0
// NVTX calls that log what they do. The recorded time of a call must lie between the two times
// taken around it: start_before <= start
// <= start_after, and the same for the end.
#pragma once

#include <nvtx3/nvToolsExt.h>

#include <cstdint>
#include <functional>
#include <string>

#include "tests/fake_gpu/simulator/truth.h"

namespace traceinject::fake {

// The values of nvtx.kind in the database.
enum class NvtxKind { kPushPop = 1, kStartEnd = 2, kMark = 3 };

// An event as the program describes it; what is not set is not given to NVTX.
struct NvtxEvent {
  std::string text = {};
  bool registered = false;  // pass the text as a registered string (needs a domain)
  bool wide = false;        // pass the text as wide characters; ASCII only
  std::uint32_t category = 0;
  std::uint32_t color = 0;  // ARGB
  bool has_integer = false, has_real = false, has_bytes = false;
  std::int64_t integer = 0;
  double real = 0;
  std::string bytes = {};  // extended payload
};

class NvtxDomain {
 public:
  // '' is the default domain.
  explicit NvtxDomain(std::string name);
  void NameCategory(std::uint32_t category, const char* name);

  void Push(const NvtxEvent& event, const std::function<void()>& body);
  void Mark(const NvtxEvent& event);
  // Pushed and never popped.
  void LeaveOpen(const NvtxEvent& event);

  // A start/end range, which may be ended anywhere.
  struct Started {
    nvtxRangeId_t id = 0;
    NvtxEvent event;
    std::int64_t before_ns = 0, after_ns = 0;
    int tid = 0;
  };
  Started Start(const NvtxEvent& event);
  void End(const Started& started);

  nvtxDomainHandle_t handle() const { return handle_; }

 private:
  TruthLine Line(NvtxKind kind, const NvtxEvent& event) const;

  std::string name_;
  nvtxDomainHandle_t handle_ = nullptr;
  std::uint64_t schema_ = 0;
};

}  // namespace traceinject::fake
