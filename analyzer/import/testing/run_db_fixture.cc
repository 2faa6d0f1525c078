// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/testing/run_db_fixture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include "schemas/counter_codec.h"
#include "schemas/run_db_sql.h"
#include "schemas/views_sql.h"

namespace traceinject {
namespace {

void Check(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.error());
}

// What a column can be given. Empty optionals become NULL.
void BindValue(Statement& statement, int at, std::int64_t value) { statement.Bind(at, value); }
void BindValue(Statement& statement, int at, const std::string& value) {
  statement.Bind(at, std::string_view(value));
}
template <typename T>
void BindValue(Statement& statement, int at, const std::optional<T>& value) {
  value ? BindValue(statement, at, *value) : statement.BindNull(at);
}

std::optional<std::int64_t> NullIf(std::int64_t value, std::int64_t null_value) {
  return value == null_value ? std::nullopt : std::optional(value);
}

Database Create(const std::string& path) {
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) std::remove((path + suffix).c_str());
  auto database = Database::Open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr, path);
  if (!database.ok()) throw std::runtime_error(database.error());
  return std::move(database).value();
}

}  // namespace

struct RunDbFixture::State {
  explicit State(const std::string& path) : database(Create(path)) {}

  // Inserts one row, or replaces it: `row` is "table VALUES (?, ...)".
  template <typename... Values>
  void Insert(const std::string& row, const Values&... values) {
    auto statement = database.Prepare("INSERT OR REPLACE INTO " + row);
    if (!statement.ok()) throw std::runtime_error(statement.error());
    int at = 0;
    (BindValue(statement.value(), ++at, values), ...);
    const auto step = statement.value().Step();
    if (!step.ok()) throw std::runtime_error(step.error());
  }

  // The id of `key` in a dictionary; `insert(id)` writes the row when it is new.
  template <typename Key, typename InsertRow>
  std::int64_t Intern(std::map<Key, std::int64_t>& ids, const Key& key, InsertRow insert) {
    const auto [entry, is_new] = ids.try_emplace(key, static_cast<std::int64_t>(ids.size()) + 1);
    if (is_new) insert(entry->second);
    return entry->second;
  }

  std::int64_t StringId(const std::string& text) {
    return Intern(strings, text,
                  [&](std::int64_t id) { Insert("string VALUES (?, ?)", id, text); });
  }
  std::int64_t ThreadId(std::int64_t tid) {
    return Intern(threads, tid, [&](std::int64_t id) {
      Insert("thread VALUES (?, 1, ?, ?)", id, tid, StringId(fmt::format("thread-{}", tid)));
    });
  }
  std::int64_t StreamId(int device, std::uint32_t stream) {
    return Intern(streams, std::tuple(device, stream), [&](std::int64_t id) {
      if (!devices.contains(device)) AddDevice({.device = device});
      Insert("stream(id, proc, device, context, stream_id) VALUES (?, 1, ?, ?, ?)", id, device,
             device + 1, stream);
    });
  }
  std::int64_t DomainId(const std::string& name) {
    return Intern(domains, name,
                  [&](std::int64_t id) { Insert("nvtx_domain VALUES (?, 1, ?)", id, name); });
  }
  std::int64_t ShapeId(const Kernel& kernel) {
    const auto& [gx, gy, gz] = kernel.grid;
    const auto& [bx, by, bz] = kernel.block;
    return Intern(shapes, std::tuple(kernel.name, gx, gy, gz, bx, by, bz), [&](std::int64_t id) {
      Insert("kernel_shape VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL, NULL, 32, 0, 0, 0)", id,
             StringId(kernel.name), gx, gy, gz, bx, by, bz);
    });
  }
  std::int64_t ApiNameId(const Api& api) {
    return Intern(api_names, std::tuple(api.name, static_cast<int>(api.api_class)),
                  [&](std::int64_t id) {
                    Insert("api_name VALUES (?, ?, ?, ?, ?)", id, static_cast<int>(api.domain),
                           200 + id, api.name, static_cast<int>(api.api_class));
                  });
  }
  std::int64_t PlaceId(const Frame& frame) {
    return Intern(places, std::tuple(frame.function, frame.file, frame.line), [&](std::int64_t id) {
      Insert("code_place VALUES (?, ?, ?, ?, ?)", id, StringId(frame.function),
             StringId(frame.file), frame.line, frame.first_line);
    });
  }
  // Empty: there is no frame.
  std::optional<std::int64_t> StackId(const std::vector<Frame>& frames) {
    std::optional<std::int64_t> stack;
    for (const Frame& frame : frames) {
      const std::int64_t place = PlaceId(frame);
      const auto module =
          frame.module.empty() ? std::nullopt : std::optional(StringId(frame.module));
      stack = Intern(
          stacks, std::tuple(stack.value_or(0), place, module.value_or(0)),
          [&](std::int64_t id) { Insert("stack VALUES (?, ?, ?, ?)", id, stack, place, module); });
    }
    return stack;
  }
  void AddDevice(const DeviceFacts& device) {
    devices.emplace(device.device, 1);
    const std::string bus = fmt::format("0000:{}:00.0", 10 + device.device);
    Insert("device VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", device.device, device.name,
           device.uuid, bus, device.sm_count, device.cc_major, device.cc_minor, device.sm_clock_khz,
           device.memory_clock_khz, device.memory_bus_bits, device.memory_bytes, device.l2_bytes);
  }

