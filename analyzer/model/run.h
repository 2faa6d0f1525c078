// SPDX-License-Identifier: Apache-2.0
// The recording in memory: Run -> Rank -> columns. Everything that analyses or draws reads this and
// nothing else.
//
// Shape: one Rank per recorded process. Events are columns (structure of arrays), sorted by start;
// rows are addressed by dense uint32 indices. Columns whose values lie close together and that no
// inner loop reads are packed (packed_column.h). Names are interned once per Rank
// (`Rank::strings`).
//
// Units and convention: int64 nanoseconds. Times are relative to `Run::base_ns`, the same base for
// all ranks, and intervals are half-open, [start, end). `end == kOpen` means that the end was not
// seen; readers clip it to the end of the rank's window.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/model/index_column.h"
#include "analyzer/model/packed_column.h"
#include "analyzer/model/time_column.h"
#include "analyzer/model/trust.h"
#include "schemas/counters.h"

namespace traceinject {

using TimeNs = std::int64_t;

struct Interval {
  TimeNs start = 0, end = 0;
  bool operator==(const Interval&) const = default;
};

inline constexpr TimeNs kOpen = std::numeric_limits<TimeNs>::max();
// "Does not apply" or "unknown" for every uint32 index below.
inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// What a GPU operation is. The values are stored in columns, keep them stable.
enum class OpKind : std::uint8_t { kKernel, kMemcpy, kMemset };

// What a kernel does, by its name (see kernel_class.h). Memcpy and memset operations have their own
// class so that one column serves all operations.
enum class KernelClass : std::uint8_t {
  kComm,
  kMemcpy,
  kMemset,
  kAttentionBackward,
  kAttentionForward,
  kKvCache,
  kMoe,
  kEmbedding,
  kConv,
  kGemm,
  kNorm,
  kSoftmaxLoss,
  kOptimizer,
  kQuant,
  kRope,
  kReduce,
  kSortTopk,
  kDropoutRng,
  kCopyCast,
  kElementwise,
  kTriton,
  kOther,
};

struct Stream {
  int device = 0;                                       // CUDA ordinal in the process
  std::uint32_t context = 0;                            // CUPTI context id
  std::uint32_t stream_id = 0;                          // CUPTI stream id, unique in the context
  std::optional<std::int32_t> priority = std::nullopt;  // the lower the more urgent
  std::uint32_t name = kNone;                           // Rank::strings; given by the program
};

struct KernelShape {
  std::uint32_t name = kNone;  // Rank::strings
  KernelClass kernel_class = KernelClass::kOther;
  std::int32_t grid[3] = {}, block[3] = {}, cluster[3] = {};  // cluster 0: none
  std::int32_t registers = 0;
  std::int64_t static_shared_bytes = 0, dynamic_shared_bytes = 0, local_bytes = 0;
};

// A copy or a memset: what a GPU operation has beside its interval.
struct Transfer {
  std::int64_t bytes = 0;
  std::uint8_t kind = 0;      // CUpti_ActivityMemcpyKind; 0 for a memset
  std::uint8_t src_kind = 0;  // CUpti_ActivityMemoryKind; 0 for a memset
  std::uint8_t dst_kind = 0;
  bool async = false;
  int src_device = -1, dst_device = -1;  // CUDA ordinals of a peer copy, else -1
};

// A node of a CUDA graph that ran.
struct GraphNode {
  std::uint32_t graph_id = 0;  // CUPTI graph id
  std::uint64_t node_id = 0;   // CUPTI graph node id
};

// Kernels, copies and memsets of one device, all streams, sorted by (start, end).
struct GpuOps {
  TimeColumn start, end;
  std::vector<OpKind> kind;
  std::vector<KernelClass> kernel_class;
  // Kernel: index into Rank::shapes; else index into Rank::transfers.
  std::vector<std::uint32_t> detail;
  // Index into Rank::api of the call that launched it; kNone: not found.
  std::vector<std::uint32_t> launch;
  PackedColumn<std::uint32_t> stream;       // index into Rank::streams
  PackedColumn<std::uint64_t> correlation;  // 0: none
  PackedColumn<std::uint32_t>
      graph_node;  // index into Rank::graph_nodes; kNone: launched by itself
  // When operations may have run of which there is no record: merged (see intervals.h). Nothing is
  // known of these times unless another operation ran.
  std::vector<Interval> unrecorded;
  // Of these, when what ran was not to be recorded: those of CaptureGap::planned, as they are on
  // the device, where what was launched in one may run after it. By time.
  std::vector<Interval> planned_gaps;
  std::size_t size() const { return start.size(); }
};

// What NVML told of a device, at TRACEINJECT_TELEMETRY_HZ; -1: unknown. Units as in device_sample.
struct DeviceSamples {
  std::vector<TimeNs> time;
  PackedColumn<std::int32_t> sm_clock_mhz, memory_clock_mhz, power_mw, temperature_c;
  PackedColumn<std::int32_t> throttle_reasons;
  PackedColumn<std::int32_t> sm_utilisation_pct, memory_utilisation_pct;
  PackedColumn<std::int64_t> memory_used_bytes;
  std::size_t size() const { return time.size(); }
};

// The same once a second; -1: unknown. Units as in device_slow_sample.
struct DeviceSlowSamples {
  std::vector<TimeNs> time;
  PackedColumn<std::int32_t> pcie_generation, pcie_width;
  PackedColumn<std::int64_t> pcie_tx_bytes_s, pcie_rx_bytes_s, pcie_replays;
  PackedColumn<std::int64_t> nvlink_tx_bytes, nvlink_rx_bytes;
  PackedColumn<std::int64_t> nvlink_replays, nvlink_recoveries, nvlink_crc_errors;
  PackedColumn<std::int64_t> ecc_corrected, ecc_uncorrected;
  std::size_t size() const { return time.size(); }
};

// PyTorch's allocator on a device, about once a second; -1: unknown. Units as in allocator_sample.
struct AllocatorSamples {
  std::vector<TimeNs> time;
  PackedColumn<std::int64_t> allocated_bytes, reserved_bytes, active_bytes;
  PackedColumn<std::int64_t> peak_allocated_bytes, peak_reserved_bytes, retries, ooms;
  std::size_t size() const { return time.size(); }
};

// As counter_set.source in run_db.sql: CUPTI's samples by the GPU's clock, or NVML's by the host's.
enum class CounterSource : std::uint8_t { kUnknown, kPmSampling, kGpm };

// How sure it is when samples were taken: what was added to their times to have them on the clock
// of the operations, in the middle, by how much that grows per ns, and how far off times may still
// be.
struct CounterClock {
  TimeNs shift = 0;
  double drift = 0;
  TimeNs uncertainty = 0;   // a standard error, and half the bounds where there are no edges
  std::uint32_t edges = 0;  // of activity that were matched; 0: only bounds are known
};

// A run of samples as it was read, while its times are not settled (align_counters.h).
struct CounterRun {
  std::uint32_t first = 0;  // row of its first sample
  std::int64_t gpu_time = 0;
  std::optional<TimeNs> lead;  // as in counter_sample of run_db.sql
  TimeNs lag = 0;
};

// One counter of all samples.
struct CounterColumn {
  CounterId id = CounterId::kCount;
  PackedColumn<std::int32_t> value;  // in the counter's unit (schemas/counters.h); -1: unknown
};

// Hardware counters of the whole device, other processes on it included. Samples lie one behind the
// other: those of `gaps` are missing.
struct CounterSamples {
  CounterSource source = CounterSource::kUnknown;
  TimeNs period_ns = 0;  // the shortest that was asked for
  TimeColumn start, end;
  std::vector<CounterColumn> columns;  // by id
  std::vector<Interval> gaps;          // merged; not what lies in planned gaps of the recording
  CounterClock clock;
  std::vector<CounterRun> runs;  // none once times are settled
  std::size_t size() const { return start.size(); }

