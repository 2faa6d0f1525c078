// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_gpu/simulator/simulator.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "tests/fake_gpu/simulator/activity_history.h"
#include "tests/fake_gpu/simulator/activity_sink.h"
#include "tests/fake_gpu/simulator/api_call.h"
#include "tests/fake_gpu/simulator/clock.h"
#include "tests/fake_gpu/simulator/settings.h"
#include "tests/fake_gpu/simulator/truth.h"

namespace traceinject::fake {
namespace {

constexpr int kMaxDevices = 16;
constexpr std::uint32_t kDefaultStreamId = 7;  // as CUPTI numbers it in a process of one context
constexpr std::uint32_t kFirstStreamId = 13;

struct Block {
  std::uint64_t bytes = 0;
  Memory memory;
  std::uint32_t context = 0;
};

// Leaked on purpose: exit handlers of the program and of the injected library still use it.
struct Simulator {
  std::mutex mutex;
  std::array<Context, kMaxDevices> contexts;
  std::vector<std::unique_ptr<Stream>> streams;
  std::uint32_t last_event = 0;
  std::map<std::uintptr_t, Block> memory;
  std::uintptr_t next_address = 0x7f0000000000;
};

Simulator& Gpu() {
  static auto* gpu = new Simulator;
  return *gpu;
}

std::mutex initialize_mutex;
std::atomic<pid_t> initialized_by{0};  // 0: not yet
thread_local bool inside_injection = false;
thread_local Context* current_context = nullptr;

void LoadInjection() {
  const std::string path = SettingText("CUDA_INJECTION64_PATH", "none");
  if (path == "none") return;
  void* library = dlopen(path.c_str(), RTLD_NOW);
  if (library == nullptr) return;
  auto entry = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  if (entry == nullptr) return;
  inside_injection = true;
  entry();
  inside_injection = false;
}

const char* KindName(OperationKind kind) {
  switch (kind) {
    case OperationKind::kKernel:
      return "kernel";
    case OperationKind::kMemcpy:
      return "memcpy";
    case OperationKind::kPeerMemcpy:
      return "peer_memcpy";
    case OperationKind::kMemset:
      return "memset";
  }
  return "";
}

std::uint64_t CorrelationOfCall() {
  const ApiCall* call = ApiCall::Current();
  return call != nullptr ? call->correlation() : 0;
}

void Tell(const MemoryRecord& record) {
  if (TruthWanted()) {
    TruthLine line("memory");
    line.Number("time", record.time_ns)
        .Bool("release", record.release)
        .Number("memory_kind", record.memory_kind)
        .Number("bytes", static_cast<std::int64_t>(record.bytes))
        .Number("address", static_cast<std::int64_t>(record.address))
        .Number("device", record.device)
        .Number("correlation", static_cast<std::int64_t>(record.correlation));
    if (record.stream != ~0u) line.Number("stream", record.stream);
    line.Write();
  }
  if (ActivitySink* sink = GetActivitySink()) sink->OnMemory(record);
}

void Tell(const StreamRecord& record) {
  if (TruthWanted()) {
    TruthLine("stream")
        .Number("context", record.context)
        .Number("stream", record.stream)
        .Number("priority", record.priority)
        .Bool("non_blocking", record.non_blocking)
        .Write();
  }
  if (ActivitySink* sink = GetActivitySink()) sink->OnStream(record);
}

void WriteTruth(const Operation& operation) {
  if (!TruthWanted()) return;
  TruthLine line("op");
  line.Text("kind", KindName(operation.kind))
      .Number("start", operation.start_ns)
      .Number("end", operation.end_ns)
      .Number("device", operation.device)
      .Number("context", operation.context)
      .Number("stream", operation.stream)
      .Number("correlation", static_cast<std::int64_t>(operation.correlation))
      .Number("graph_id", operation.graph_id)
      .Number("graph_node", static_cast<std::int64_t>(operation.graph_node))
      .Number("tid", gettid());
  if (operation.kind == OperationKind::kKernel) {
    line.Text("name", operation.name)
        .Triple("grid", operation.grid)
        .Triple("block", operation.block)
        .Triple("cluster", operation.cluster)
        .Number("registers", operation.registers)
        .Number("static_shared", operation.static_shared_bytes)
        .Number("dynamic_shared", operation.dynamic_shared_bytes)
        .Number("local", operation.local_bytes);
  } else {
    line.Number("bytes", operation.bytes)
        .Number("copy_kind", operation.copy_kind)
        .Number("src_kind", operation.src_kind)
        .Number("dst_kind", operation.dst_kind)
        .Bool("async", operation.async)
        .Number("src_device", operation.src_device)
        .Number("dst_device", operation.dst_device)
        .Number("value", operation.value);
  }
  line.Write();
}

}  // namespace

int Initialize() {
  if (inside_injection) return kNotInitialized;
  std::lock_guard lock(initialize_mutex);
  if (initialized_by != 0) return RequireInitialized();
  LoadInjection();
  if (ActivitySink* sink = GetActivitySink()) sink->OnInitialized();
  initialized_by = getpid();
  return kSuccess;
}

int RequireInitialized() { return initialized_by == getpid() ? kSuccess : kNotInitialized; }

int DeviceCount() {
  return static_cast<int>(
      std::clamp<std::int64_t>(SettingNumber("FAKE_GPU_COUNT", 1), 0, kMaxDevices));
}

std::string DeviceName() { return SettingText("FAKE_GPU_NAME", "NVIDIA H100 80GB HBM3"); }

std::uint8_t UuidByte(int device, int index) {
  static const auto other = static_cast<unsigned>(SettingNumber("FAKE_GPU_UUID", 0));
  unsigned byte = 0x10u * (static_cast<unsigned>(device) + 1) + static_cast<unsigned>(index);
  if (index == 14) byte += other >> 8;
  if (index == 15) byte += other;
  return static_cast<std::uint8_t>(byte);
}

Context* PrimaryContext(int device) {
  if (device < 0 || device >= DeviceCount()) return nullptr;
  std::lock_guard lock(Gpu().mutex);
  Context& context = Gpu().contexts[static_cast<std::size_t>(device)];
  if (!context.active) {
    context.active = true;
    context.device = static_cast<std::uint32_t>(device);
    context.id = context.device + 1;
    context.default_stream = {kDefaultStreamId, context.device, context.id, 0};
  }
  return &context;
}

bool PrimaryContextActive(int device) {
  if (device < 0 || device >= DeviceCount()) return false;
  std::lock_guard lock(Gpu().mutex);
  return Gpu().contexts[static_cast<std::size_t>(device)].active;
}

Context* CurrentContext() { return current_context; }
void SetCurrentContext(Context* context) { current_context = context; }

Stream* CreateStream(Context* context, const StreamSettings& settings) {
  std::unique_lock lock(Gpu().mutex);
  auto& streams = Gpu().streams;
  const auto id = kFirstStreamId + static_cast<std::uint32_t>(streams.size());
  streams.push_back(std::make_unique<Stream>(Stream{id, context->device, context->id, 0}));
  Stream* created = streams.back().get();
  lock.unlock();
  Tell(
      StreamRecord{context->id, id, settings.priority, settings.non_blocking, CorrelationOfCall()});
  return created;
}

Stream* ResolveStream(const void* handle) {
  // 1 and 2 are cudaStreamLegacy and cudaStreamPerThread.
  if (reinterpret_cast<std::uintptr_t>(handle) > 2) {
    return const_cast<Stream*>(static_cast<const Stream*>(handle));
  }
  return current_context != nullptr ? &current_context->default_stream : nullptr;
}

Event* CreateEvent() {
  std::lock_guard lock(Gpu().mutex);
  return new Event{++Gpu().last_event, 0};
}

void RecordEvent(Event* event, Stream* stream) {
  std::lock_guard lock(Gpu().mutex);
  event->time_ns = std::max(NowNs(), stream->tail_ns);
}

void WaitForEvent(Stream* stream, const Event* event) {
  std::lock_guard lock(Gpu().mutex);
  stream->tail_ns = std::max(stream->tail_ns, event->time_ns);
}

std::int64_t EventTime(const Event* event) {
  std::lock_guard lock(Gpu().mutex);
  return event->time_ns;
}

std::int64_t StreamTail(const Stream* stream) {
  std::lock_guard lock(Gpu().mutex);
  return stream->tail_ns;
}

std::int64_t ContextTail(const Context* context) {
  std::lock_guard lock(Gpu().mutex);
  std::int64_t tail = context->default_stream.tail_ns;
  for (const auto& stream : Gpu().streams) {
    if (stream->context == context->id) tail = std::max(tail, stream->tail_ns);
  }
  return tail;
}

void* Allocate(std::uint64_t bytes, std::uint8_t memory_kind, const Context& context,
               const Stream* stream) {
  std::unique_lock lock(Gpu().mutex);
  const std::uintptr_t address = Gpu().next_address;
  Gpu().next_address += (bytes + 511) / 512 * 512 + 512;
  Gpu().memory[address] = {bytes, {memory_kind, context.device}, context.id};
  lock.unlock();
  Tell(MemoryRecord{false, memory_kind, bytes, address, NowNs(), context.device, context.id,
                    stream != nullptr ? stream->id : ~0u, CorrelationOfCall()});
  return reinterpret_cast<void*>(address);
}

bool Free(void* address, const Stream* stream) {
  std::unique_lock lock(Gpu().mutex);
  const auto found = Gpu().memory.find(reinterpret_cast<std::uintptr_t>(address));
  if (found == Gpu().memory.end()) return false;
  const Block block = found->second;
  const std::uintptr_t freed = found->first;
  Gpu().memory.erase(found);
  lock.unlock();
  Tell(MemoryRecord{true, block.memory.kind, block.bytes, freed, NowNs(), block.memory.device,
                    block.context, stream != nullptr ? stream->id : ~0u, CorrelationOfCall()});
  return true;
}

Memory MemoryAt(const void* address) {
  std::lock_guard lock(Gpu().mutex);
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  auto after = Gpu().memory.upper_bound(at);
  if (after == Gpu().memory.begin()) return {};
  auto block = std::prev(after);
  return at < block->first + block->second.bytes ? block->second.memory : Memory{};
}

std::int64_t Submit(Stream* stream, Operation operation, std::int64_t duration_ns) {
  static const std::int64_t latency_ns = SettingNumber("FAKE_GPU_LATENCY_US", 5) * 1000;
  operation.correlation = CorrelationOfCall();
  operation.device = stream->device;
  operation.context = stream->context;
  operation.stream = stream->id;
  {
    std::lock_guard lock(Gpu().mutex);
    operation.start_ns = std::max(NowNs() + latency_ns, stream->tail_ns);
    operation.end_ns = operation.start_ns + duration_ns;
    stream->tail_ns = operation.end_ns;
  }
  WriteTruth(operation);
  NoteActivity(operation);
  if (ActivitySink* sink = GetActivitySink()) sink->OnOperation(operation);
  return operation.end_ns;
}

std::int64_t CopyDuration(std::int64_t bytes, std::uint8_t src_kind, std::uint8_t dst_kind) {
  constexpr std::uint8_t kPageable = 1, kPinned = 2;
  const bool pageable = src_kind == kPageable || dst_kind == kPageable;
  const bool pinned = src_kind == kPinned || dst_kind == kPinned;
  const std::int64_t bytes_per_us = pageable ? 6'000 : pinned ? 50'000 : 1'500'000;
  return 1'500 + bytes * 1'000 / bytes_per_us;
}

}  // namespace traceinject::fake
