// SPDX-License-Identifier: Apache-2.0
// Builds small run.db files for tests: rows by name instead of by id. For tests only: a failure
// throws std::runtime_error.
//
//   RunDbFixture file(path, {.rank = 0, .world_size = 2});
//   auto call = file.AddApi({.start_ns = 0, .dur_ns = 5'000, .name = "cudaLaunchKernel", .api_class
//   = ApiClass::kLaunch}); file.AddKernel({.start_ns = 10'000, .dur_ns = 50'000, .name = "gemm",
//   .correlation = call}); file.Close();
//
// Times are ns relative to base_ns, as in run_db.sql; rows are stored in the order of the calls.
// Dictionaries fill themselves.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/common/sqlite.h"
#include "analyzer/model/run.h"

namespace traceinject {

class RunDbFixture {
 public:
  struct Options {
    std::int64_t base_ns = 1'700'000'000'000'000'000;
    std::string run_id = "job-1";
    std::string host = "node-a";
    std::int64_t pid = 4242;
    std::optional<int> rank = std::nullopt, local_rank = std::nullopt, world_size = std::nullopt;
    std::int64_t start_ns = 0;
    std::optional<std::int64_t> end_ns = std::nullopt;  // empty: as if the process had been killed
    bool closed = true;                                 // meta.closed
    std::string command_line = "python train.py";
    bool views = false;  // also create schemas/views.sql
    bool write_ahead =
        false;  // journal_mode=WAL, as during capture; else the file is as after a clean exit
  };
  struct DeviceFacts {
    int device = 0;
    std::string name = "NVIDIA H200";
    std::string uuid = "GPU-00000000-0000-0000-0000-000000000000";
    int sm_count = 132, cc_major = 9, cc_minor = 0, sm_clock_khz = 1'980'000,
        memory_clock_khz = 3'201'000, memory_bus_bits = 6144;
    std::int64_t memory_bytes = 150'000'000'000, l2_bytes = 62'914'560;
  };
  struct Kernel {
    TimeNs start_ns = 0, dur_ns = 0;
    std::string name = "kernel";
    int device = 0;
    std::uint32_t stream = 7;
    std::uint64_t correlation = 0;
    std::uint32_t graph_node = 0;  // row of graph_node to point at, made when needed; 0: none
    std::int32_t grid[3] = {1, 1, 1}, block[3] = {128, 1, 1};
  };
  struct Memcpy {
    TimeNs start_ns = 0, dur_ns = 0;
    std::int64_t bytes = 0;
    int kind = 1;                    // HtoD
    int src_kind = 2, dst_kind = 3;  // pinned, device
    bool async = true;
    int device = 0;
    std::uint32_t stream = 7;
    std::uint64_t correlation = 0;
    int src_device = -1, dst_device = -1;
  };
  struct Memset {
    TimeNs start_ns = 0, dur_ns = 0;
    std::int64_t bytes = 0;
    int device = 0;
    std::uint32_t stream = 7;
    std::uint64_t correlation = 0;
  };
  struct Api {
    TimeNs start_ns = 0, dur_ns = 0;
    std::string name = "cudaLaunchKernel";
    ApiClass api_class = ApiClass::kLaunch;
    ApiDomain domain = ApiDomain::kRuntime;
    std::int64_t tid = 4242;
    std::uint64_t correlation = 0;  // 0: the next unused one
    int result = 0;
  };
  struct Sync {
    TimeNs start_ns = 0, dur_ns = 0;
    SyncKind kind = SyncKind::kEventRecord;
    std::int64_t tid = 4242;
    std::optional<std::int64_t> event = std::nullopt;
    std::optional<std::uint32_t> stream = std::nullopt;  // on `device`
    int device = 0;
  };
  struct Nvtx {
    TimeNs start_ns = 0;
    std::optional<TimeNs> dur_ns = 0;  // empty: still open
    std::string text = "range";
    NvtxKind kind = NvtxKind::kPushPop;
    std::string domain = {};
    std::int64_t tid = 4242;
    std::optional<std::int64_t> category = std::nullopt;
  };
  struct Collective {
    TimeNs start_ns = 0;
    std::optional<TimeNs> dur_ns = 0;
    std::string function = "AllReduce";
    std::int64_t bytes = 0;
    std::uint32_t communicator = 0;  // from AddCommunicator; 0: unknown
    std::int64_t tid = 4242;
    std::optional<int> reduction = 0, peer = std::nullopt, root = std::nullopt;
  };
  struct Plan {
    std::int64_t collective = 1;  // from AddCollective
    TimeNs time_ns = 0;
    std::int64_t tid = 4242;
    std::optional<std::int64_t> sequence = 0;
    std::int64_t count = 0;
    std::string datatype = "ncclFloat32", algorithm = "RING", protocol = "SIMPLE";
    std::optional<int> channels = 24, warps = 17;
    std::optional<TimeNs> launch_start_ns = std::nullopt, launch_dur_ns = std::nullopt;
  };
  struct Gemm {
    TimeNs start_ns = 0, dur_ns = 0;
    std::string function = "cublasGemmEx";
    std::int64_t m = 1, n = 1, k = 1, batch = 1;
    int trans_a = 0, trans_b = 0;
    std::optional<int> type_a = 14, type_b = 14, type_c = 14, compute_type = 68;
    std::optional<std::int64_t> least_bytes = std::nullopt;
    std::int64_t tid = 4242;
  };
  struct MemoryOperation {
    TimeNs time_ns = 0;
    int device = 0;
    bool release = false;
    int memory_kind = 3;  // CUpti_ActivityMemoryKind: device
    std::int64_t bytes = 0;
    std::int64_t address = 0x1000;
    std::uint64_t correlation = 0;
  };
  struct DataLoaderFacts {
    int workers = 0;
    bool pin_memory = false, persistent_workers = false;
    std::optional<int> prefetch_factor = std::nullopt, batch_size = std::nullopt;
  };
  struct DataWait {
    TimeNs start_ns = 0, dur_ns = 0;
    std::int64_t tid = 4242;
    std::uint32_t loader = 0;  // from AddDataLoader; 0: unknown
    std::optional<std::int64_t> batch = std::nullopt, samples = std::nullopt;
  };
  struct Attention {
    TimeNs start_ns = 0;
    std::optional<TimeNs> dur_ns = 0;  // empty: only the beginning is known
    int direction = 1;
    std::optional<int> gradient = 1;
    // Without a value, unknown.
    std::optional<std::int64_t> batch = 2, heads = 8, kv_heads = 8, query_length = 128,
                                key_length = 128, head_size = 64, value_head_size = 64;
    std::optional<int> type = 14, causal = 0;
    std::int64_t tid = 4242;
  };
  struct StepMark {
    TimeNs time_ns = 0;
    std::int64_t tid = 4242;
    int optimizer = 1;
  };
  struct HostSpan {
    TimeNs start_ns = 0, dur_ns = 0;
    HostSpanKind kind = HostSpanKind::kCheckpoint;
    std::optional<int> detail = std::nullopt;
    std::int64_t tid = 4242;
  };
  // Samples: without a value, unknown.
  struct DeviceSample {
    TimeNs time_ns = 0;
    int device = 0;
    std::optional<int> sm_clock_mhz = std::nullopt, memory_clock_mhz = std::nullopt,
                       power_mw = std::nullopt, temperature_c = std::nullopt,
                       throttle_reasons = std::nullopt, sm_utilisation_pct = std::nullopt,
                       memory_utilisation_pct = std::nullopt;
    std::optional<std::int64_t> memory_used_bytes = std::nullopt;
  };
  struct AllocatorSample {
    TimeNs time_ns = 0;
    int device = 0;
    std::optional<std::int64_t> allocated_bytes = std::nullopt, reserved_bytes = std::nullopt,
                                active_bytes = std::nullopt, peak_allocated_bytes = std::nullopt,
                                peak_reserved_bytes = std::nullopt, retries = std::nullopt,
                                ooms = std::nullopt;
  };
  // A run of samples of one length, one behind the other, of the set that AddCounterSet() made.
  struct CounterSamples {
    TimeNs start_ns = 0;
    int device = 0;
    std::uint32_t set = 1;
    TimeNs period_ns = 1'000'000;
    std::vector<std::vector<std::int64_t>> values = {};  // of each sample, as many as counters
    std::optional<std::int64_t> gpu_time = std::nullopt;
    std::optional<TimeNs> lead_ns = std::nullopt;
    TimeNs lag_ns = 0;
  };
  struct HostSample {
    TimeNs time_ns = 0;
    std::int64_t tid = 4242;
    std::int64_t cpu_ns = 0;
    std::optional<std::int64_t> runqueue_ns = std::nullopt;
  };
  struct WorkerFacts {
    std::int64_t pid = 5000;
    std::uint32_t loader = 0;  // from AddDataLoader; 0: unknown
    TimeNs start_ns = 0;
    std::optional<TimeNs> end_ns = std::nullopt;
  };
  struct WorkerSample {
    TimeNs time_ns = 0;
    std::uint32_t worker = 1;  // from AddWorker
    std::optional<std::int64_t> cpu_ns = std::nullopt, read_bytes = std::nullopt;
    int states = 4, states_disk = 0;
  };
  struct Frame {
    std::string function = "train", file = "train.py";
    int line = 1;
    std::optional<int> first_line = std::nullopt;
    std::string module = {};
  };
  struct StackSample {
    TimeNs time_ns = 0;
    std::vector<Frame> frames = {};  // the outermost first; none: no Python frame
    StackKind kind = StackKind::kTimed;
    std::int64_t tid = 4242;
    std::uint64_t correlation = 0;  // 0: none
    std::optional<int> repeats = std::nullopt;
    std::optional<TimeNs> span_ns = std::nullopt;
  };
  struct ProfilerRange {
    TimeNs start_ns = 0, dur_ns = 10;
    std::string name = "aten::mm";
    ProfiledKind kind = ProfiledKind::kOperator;
    std::int64_t tid = 4242;
    std::string input_shapes = "[[8, 16], [16, 4]]";
    std::optional<std::int64_t> sequence = std::nullopt, forward_thread = std::nullopt;
  };
  struct CommunicatorFacts {
    std::uint64_t hash = 0x1000;
    std::optional<TimeNs> created_ns = 0;
    std::optional<int> size = std::nullopt, rank = std::nullopt, device = std::nullopt;
    std::optional<int> nodes = std::nullopt;
    std::string name = {};
  };