  // Null: it was not sampled.
  const CounterColumn* Find(CounterId id) const {
    const auto found = std::find_if(columns.begin(), columns.end(),
                                    [&](const CounterColumn& column) { return column.id == id; });
    return found == columns.end() ? nullptr : &*found;
  }
};

struct Device {
  int ordinal = 0;
  std::string name, uuid, pci_bus_id;
  std::optional<int> sm_count, cc_major, cc_minor, sm_clock_khz, memory_clock_khz, memory_bus_bits;
  std::optional<std::int64_t> memory_bytes, l2_bytes;
  GpuOps ops;
  DeviceSamples samples;
  DeviceSlowSamples slow_samples;
  AllocatorSamples allocator;
  CounterSamples counters;
};

enum class ApiDomain : std::uint8_t { kRuntime = 1, kDriver = 2 };
// As api_name.class in run_db.sql.
enum class ApiClass : std::uint8_t {
  kLaunch = 1,
  kCopy,
  kMemset,
  kSynchronize,
  kEvent,
  kAllocate,
  kGraphLaunch,
  kOther
};

struct ApiName {
  ApiDomain domain = ApiDomain::kRuntime;
  ApiClass api_class = ApiClass::kOther;
  std::string name;
};

struct Thread {
  std::int64_t tid = 0;
  std::string name;  // empty: unknown
};

struct ApiCalls {
  TimeColumn start, end;
  IndexColumn thread;  // index into Rank::threads
  IndexColumn name;    // index into Rank::api_names
  PackedColumn<std::uint64_t> correlation;
  PackedColumn<std::int32_t> result;
  std::size_t size() const { return start.size(); }
};

enum class SyncKind : std::uint8_t {
  kEventRecord = 1,
  kStreamWaitsEvent,
  kHostWaitsEvent,
  kHostWaitsStream
};

struct Syncs {
  TimeColumn start, end;
  IndexColumn thread;
  std::vector<SyncKind> kind;
  std::vector<std::uint32_t> event;   // dense number; kNone
  std::vector<std::uint32_t> stream;  // index into Rank::streams; kNone
  std::size_t size() const { return start.size(); }
};

enum class NvtxKind : std::uint8_t { kPushPop = 1, kStartEnd, kMark };

struct NvtxRanges {
  TimeColumn start, end;  // end == start for marks
  IndexColumn thread;
  std::vector<NvtxKind> kind;
  PackedColumn<std::uint32_t> domain;    // index into Rank::nvtx_domains
  std::vector<std::uint32_t> text;       // Rank::strings; kNone
  PackedColumn<std::uint32_t> category;  // the program's number; kNone
  std::size_t size() const { return start.size(); }
};

// Hash of the communicator of all ranks where a trace does not tell communicators: it is one only
// if all ranks were read and their operations agree.
inline constexpr std::uint64_t kAssumedWorld = 0x776f726c64;

struct Communicator {
  std::uint64_t hash = 0;  // the same on all its ranks
  TimeNs created = std::numeric_limits<TimeNs>::min();
  std::optional<int> size, rank, device;
  std::optional<int> nodes;  // hosts that its ranks are on
  std::string name;          // given by the program; empty: none
};

// How NCCL set a communicator up, from its log.
struct NcclSetup {
  std::uint32_t communicator = kNone;  // index into Rank::communicators; kNone: unknown which
  int rank = 0, size = 0, device = 0;
  std::optional<int> nodes, rings, trees, channels, nvls_channels, p2p_channels;
  std::string network;  // between nodes; empty: not reported
  bool nvls = false;
};

// One way in which it connected a rank with a peer.
struct NcclLink {
  std::uint32_t setup = kNone;  // index into Rank::nccl_setups; kNone: unknown which
  int rank = 0;
  std::optional<int> peer;  // empty: CollNet has none
  bool sends = false;
  std::string transport, detail, network;  // as in nccl_link of run_db.sql; empty: none
  std::optional<int> net_device;
  std::optional<bool> gdrdma;
  int channels = 0;
};

struct Collectives {
  TimeColumn start, end;  // of the call on the host
  IndexColumn thread;
  std::vector<std::uint32_t> function;      // Rank::strings: AllReduce, ...
  std::vector<std::uint32_t> communicator;  // index into Rank::communicators; kNone: unknown
  std::vector<std::int64_t> bytes;          // as collective.bytes in run_db.sql; -1: unknown
  std::vector<std::int32_t> reduction, peer, root;  // -1: none
  // First row of Rank::plans; kNone: NCCL did not tell. Filled by JoinPlans.
  std::vector<std::uint32_t> plan;
  std::size_t size() const { return start.size(); }
};

// How NCCL executed an operation. Those of one operation stand together, the earliest first.
struct CollectivePlans {
  std::vector<std::uint32_t> collective;  // row of Rank::collectives
  std::vector<TimeNs> time;               // when NCCL told, after the launch
  IndexColumn thread;
  std::vector<std::int64_t> sequence;  // -1: not reported
  std::vector<std::int64_t> count;     // elements; bytes where the datatype is kNone
  std::vector<std::uint32_t> datatype, algorithm, protocol;  // Rank::strings; kNone
  std::vector<std::int32_t> channels, warps;                 // -1: not reported
  // Around the launch of its kernel; kOpen: not reported. An end may be kOpen alone.
  std::vector<TimeNs> launch_start, launch_end;
  // Row of Rank::api that launched its kernel; kNone: not found. Filled by JoinPlans.
  std::vector<std::uint32_t> launch;
  std::size_t size() const { return collective.size(); }
};

// As gemm_shape in run_db.sql. Types are cudaDataType and cublasComputeType_t; -1: unknown.
struct GemmShape {
  std::uint32_t function = kNone;  // Rank::strings
  std::int64_t m = 0, n = 0, k = 0, batch = 0;
  bool trans_a = false, trans_b = false;
  int type_a = -1, type_b = -1, type_c = -1, compute_type = -1;
  // Of a convolution as the product that it amounts to: input, weights and output, each moved once;
  // 0: not known. -1: of matrices.
  std::int64_t least_bytes = -1;
  bool is_convolution() const { return least_bytes >= 0; }
  bool operator==(const GemmShape&) const = default;
};

// Calls for GEMMs.
struct Gemms {
  TimeColumn start, end;
  IndexColumn thread;
  std::vector<std::uint32_t> shape;  // index into Rank::gemm_shapes
  std::size_t size() const { return start.size(); }
};

// Allocations and releases of memory through CUDA, as memory_operation in run_db.sql.
struct MemoryOperations {
  std::vector<TimeNs> time;
  std::vector<std::int32_t> device;  // CUDA ordinal
  std::vector<bool> release;
  std::vector<std::uint8_t> memory_kind;  // CUpti_ActivityMemoryKind
  std::vector<std::int64_t> bytes;
  std::vector<std::uint64_t> address;
  std::vector<std::uint64_t> correlation;  // of the call in Rank::api
  std::size_t size() const { return time.size(); }
};

// As attention_shape in run_db.sql; -1: unknown.
struct AttentionShape {
  int library = 0;
  std::int64_t batch = -1, heads = -1, kv_heads = -1, query_length = -1, key_length = -1;
  std::int64_t head_size = -1, value_head_size = -1;
  int type = -1, causal = -1;
};

// Attention calls, forward and backward.
struct Attentions {
  TimeColumn start, end;  // end kOpen: not known
  IndexColumn thread;
  std::vector<std::uint32_t> shape;    // index into Rank::attention_shapes
  std::vector<std::uint8_t> backward;  // 1: of the gradients
  std::vector<std::int8_t> gradient;   // 1: of a forward call that can have a backward; -1: unknown
  std::size_t size() const { return start.size(); }
};

// A torch.utils.data.DataLoader that the program iterated over.
struct DataLoader {
  int workers = 0;
  bool pin_memory = false, persistent_workers = false;
  std::optional<int> prefetch_factor, batch_size;
};

// Times that a thread spent in next() of a data loader's iterator.
struct DataWaits {
  TimeColumn start, end;
  IndexColumn thread;
  std::vector<std::uint32_t> loader;  // index into Rank::loaders; kNone: unknown
  std::vector<std::int64_t> batch;    // of this iterator, from 0; -1: unknown
  std::vector<std::int64_t> samples;  // in the batch; -1: unknown
  std::size_t size() const { return start.size(); }
};

// Ends of optimizer steps, on the host.
struct StepMarks {
  std::vector<TimeNs> time;
  IndexColumn thread;
  std::vector<std::uint32_t> optimizer;  // a dense number per optimizer object
  std::size_t size() const { return time.size(); }
};

// As host_span.kind in run_db.sql.
enum class HostSpanKind : std::uint8_t { kCheckpoint = 1, kGarbageCollection, kGpuWait };

// What else kept a thread of the program busy.
struct HostSpans {
  TimeColumn start, end;
  IndexColumn thread;
  std::vector<HostSpanKind> kind;
  std::vector<std::int32_t> detail;  // as in run_db.sql; -1: none
  std::size_t size() const { return start.size(); }
};

// What threads had used up to a moment, cumulative; -1: unknown. A thread's values hold from one of
// its rows to the next.
struct HostSamples {
  std::vector<TimeNs> time;
  PackedColumn<std::uint32_t> thread;  // index into Rank::threads
  PackedColumn<std::int64_t> cpu_ns, runqueue_ns, minor_faults, major_faults;
  PackedColumn<std::int64_t> voluntary_switches, involuntary_switches;
  std::size_t size() const { return time.size(); }
};

// A process that prepares data for this one.
struct Worker {
  std::int64_t pid = 0;
  std::uint32_t loader = kNone;  // index into Rank::loaders; kNone: of none that is known
  TimeNs start = 0, end = kOpen;
};

// What workers had used up to a moment, cumulative where nothing else is said; -1: unknown.
struct WorkerSamples {
  std::vector<TimeNs> time;
  std::vector<std::uint32_t> worker;  // index into Rank::workers
  std::vector<std::int64_t> cpu_ns, read_bytes;
  std::vector<std::int32_t> states;       // looks at its state since the last row
  std::vector<std::int32_t> states_disk;  // of these, how often it waited for storage
  std::size_t size() const { return time.size(); }
};

// A line of the program's Python code at which a function stood; or a function of machine code.
struct CodePlace {
  std::uint32_t function = kNone, file = kNone;  // Rank::strings; kNone: could not be read
  std::int32_t line = 0, first_line = 0;         // first: of the function; 0: unknown
  bool is_native = false;                        // machine code: the file is not its source
  bool is_library = false;                       // of a library, whatever its file is
};

// A stack: its innermost frame, and the stack of its caller.
struct CodeStack {
  std::uint32_t caller = kNone;  // index into Rank::stacks, before this one; kNone: the outermost
  std::uint32_t place = kNone;   // index into Rank::places
  std::uint32_t module = kNone;  // Rank::strings: of which its frame is the call; kNone: of none
};

// As stack_sample.kind in run_db.sql.
enum class StackKind : std::uint8_t { kTimed = 1, kCall, kLaunch, kStall };

// Where threads stood in Python.
struct StackSamples {
  std::vector<TimeNs> time;          // of a call when it began
  IndexColumn thread;                // index into Rank::threads
  std::vector<std::uint32_t> stack;  // index into Rank::stacks; kNone: no Python frame
  std::vector<StackKind> kind;
  std::vector<std::uint64_t> correlation;  // of the call in Rank::api; 0: none
  // Of kTimed: looks that followed and found the same, and the time to the last of them.
  std::vector<std::uint32_t> repeats;
  std::vector<TimeNs> span;
  std::size_t size() const { return time.size(); }
};

// As profiler_range.kind in run_db.sql.
enum class ProfiledKind : std::uint8_t { kOperator = 1, kPythonFunction };

// What the trace of another profiler tells of threads: operators of the framework, functions of
// Python. Apart from NVTX ranges, which the program marks for us.
struct ProfiledRanges {
  TimeColumn start, end;
  IndexColumn thread;  // index into Rank::threads
  std::vector<ProfiledKind> kind;
  std::vector<std::uint32_t> name;           // Rank::strings
  PackedColumn<std::uint32_t> input_shapes;  // Rank::strings: a list in JSON; kNone
  PackedColumn<std::int64_t> sequence;  // autograd's, of a forward operator and its backward; -1
  PackedColumn<std::int32_t> forward_thread;  // of a backward the profiler's number, from 1; 0
  std::size_t size() const { return start.size(); }
};

struct CaptureGap {
  TimeNs start = 0, end = kOpen;
  std::string reason;

