// SPDX-License-Identifier: Apache-2.0
// What the writer thread hands to the database in one transaction: rows of schemas/run_db.sql,
// already decoded and interned. Times are ns relative to the base of the recording. Ids are those
// of the dictionary tables (dense, from 1; 0 stands for NULL).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/rows.h"

namespace traceinject {

struct StringRow {
  std::uint32_t id;
  std::string text;
};
struct ThreadRow {
  std::uint32_t id;
  std::int64_t tid;
  std::uint32_t name;
};
struct StreamRow {
  std::uint32_t id;
  std::uint32_t device, context, stream_id;
  bool has_priority = false;
  std::int32_t priority = 0;
  std::uint32_t flags = 0;  // CUpti_ActivityStreamFlag; 0: unknown
  std::uint32_t name = 0;
};  // replaces the row of that id
struct KernelShapeRow {
  std::uint32_t id, name;
  std::int32_t grid[3], block[3], cluster[3];  // cluster 0: none
  std::int32_t registers, static_shared_bytes, dynamic_shared_bytes;
  std::uint32_t local_bytes;
};
struct GraphNodeRow {
  std::uint32_t id;
  std::uint32_t graph_id;
  std::uint64_t node_id;
};
struct ApiNameRow {
  std::uint32_t id;
  int domain;
  std::uint32_t cbid;
  std::string name;
  int api_class;
};
struct NvtxDomainRow {
  std::uint32_t id;
  std::string name;
};
struct NvtxCategoryRow {
  std::uint32_t domain, category;
  std::string name;
};
struct CommunicatorRow {
  std::uint32_t id;
  std::uint64_t hash;
  std::int64_t created;
  bool created_known;
  int size, rank, device;  // -1: unknown
  std::uint32_t parent;
  int nodes;         // -1: unknown
  std::string name;  // empty: none, or unknown
};
struct NcclSetupRow {
  std::uint32_t id, communicator;
  int rank, size, device;
  int nodes;  // -1: unknown, here and below
  std::uint32_t network;
  int rings, trees, channels, nvls_channels, p2p_channels, p2p_channels_per_peer;
  bool nvls;
};  // replaces the row of that id
struct NcclLinkRow {
  std::uint32_t id, setup;
  int rank, peer;  // peer -1: none
  bool sends;
  std::uint32_t transport, detail, network;
  int net_device, gdrdma, proxy_rank;  // -1: none
  int channels;
};  // replaces the row of that id
struct GemmShapeRow {
  std::uint32_t id, function;
  std::int64_t m, n, k, batch;
  int trans_a, trans_b;
  int type_a, type_b, type_c, compute_type;  // -1: unknown
  std::int64_t least_bytes;                  // -1: of matrices
};
struct AttentionShapeRow {
  std::uint32_t id;
  int library;
  // -1: unknown
  std::int64_t batch, heads, kv_heads, query_length, key_length, head_size, value_head_size;
  int type, causal;
};
struct DataLoaderRow {
  std::uint32_t id;
  std::int64_t workers;
  bool pin_memory, persistent_workers;
  std::int64_t prefetch_factor, batch_size;  // -1: none or unknown
};

struct CodePlaceRow {
  std::uint32_t id, function, file;
  std::int64_t line;
  std::int64_t first_line;  // -1: unknown
};
struct StackRow {
  std::uint32_t id, parent, place;
  std::uint32_t module;  // string id; 0: none
};

struct CounterSetRow {
  std::uint32_t id;
  std::string source, name, chip;  // chip empty: not asked
  std::int64_t period_ns;
};
struct CounterRow {
  std::uint32_t set;
  int position;
  std::string name, unit, metric;
};

struct WorkerRow {
  std::uint32_t id;
  std::int64_t pid;
  std::uint32_t loader;
  std::int64_t start, end;
  bool ended;
};

struct KernelRow {
  std::int64_t start, dur;
  std::uint32_t stream, shape;
  std::uint64_t correlation;
  std::uint32_t graph_node;
};
struct MemcpyRow {
  std::int64_t start, dur;
  std::uint32_t stream;
  std::uint8_t kind, src_kind, dst_kind;
  bool async;
  std::int64_t bytes;
  std::uint64_t correlation;
  std::uint32_t graph_node;
  int src_device, dst_device;  // -1: not a peer copy
};
struct MemsetRow {
  std::int64_t start, dur;
  std::uint32_t stream, value;
  std::uint16_t memory_kind;
  std::int64_t bytes;
  std::uint64_t correlation;
  std::uint32_t graph_node;
};
struct MemoryOperationRow {
  std::int64_t time;
  std::uint32_t device;
  int kind;
  std::uint32_t memory_kind;
  std::int64_t bytes;
  std::uint64_t address;
  std::uint32_t stream;
  bool pool;
  std::uint64_t correlation;
};
struct ApiRow {
  std::int64_t start, dur;
  std::uint32_t thread, name;
  std::uint64_t correlation;
  std::int32_t result;
};
struct SyncRow {
  std::int64_t start, dur;
  std::uint32_t thread;
  int kind;
  std::uint32_t event, stream;
};
struct NvtxRow {
  std::int64_t start, dur;  // dur -1: still open
  std::uint32_t thread;
  int kind;
  std::uint32_t domain, text;
  std::uint32_t category;  // 0: none
  bool has_color;
  std::uint32_t color;
  enum class Payload : std::uint8_t { kNothing, kInteger, kReal, kBlob } payload_type;
  std::int64_t payload_integer;
  double payload_real;
  std::string payload_blob;
  std::uint64_t row;  // != 0: the caller's number for this range: the row stored under it while
                      // open is replaced when it is written again. Numbers of their own, see
                      // row_writer.h: never collides with rows without
};
struct CollectiveRow {
  std::uint64_t id;         // ascending in the order of beginnings; a row may come after later ones
  std::int64_t start, dur;  // dur -1: still open
  std::uint32_t thread, function, communicator;
  std::int64_t bytes;
  int reduction, peer, root;  // -1: none
};
struct CollectivePlanRow {
  std::uint64_t collective;
  std::int64_t time;
  std::uint32_t thread;
  std::int64_t sequence;  // -1: unknown
  std::int64_t count;
  std::uint32_t datatype, algorithm, protocol;
  int channels, warps;  // -1: unknown
  bool has_launch;
  std::int64_t launch_start, launch_dur;  // dur -1: its end was not seen
};
struct GemmRow {
  std::int64_t start, dur;
  std::uint32_t thread, shape;
};
struct AttentionRow {
  std::int64_t start, dur;
  std::uint32_t thread, shape;
  int direction, gradient;  // gradient -1: unknown
};
struct DataWaitRow {
  std::int64_t start, dur;
  std::uint32_t thread, loader;
  std::int64_t batch;    // -1: none
  std::int64_t samples;  // -1: unknown
};
struct StepMarkRow {
  std::int64_t time;
  std::uint32_t thread;
  std::int64_t optimizer;
};
struct HostSpanRow {
  std::int64_t start, dur;
  std::uint32_t thread;
  std::int64_t kind, detail;  // detail -1: none
};
// Samples: -1 is unknown.
struct CounterSampleRow {
  std::int64_t start, dur;
  int device;
  std::uint32_t set;
  std::int64_t samples;
  bool has_gpu_time;
  std::int64_t gpu_time;
  bool is_first;  // since sampling began: lead is known
  std::int64_t lead, lag;
  std::string data;
};
struct AllocatorSampleRow {
  std::int64_t time, device;
  std::int64_t allocated_bytes, reserved_bytes, active_bytes;
  std::int64_t peak_allocated_bytes, peak_reserved_bytes, retries, ooms;
};
struct HostSampleRow {
  std::int64_t time;
  std::uint32_t thread;
  std::int64_t cpu_ns, runqueue_ns, minor_faults, major_faults;
  std::int64_t voluntary_switches, involuntary_switches;
};
struct WorkerSampleRow {
  std::int64_t time;
  std::uint32_t worker;
  std::int64_t cpu_ns, read_bytes;
  int states, states_disk;
};
struct StackSampleRow {
  std::int64_t time;
  std::uint32_t thread, stack;
  int kind;
  bool has_correlation;
  std::uint64_t correlation;
  std::int64_t repeats = 0, span = 0;  // of later samples of the same stack
};
struct ClockPairRow {
  std::int64_t realtime, monotonic, monotonic_raw, boottime, cupti;
  bool has_cupti;
};
struct CaptureGapRow {
  std::int64_t start, dur;  // dur -1: to the end
  std::string reason;
  std::uint64_t row = 0;  // != 0: the caller's number for this gap: replaces the row of that number
};
struct HealthRow {
  std::string source, counter;
  std::int64_t value;
  std::string detail;
};  // replaces the row of that name

struct ProcessRow {
  std::int64_t pid = 0, parent_pid = 0;
  std::string host;
  int rank = -1, local_rank = -1, world_size = -1, local_world_size = -1;  // -1: unknown
  std::string run_id;
  int restart = -1;
  std::int64_t start = 0;
  std::string executable, command_line, working_directory, launcher;
  int driver_version = -1, runtime_version = -1, cupti_version = -1, nccl_version = -1;
  std::string cupti_path;
};

// Ids of dictionary rows that no row refers to any more.
struct UnusedIds {
  std::vector<std::uint32_t> strings, shapes, graph_nodes, gemm_shapes, threads, streams, workers,
      code_places, stacks;
};
// Of those to which rows refer that stayed although older ones and newer ones are removed.
struct KeptIds {
  std::vector<std::uint32_t> strings, threads;
};

// Dictionary rows come first in a transaction, so that no committed row refers to an id that is not
// there.
struct Batch {
  std::vector<StringRow> strings;
  std::vector<ThreadRow> threads;
  std::vector<StreamRow> streams;
  std::vector<KernelShapeRow> shapes;
  std::vector<GraphNodeRow> graph_nodes;
  std::vector<ApiNameRow> api_names;
  std::vector<NvtxDomainRow> nvtx_domains;
  std::vector<NvtxCategoryRow> nvtx_categories;
  std::vector<CommunicatorRow> communicators;
  std::vector<NcclSetupRow> nccl_setups;
  std::vector<NcclLinkRow> nccl_links;
  std::vector<GemmShapeRow> gemm_shapes;
  std::vector<AttentionShapeRow> attention_shapes;
  std::vector<DataLoaderRow> data_loaders;
  std::vector<WorkerRow> workers;
  std::vector<CodePlaceRow> code_places;
  std::vector<StackRow> stacks;
  std::vector<DeviceRow> devices;
  std::vector<CounterSetRow> counter_sets;
  std::vector<CounterRow> counters;
  std::vector<SystemFactRow> facts;