  Database database;
  std::map<std::string, std::int64_t> strings, domains;
  std::map<std::int64_t, std::int64_t> threads, devices;
  std::map<std::tuple<int, std::uint32_t>, std::int64_t> streams;
  std::map<std::tuple<std::string, int, int, int, int, int, int>, std::int64_t> shapes;
  std::map<std::tuple<std::string, int>, std::int64_t> api_names;
  std::map<std::uint32_t, std::int64_t> graph_nodes;
  std::map<std::tuple<std::string, std::string, int>, std::int64_t> places;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::int64_t> stacks;
  std::uint64_t next_correlation = 1;
  std::int64_t communicators = 0, collectives = 0, data_loaders = 0, gemm_shapes = 0, workers = 0,
               counter_sets = 0;
  std::int64_t attention_shapes = 0;
};

RunDbFixture::RunDbFixture(std::string path) : RunDbFixture(std::move(path), Options{}) {}

RunDbFixture::RunDbFixture(std::string path, const Options& options) : path_(std::move(path)) {
  state_ = std::make_unique<State>(path_);
  if (options.write_ahead) Execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0");
  Execute("PRAGMA synchronous = OFF");
  Execute(k_run_db_sql);
  if (options.views) Execute(k_views_sql);
  Execute("BEGIN");
  state_->Insert("meta VALUES ('base_ns', ?)", options.base_ns);
  state_->Insert("meta VALUES ('tool_version', '0.1.0')");
  state_->Insert("meta VALUES ('run_id', ?)", options.run_id);
  if (options.closed) state_->Insert("meta VALUES ('closed', 1)");
  state_->Insert(
      "process (proc, pid, host, rank, local_rank, world_size, run_id, start, end, command_line, "
      "driver_version) "
      "VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, 13000)",
      options.pid, options.host, options.rank, options.local_rank, options.world_size,
      options.run_id, options.start_ns, options.end_ns, options.command_line);
}

RunDbFixture::RunDbFixture(RunDbFixture&&) noexcept = default;

RunDbFixture::~RunDbFixture() {
  // Like Close(), but a destructor must not throw; a test that cares calls Close().
  if (state_ != nullptr)
    sqlite3_exec(state_->database.handle(), "COMMIT", nullptr, nullptr, nullptr);
}

void RunDbFixture::AddDevice(const DeviceFacts& device) { state_->AddDevice(device); }

void RunDbFixture::AddKernel(const Kernel& kernel) {
  std::optional<std::int64_t> node;
  if (kernel.graph_node != 0) {
    node = state_->Intern(state_->graph_nodes, kernel.graph_node, [&](std::int64_t id) {
      state_->Insert("graph_node VALUES (?, 1, ?)", id, kernel.graph_node);
    });
  }
  state_->Insert("kernel VALUES (?, ?, ?, ?, ?, ?)", kernel.start_ns, kernel.dur_ns,
                 state_->StreamId(kernel.device, kernel.stream), state_->ShapeId(kernel),
                 static_cast<std::int64_t>(kernel.correlation), node);
}