  // Nothing was to be recorded then (TRACEINJECT_WINDOW).
  bool planned() const { return reason == "window"; }
  // What was launched then is not recorded: that, or another client of CUPTI had the records.
  bool by_launch() const { return planned() || reason == "other_client" || reason == "proton"; }
  // Nothing completed, although work was launched (TRACEINJECT_STALL).
  bool stalled() const { return reason == "stalled"; }
};

// The same moments on two clocks, by time.
struct ClockPairs {
  std::vector<TimeNs> realtime;   // that of all other times here
  std::vector<TimeNs> monotonic;  // nobody sets it
  std::size_t size() const { return realtime.size(); }
};

struct HealthCounter {
  std::string source, counter;
  std::int64_t value = 0;
  std::string detail;
};

struct SystemFact {
  std::string kind, key, value;
  std::string reason;  // why the value is unknown; empty: it is known
};

struct ProcessFacts {
  std::int64_t pid = 0;
  std::string host, executable, command_line, launcher, cupti_path;
  std::optional<int> local_rank, world_size, local_world_size, restart;
  std::optional<int> driver_version, runtime_version, cupti_version, nccl_version;
};

// One recorded process.
struct Rank {
  std::string path;  // the file it came from
  // Whose trace it is, where it was not recorded by libtraceinject.so: "a PyTorch profiler trace".
  // Such a trace has no health counters. Empty: a recording of ours.
  std::string imported_from;
  int schema_version = 0;
  std::string run_id, tool_version;
  std::optional<int> rank;  // global rank; empty: not a job of ranks
  ProcessFacts process;
  TimeNs start = 0;     // recording began
  TimeNs end = 0;       // recording ended; without a clean end: the last thing seen
  bool closed = false;  // false: killed, or still running
  // How it was put on the clock of its job when its recording was merged with others (process of
  // run_db.sql): what was added to its times, in the middle, and by how much that grows per ns.
  TimeNs clock_shift = 0;
  double clock_drift = 0;
  // Of events that begin here or later some were not read, because only the first ones were asked
  // for; kOpen: all were read.
  TimeNs read_until = kOpen;