  std::vector<KernelRow> kernels;
  std::vector<MemcpyRow> memcpys;
  std::vector<MemsetRow> memsets;
  std::vector<MemoryOperationRow> memory_operations;
  std::vector<ApiRow> apis;
  std::vector<SyncRow> syncs;
  std::vector<NvtxRow> nvtx;
  std::vector<CollectiveRow> collectives;
  std::vector<CollectivePlanRow> collective_plans;
  std::vector<GemmRow> gemms;
  std::vector<AttentionRow> attentions;
  std::vector<DataWaitRow> data_waits;
  std::vector<StepMarkRow> step_marks;
  std::vector<HostSpanRow> host_spans;
  std::vector<DeviceSampleRow> device_samples;
  std::vector<DeviceSlowSampleRow> device_slow_samples;
  std::vector<CounterSampleRow> counter_samples;
  std::vector<AllocatorSampleRow> allocator_samples;
  std::vector<HostSampleRow> host_samples;
  std::vector<WorkerSampleRow> worker_samples;
  std::vector<StackSampleRow> stack_samples;
  std::vector<ClockPairRow> clock_pairs;
  std::vector<CaptureGapRow> gaps;
  std::vector<HealthRow> health;

  UnusedIds unused;         // to be removed
  std::uint32_t flush = 0;  // of the writer, counted up: what was decoded before it is in the file

  // Present when facts about the process became known or changed: replaces the process row.
  std::vector<ProcessRow> process;
};

}  // namespace traceinject