  // Creates `path`, replacing what is there.
  explicit RunDbFixture(std::string path);
  RunDbFixture(std::string path, const Options& options);
  ~RunDbFixture();
  RunDbFixture(RunDbFixture&&) noexcept;

  void AddDevice(const DeviceFacts& device);
  void AddKernel(const Kernel& kernel);
  void AddMemcpy(const Memcpy& copy);
  void AddMemset(const Memset& memset);
  // Returns the correlation id.
  std::uint64_t AddApi(const Api& api);
  void AddSync(const Sync& sync);
  void AddNvtx(const Nvtx& nvtx);
  // Returns the id for Plan::collective.
  std::int64_t AddCollective(const Collective& collective);
  void AddPlan(const Plan& plan);
  // Returns the id for Collective::communicator.
  std::uint32_t AddCommunicator(const CommunicatorFacts& communicator);
  void AddGemm(const Gemm& gemm);
  void AddMemoryOperation(const MemoryOperation& operation);
  void AddAttention(const Attention& attention);
  // Returns the id for DataWait::loader.
  std::uint32_t AddDataLoader(const DataLoaderFacts& loader);
  void AddDataWait(const DataWait& wait);
  void AddStepMark(const StepMark& mark);
  void AddHostSpan(const HostSpan& span);
  void AddGap(TimeNs start_ns, std::optional<TimeNs> dur_ns, const std::string& reason);
  void AddHealth(const std::string& source, const std::string& counter, std::int64_t value,
                 const std::string& detail = "");
  void AddFact(const std::string& kind, const std::string& key, const std::string& value);