void RunDbFixture::AddMemcpy(const Memcpy& copy) {
  state_->Insert("memcpy VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, ?)", copy.start_ns,
                 copy.dur_ns, state_->StreamId(copy.device, copy.stream), copy.kind, copy.src_kind,
                 copy.dst_kind, copy.async ? 1 : 0, copy.bytes,
                 static_cast<std::int64_t>(copy.correlation), NullIf(copy.src_device, -1),
                 NullIf(copy.dst_device, -1));
}

void RunDbFixture::AddMemset(const Memset& memset) {
  state_->Insert("memset VALUES (?, ?, ?, 0, 3, ?, ?, NULL)", memset.start_ns, memset.dur_ns,
                 state_->StreamId(memset.device, memset.stream), memset.bytes,
                 static_cast<std::int64_t>(memset.correlation));
}

std::uint64_t RunDbFixture::AddApi(const Api& api) {
  const std::uint64_t correlation =
      api.correlation != 0 ? api.correlation : state_->next_correlation;
  state_->next_correlation = std::max(state_->next_correlation, correlation + 1);
  state_->Insert("api VALUES (?, ?, ?, ?, ?, ?)", api.start_ns, api.dur_ns,
                 state_->ThreadId(api.tid), state_->ApiNameId(api),
                 static_cast<std::int64_t>(correlation), api.result);
  return correlation;
}

void RunDbFixture::AddSync(const Sync& sync) {
  std::optional<std::int64_t> stream;
  if (sync.stream) stream = state_->StreamId(sync.device, *sync.stream);
  state_->Insert("sync VALUES (?, ?, ?, ?, ?, ?)", sync.start_ns, sync.dur_ns,
                 state_->ThreadId(sync.tid), static_cast<int>(sync.kind), sync.event, stream);
}

void RunDbFixture::AddNvtx(const Nvtx& nvtx) {
  state_->Insert("nvtx VALUES (?, ?, ?, ?, ?, ?, ?, NULL, NULL)", nvtx.start_ns, nvtx.dur_ns,
                 state_->ThreadId(nvtx.tid), static_cast<int>(nvtx.kind),
                 state_->DomainId(nvtx.domain), state_->StringId(nvtx.text), nvtx.category);
}

std::int64_t RunDbFixture::AddCollective(const Collective& collective) {
  state_->Insert("collective VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", ++state_->collectives,
                 collective.start_ns, collective.dur_ns, state_->ThreadId(collective.tid),
                 state_->StringId(collective.function), NullIf(collective.communicator, 0),
                 collective.bytes, collective.reduction, collective.peer, collective.root);
  return state_->collectives;
}

void RunDbFixture::AddPlan(const Plan& plan) {
  const auto text = [&](const std::string& word) {
    return word.empty() ? std::optional<std::int64_t>() : state_->StringId(word);
  };
  state_->Insert("collective_plan VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", plan.collective,
                 plan.time_ns, state_->ThreadId(plan.tid), plan.sequence, plan.count,
                 text(plan.datatype), text(plan.algorithm), text(plan.protocol), plan.channels,
                 plan.warps, plan.launch_start_ns, plan.launch_dur_ns);
}

std::uint32_t RunDbFixture::AddCommunicator(const CommunicatorFacts& communicator) {
  const std::int64_t id = ++state_->communicators;
  state_->Insert("communicator VALUES (?, 1, ?, ?, ?, ?, ?, NULL, ?, ?)", id,
                 static_cast<std::int64_t>(communicator.hash), communicator.created_ns,
                 communicator.size, communicator.rank, communicator.device, communicator.nodes,
                 communicator.name.empty() ? std::optional<std::string>() : communicator.name);
  return static_cast<std::uint32_t>(id);
}

void RunDbFixture::AddMemoryOperation(const MemoryOperation& operation) {
  state_->Insert("memory_operation VALUES (?, 1, ?, ?, ?, ?, ?, NULL, 0, ?)", operation.time_ns,
                 operation.device, operation.release ? 2 : 1, operation.memory_kind,
                 operation.bytes, operation.address, operation.correlation);
}

