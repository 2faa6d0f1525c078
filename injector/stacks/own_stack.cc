// SPDX-License-Identifier: Apache-2.0
#include "injector/stacks/own_stack.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "injector/base/counters.h"
#include "injector/base/events.h"
#include "injector/base/ring.h"
#include "injector/base/state.h"
#include "injector/stacks/code_object.h"
#include "injector/stacks/stack_copy.h"
#include "injector/stacks/stack_sampler.h"

namespace traceinject {
namespace {

constexpr std::size_t kMaxOwnFrames = 96;

thread_local constinit StackBudget t_wait_budget{};

struct OwnFrames {
  std::array<StackEventFrame, kMaxOwnFrames> frames;
  std::uint32_t count = 0;
  bool is_cut = false;
};

// The innermost frame of the calling thread; 0: none.
std::uint64_t OwnInnermostFrame(const OwnStacks& own, const ProcessMemory& memory) {
  const auto state = reinterpret_cast<std::uint64_t>(own.symbols.PyGILState_GetThisThreadState());
  std::uint64_t frame = 0;
  if (state == 0 || !memory.Read(state + own.layout.thread_frame, &frame) || frame == 0) return 0;
  if (own.layout.cframe_frame == PythonLayout::kNone) return frame;
  std::uint64_t of_cframe = 0;
  return memory.Read(frame + own.layout.cframe_frame, &of_cframe) ? of_cframe : 0;
}

// Fills in what tells the code objects from later ones at their addresses. False: one is gone.
bool CheckCodes(const PythonLayout& layout, const ProcessMemory& memory, OwnFrames* own) {
  constexpr std::size_t kTogether = 16;
  std::array<std::uint64_t, kTogether> addresses;
  std::array<char, kTogether * kMaxCodeBytes> bytes;
  const std::size_t size = CodeBytes(layout);
  if (size > kMaxCodeBytes) return false;
  for (std::size_t i = 0; i < own->count; i += kTogether) {
    const std::size_t pieces = std::min(kTogether, own->count - i);
    for (std::size_t j = 0; j < pieces; ++j) addresses[j] = own->frames[i + j].code;
    if (memory.ReadPieces(addresses.data(), pieces, bytes.data(), size) != pieces) return false;
    for (std::size_t j = 0; j < pieces; ++j)
      own->frames[i + j].check = DecodeCode(layout, bytes.data() + j * size).Check();
  }
  return true;
}

// False: they cannot be read.
bool ReadOwnFrames(const OwnStacks& own, OwnFrames* to) {
  const ProcessMemory memory;
  MemoryBlocks<3, 2048> blocks(&memory);
  std::array<ChainFrame, kMaxOwnFrames> chain;
  std::size_t count = 0;
  const ChainTop top{OwnInnermostFrame(own, memory)};
  const ChainEnd end = ReadChain(own.layout, &blocks, top, chain.data(), chain.size(), &count);
  if (end == ChainEnd::kLost) return false;
  to->is_cut = end == ChainEnd::kCut;
  for (std::size_t i = 0; i < count; ++i) {
    if (!chain[i].is_python) continue;
    to->frames[to->count++] = {chain[i].code, chain[i].first_local,
                               static_cast<std::int32_t>(OffsetOfInstruction(own.layout, chain[i])),
                               0};
  }
  return CheckCodes(own.layout, memory, to);
}

void EmitOwnStack(int kind, std::int64_t start_ns, std::int64_t end_ns) {
  if (g_takes_native_stacks.load(std::memory_order_relaxed)) {
    if (Recording()) EmitStackCopy(kind, start_ns, end_ns);
    return;
  }
  const OwnStacks* own = g_own_stacks.load(std::memory_order_acquire);
  if (own == nullptr || !Recording() || !own->symbols.IsAlive()) return;
  OwnFrames frames;
  const int saved_errno = errno;  // the program's: the call that it made is over
  const bool is_read = ReadOwnFrames(*own, &frames);
  errno = saved_errno;
  if (!is_read) return g_counters.Add(Health::kStackTorn);
  if (frames.count == 0) return;  // it runs no Python: one of autograd's threads
  const auto size =
      static_cast<std::uint32_t>(sizeof(StackEvent) + frames.count * sizeof(StackEventFrame));
  Ring* ring = g_rings.OfThisThread();
  auto* event = ring == nullptr ? nullptr : static_cast<StackEvent*>(ring->Reserve(size));
  if (event == nullptr) return g_counters.AddLost(Health::kStackSeen, Health::kStackDropped);
  event->header = {size, static_cast<std::uint16_t>(EventType::kStack),
                   static_cast<std::uint16_t>(kind), start_ns};
  event->end_ns = end_ns;
  event->count = frames.count;
  event->is_cut = frames.is_cut ? 1 : 0;
  std::copy_n(frames.frames.data(), frames.count, event->frames());
  ring->Publish(&g_wake);
}

}  // namespace

void NoteOwnWait(std::int64_t start_ns, std::int64_t end_ns) {
  if (!Delivers(Source::kStacks) || !t_wait_budget.HasSome(end_ns)) return;
  EmitOwnStack(StackSampler::kWait, start_ns, end_ns);
  t_wait_budget.Spend(NowNs() - end_ns);
}

bool LaunchTurn::Begin() {
  if (Delivers(Source::kStacks) && (g_own_stacks.load(std::memory_order_relaxed) != nullptr ||
                                    g_takes_native_stacks.load(std::memory_order_relaxed)))
    return true;
  constexpr int kLaterLook = 256;
  left_ = span_ = kLaterLook;
  last_ns_ = 0;
  return false;
}

void LaunchTurn::TakeStack(std::int64_t start_ns, std::int64_t end_ns) {
  EmitOwnStack(StackSampler::kLaunch, start_ns, end_ns);
  const std::int64_t now = NowNs();
  Rest(now, now - end_ns);
}

// So many launches that what this one cost is the share of their time, more or less: a fixed number
// could fall in with the program's own rhythm.
void LaunchTurn::Rest(std::int64_t now_ns, std::int64_t cost_ns) {
  constexpr std::int64_t kMaxCostNs = 100'000, kMaxSpan = 1'000'000;
  random_ ^= random_ << 13;
  random_ ^= random_ >> 17;
  random_ ^= random_ << 5;
  const std::int64_t each_ns =
      last_ns_ == 0 ? 0 : std::max<std::int64_t>(1, (now_ns - last_ns_) / span_);
  last_ns_ = now_ns;
  std::int64_t span = 1 + random_ % 3;
  if (firsts_ > 0) {
    --firsts_;
  } else {
    const std::int64_t rest_ns = std::clamp<std::int64_t>(cost_ns, 1000, kMaxCostNs) * kOwnShare;
    const std::int64_t mean = each_ns == 0 ? 1000 : rest_ns / each_ns;
    span = std::clamp<std::int64_t>(mean / 2 + mean * (random_ % 1024) / 1024, 1, kMaxSpan);
  }
  left_ = span_ = static_cast<int>(span);
}

}  // namespace traceinject