  void AddUnknownFact(const std::string& kind, const std::string& key, const std::string& reason);
  void AddDeviceSample(const DeviceSample& sample);
  void AddAllocatorSample(const AllocatorSample& sample);
  // Returns the id for CounterSamples::set. `counters` by name.
  std::uint32_t AddCounterSet(const std::string& source, TimeNs period_ns,
                              const std::vector<std::string>& counters);
  void AddCounterSamples(const CounterSamples& samples);
  void AddHostSample(const HostSample& sample);
  // Returns the id for WorkerSample::worker.
  std::uint32_t AddWorker(const WorkerFacts& worker);
  void AddWorkerSample(const WorkerSample& sample);
  void AddStackSample(const StackSample& sample);
  void AddProfilerRange(const ProfilerRange& range);

  // A launch call of `launch_ns` and the kernel it launched. Returns the correlation id.
  std::uint64_t AddLaunchedKernel(Kernel kernel, TimeNs api_start_ns, TimeNs api_dur_ns,
                                  std::int64_t tid = 4242);

  // Any SQL, to damage the file on purpose.
  void Execute(const std::string& sql);

  // Commits and closes; called by the destructor. No call may follow.
  void Close();
  // Commits and lets go as a killed process does: with write_ahead the -wal stays behind.
  void Kill();

  const std::string& path() const { return path_; }

 private:
  struct State;
  std::string path_;
  std::unique_ptr<State> state_;
};

}  // namespace traceinject