  // Of a flight recorder (TRACEINJECT_KEEP_LAST): what ended by then was dropped, all that ended
  // later is here. Of another profiler's trace: it began in the middle of the program, and this is
  // its first launch. Empty: the beginning is here.
  std::optional<TimeNs> kept_from;
  // Correlation ids below this are of calls that began before kept_from.
  std::uint64_t first_kept_call = 0;
  // Of a process that was killed: calls of later ids may not have been stored yet.
  std::uint64_t last_stored_call = std::numeric_limits<std::uint64_t>::max();
  // Ids between the two are of calls in planned gaps. In order.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> calls_in_gaps;

  std::vector<std::string> strings;
  std::vector<Thread> threads;
  std::vector<Stream> streams;
  std::vector<KernelShape> shapes;
  std::vector<Transfer> transfers;
  std::vector<GraphNode> graph_nodes;
  std::vector<ApiName> api_names;
  std::vector<std::string> nvtx_domains;
  std::vector<Communicator> communicators;
  std::vector<NcclSetup> nccl_setups;
  std::vector<NcclLink> nccl_links;

  std::vector<Device> devices;  // those with operations and those the process could see, by ordinal
  ApiCalls api;
  Syncs syncs;
  NvtxRanges nvtx;
  Collectives collectives;
  CollectivePlans plans;
  std::vector<GemmShape> gemm_shapes;
  Gemms gemms;
  MemoryOperations memory;
  std::vector<AttentionShape> attention_shapes;
  Attentions attentions;
  std::vector<DataLoader> loaders;
  DataWaits data_waits;
  StepMarks step_marks;
  HostSpans host_spans;
  HostSamples host_samples;
  std::vector<Worker> workers;
  WorkerSamples worker_samples;
  std::vector<CodePlace> places;
  std::vector<CodeStack> stacks;
  StackSamples stack_samples;
  ProfiledRanges profiled;
  std::vector<CaptureGap> gaps;
  ClockPairs clocks;
  Trust trust;
  std::vector<HealthCounter> health;
  std::vector<SystemFact> facts;

  std::string_view string(std::uint32_t id) const {
    return id == kNone ? std::string_view{} : strings[id];
  }
  // Whether an operation without a call may be so because the recording begins or ends between the
  // two. Without an id nothing says so.
  bool CallIsBeyond(std::uint64_t id) const {
    if (id == 0) return false;
    if (id < first_kept_call || id > last_stored_call) return true;
    const auto gap =
        std::lower_bound(calls_in_gaps.begin(), calls_in_gaps.end(), id,
                         [](const auto& calls, std::uint64_t one) { return calls.second <= one; });
    return gap != calls_in_gaps.end() && gap->first < id;
  }
};

struct Run {
  std::int64_t base_ns =
      0;  // CLOCK_REALTIME of time 0, ns since the epoch: the smallest base of the files
  std::vector<Rank> ranks;         // by (rank, path)
  std::vector<std::string> notes;  // what the reader left out or repaired, in words
};

}  // namespace traceinject