void RunDbFixture::AddGemm(const Gemm& gemm) {
  const std::int64_t shape = ++state_->gemm_shapes;
  state_->Insert("gemm_shape VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", shape,
                 state_->StringId(gemm.function), gemm.m, gemm.n, gemm.k, gemm.batch, gemm.trans_a,
                 gemm.trans_b, gemm.type_a, gemm.type_b, gemm.type_c, gemm.compute_type,
                 gemm.least_bytes);
  state_->Insert("gemm VALUES (?, ?, ?, ?)", gemm.start_ns, gemm.dur_ns, state_->ThreadId(gemm.tid),
                 shape);
}

void RunDbFixture::AddAttention(const Attention& attention) {
  const std::int64_t shape = ++state_->attention_shapes;
  state_->Insert("attention_shape VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?)", shape, attention.batch,
                 attention.heads, attention.kv_heads, attention.query_length, attention.key_length,
                 attention.head_size, attention.value_head_size, attention.type, attention.causal);
  state_->Insert("attention VALUES (?, ?, ?, ?, ?, ?)", attention.start_ns, attention.dur_ns,
                 state_->ThreadId(attention.tid), shape, attention.direction, attention.gradient);
}

std::uint32_t RunDbFixture::AddDataLoader(const DataLoaderFacts& loader) {
  const std::int64_t id = ++state_->data_loaders;
  state_->Insert("data_loader VALUES (?, 1, ?, ?, ?, ?, ?)", id, loader.workers,
                 loader.pin_memory ? 1 : 0, loader.persistent_workers ? 1 : 0,
                 loader.prefetch_factor, loader.batch_size);
  return static_cast<std::uint32_t>(id);
}

void RunDbFixture::AddDataWait(const DataWait& wait) {
  state_->Insert("data_wait VALUES (?, ?, ?, ?, ?, ?)", wait.start_ns, wait.dur_ns,
                 state_->ThreadId(wait.tid), NullIf(wait.loader, 0), wait.batch, wait.samples);
}

void RunDbFixture::AddStepMark(const StepMark& mark) {
  state_->Insert("step_mark VALUES (?, ?, ?)", mark.time_ns, state_->ThreadId(mark.tid),
                 mark.optimizer);
}

void RunDbFixture::AddHostSpan(const HostSpan& span) {
  state_->Insert("host_span VALUES (?, ?, ?, ?, ?)", span.start_ns, span.dur_ns,
                 state_->ThreadId(span.tid), static_cast<int>(span.kind), span.detail);
}

void RunDbFixture::AddGap(TimeNs start_ns, std::optional<TimeNs> dur_ns,
                          const std::string& reason) {
  state_->Insert("capture_gap VALUES (?, ?, 1, ?)", start_ns, dur_ns, reason);
}

void RunDbFixture::AddHealth(const std::string& source, const std::string& counter,
                             std::int64_t value, const std::string& detail) {
  state_->Insert("health VALUES (1, ?, ?, ?, ?)", source, counter, value,
                 detail.empty() ? std::nullopt : std::optional(detail));
}

void RunDbFixture::AddFact(const std::string& kind, const std::string& key,
                           const std::string& value) {
  state_->Insert("system_fact VALUES (1, ?, ?, ?, NULL)", kind, key, value);
}

void RunDbFixture::AddUnknownFact(const std::string& kind, const std::string& key,
                                  const std::string& reason) {
  state_->Insert("system_fact VALUES (1, ?, ?, NULL, ?)", kind, key, reason);
}

void RunDbFixture::AddDeviceSample(const DeviceSample& sample) {
  state_->Insert("device_sample VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?)", sample.time_ns,
                 sample.device, sample.sm_clock_mhz, sample.memory_clock_mhz, sample.power_mw,
                 sample.temperature_c, sample.throttle_reasons, sample.sm_utilisation_pct,
                 sample.memory_utilisation_pct, sample.memory_used_bytes);
}

void RunDbFixture::AddAllocatorSample(const AllocatorSample& sample) {
  state_->Insert("allocator_sample VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?)", sample.time_ns,
                 sample.device, sample.allocated_bytes, sample.reserved_bytes, sample.active_bytes,
                 sample.peak_allocated_bytes, sample.peak_reserved_bytes, sample.retries,
                 sample.ooms);
}

std::uint32_t RunDbFixture::AddCounterSet(const std::string& source, TimeNs period_ns,
                                          const std::vector<std::string>& counters) {
  const std::int64_t id = ++state_->counter_sets;
  state_->Insert("counter_set VALUES (?, 1, ?, 'full', 'GH100', ?)", id, source, period_ns);
  std::int64_t position = 0;
  for (const std::string& name : counters)
    state_->Insert("counter VALUES (?, ?, ?, 'permille', 'metric')", id, position++, name);
  return static_cast<std::uint32_t>(id);
}

void RunDbFixture::AddCounterSamples(const CounterSamples& samples) {
  if (!state_->devices.contains(samples.device)) AddDevice({.device = samples.device});
  CounterEncoder encoder(samples.period_ns,
                         samples.values.empty() ? 0 : samples.values.front().size());
  TimeNs start = samples.start_ns;
  for (const std::vector<std::int64_t>& values : samples.values) {
    encoder.Add(start, start + samples.period_ns, values);
    start += samples.period_ns;
  }
  std::string hex;
  for (const char byte : encoder.data())
    hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  state_->Insert("counter_sample VALUES (?, ?, 1, ?, ?, ?, ?, ?, ?, X'" + hex + "')",
                 samples.start_ns, start - samples.start_ns, samples.device,
                 std::int64_t{samples.set}, encoder.samples(), samples.gpu_time, samples.lead_ns,
                 samples.gpu_time ? std::optional(samples.lag_ns) : std::nullopt);
}

void RunDbFixture::AddHostSample(const HostSample& sample) {
  state_->Insert("host_sample VALUES (?, ?, ?, ?, NULL, NULL, NULL, NULL)", sample.time_ns,
                 state_->ThreadId(sample.tid), sample.cpu_ns, sample.runqueue_ns);
}

std::uint32_t RunDbFixture::AddWorker(const WorkerFacts& worker) {
  const std::int64_t id = ++state_->workers;
  state_->Insert("worker VALUES (?, 1, ?, ?, ?, ?)", id, worker.pid, NullIf(worker.loader, 0),
                 worker.start_ns, worker.end_ns);
  return static_cast<std::uint32_t>(id);
}

void RunDbFixture::AddWorkerSample(const WorkerSample& sample) {
  state_->Insert("worker_sample VALUES (?, ?, ?, ?, ?, ?)", sample.time_ns, sample.worker,
                 sample.cpu_ns, sample.read_bytes, sample.states, sample.states_disk);
}

void RunDbFixture::AddStackSample(const StackSample& sample) {
  state_->Insert(
      "stack_sample VALUES (?, ?, ?, ?, ?, ?, ?)", sample.time_ns, state_->ThreadId(sample.tid),
      state_->StackId(sample.frames), static_cast<int>(sample.kind),
      NullIf(static_cast<std::int64_t>(sample.correlation), 0), sample.repeats, sample.span_ns);
}

void RunDbFixture::AddProfilerRange(const ProfilerRange& range) {
  state_->Insert("profiler_range VALUES (?, ?, ?, ?, ?, ?, ?, ?)", range.start_ns, range.dur_ns,
                 state_->ThreadId(range.tid), static_cast<int>(range.kind),
                 state_->StringId(range.name), state_->StringId(range.input_shapes), range.sequence,
                 range.forward_thread);
}

std::uint64_t RunDbFixture::AddLaunchedKernel(Kernel kernel, TimeNs api_start_ns, TimeNs api_dur_ns,
                                              std::int64_t tid) {
  kernel.correlation = AddApi({.start_ns = api_start_ns, .dur_ns = api_dur_ns, .tid = tid});
  AddKernel(kernel);
  return kernel.correlation;
}

void RunDbFixture::Execute(const std::string& sql) { Check(state_->database.Execute(sql)); }

void RunDbFixture::Close() {
  Execute("COMMIT");
  state_.reset();
}

void RunDbFixture::Kill() {
  Execute("COMMIT");
  sqlite3_db_config(state_->database.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  state_.reset();
}

}  // namespace traceinject
