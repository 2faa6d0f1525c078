// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/run_db/run_db_dictionaries.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyzer/import/open/open_recording.h"
#include "analyzer/import/run_db/native_function.h"
#include "analyzer/model/demangle.h"
#include "analyzer/model/kernel_class.h"

namespace traceinject {
namespace {

constexpr std::int64_t kLatestBase_ns = std::int64_t{1} << 62;
constexpr std::int64_t kHighestDevice = 1023;

}  // namespace

// What is needed only while reading.
class RunDbDictionaries::Reader {
 public:
  Reader(RunDbRows& rows, RecordedFile& file, RunDbDictionaries& to)
      : rows_(rows), file_(file), to_(to) {}

  Status Read() {
    using Part = Status (Reader::*)();
    // What is referred to before what refers to it.
    constexpr std::array<Part, 19> kParts = {
        &Reader::ReadMeta,       &Reader::ReadProcesses,       &Reader::ReadDevices,
        &Reader::ReadStrings,    &Reader::ReadThreads,         &Reader::ReadStreams,
        &Reader::ReadShapes,     &Reader::ReadGraphNodes,      &Reader::ReadApiNames,
        &Reader::ReadDomains,    &Reader::ReadCommunicators,   &Reader::ReadLoaders,
        &Reader::ReadGemmShapes, &Reader::ReadAttentionShapes, &Reader::ReadWorkers,
        &Reader::ReadNcclSetups, &Reader::ReadNcclLinks,       &Reader::ReadPlaces,
        &Reader::ReadStacks,
    };
    for (const Part part : kParts) {
      const Status status = (this->*part)();
      if (!status.ok()) return status;
    }
    return Done{};
  }

 private:
  Status ReadMeta() {
    bool has_base = false;
    const Status status = rows_.ForEachRow("meta", "key, value", [&](const SqlRow& row) {
      const std::string_view key = row.text(0);
      if (key == "base_ns") {
        file_.base_ns = row.int64(1);
        has_base = row.type(1) == SQLITE_INTEGER;
      }
      if (key == "tool_version") tool_version_ = row.text(1);
      if (key == "run_id") run_id_ = row.text(1);
      if (key == "closed") closed_ = row.int64(1) != 0;
    });
    if (!status.ok()) return status;
    if (!has_base || file_.base_ns < 0 || file_.base_ns > kLatestBase_ns) {
      return Error{
          fmt::format("{}: the recording has no valid start time (meta.base_ns): its process ended "
                      "while creating it, or the file is damaged",
                      rows_.database().path())};
    }
    return Done{};
  }

  Status ReadProcesses() {
    auto version = rows_.database().Prepare("PRAGMA user_version");
    if (!version.ok()) return Error{version.error()};
    const auto has_version = version.value().Step();
    if (!has_version.ok()) return Error{has_version.error()};
    to_.schema_version = static_cast<int>(version.value().int64(0));
    const Status status = rows_.ForEachRow(
        "process",
        fmt::format(
            "proc, pid, host, rank, local_rank, world_size, local_world_size, restart, start, end, "
            "executable, command_line, launcher, driver_version, runtime_version, cupti_version, "
            "cupti_path, nccl_version{}",
            to_.tells_processes_apart() ? ", tool_version, closed, clock_shift, clock_drift" : ""),
        [&](const SqlRow& row) {
          Rank next;
          next.path = rows_.database().path();
          next.schema_version = to_.schema_version;
          next.run_id = run_id_;
          next.tool_version = tool_version_;
          next.closed = closed_;
          next.process.pid = row.int64(1);
          next.process.host = row.text(2);
          next.rank = row.optional_int(3);
          next.process.local_rank = row.optional_int(4);
          next.process.world_size = row.optional_int(5);
          next.process.local_world_size = row.optional_int(6);
          next.process.restart = row.optional_int(7);
          next.start = IsPlausible(row.int64(8)) ? row.int64(8) : 0;
          // kOpen until Finish(): a process that was killed ends with the last thing seen.
          next.end = row.is_null(9) || !IsPlausible(row.int64(9)) ? kOpen : row.int64(9);
          next.process.executable = row.text(10);
          next.process.command_line = row.text(11);
          next.process.launcher = row.text(12);
          next.process.driver_version = row.optional_int(13);
          next.process.runtime_version = row.optional_int(14);
          next.process.cupti_version = row.optional_int(15);
          next.process.cupti_path = row.text(16);
          next.process.nccl_version = row.optional_int(17);
          if (to_.tells_processes_apart()) ReadMerged(row, 18, next);
          to_.processes.Add(row.int64(0), static_cast<std::uint32_t>(file_.ranks.size()));
          file_.ranks.push_back(std::move(next));
        });
    if (!status.ok()) return status;
    if (file_.ranks.empty()) {
      return Error{fmt::format(
          "{}: the recording contains no process: it ended while the file was being created",
          rows_.database().path())};
    }
    device_index_.resize(file_.ranks.size());
    return Done{};
  }

  // What a merged file tells of a process, from a column on.
  static void ReadMerged(const SqlRow& row, int column, Rank& to) {
    if (!row.is_null(column)) to.tool_version = row.text(column);
    if (!row.is_null(column + 1)) to.closed = row.int64(column + 1) != 0;
    if (IsPlausible(row.int64(column + 2))) to.clock_shift = row.int64(column + 2);
    // One clock that goes twice as fast as another is none.
    if (std::abs(row.real(column + 3)) < 1) to.clock_drift = row.real(column + 3);
  }

  // The index of a device in Rank::devices, made if the driver did not describe it.
  std::uint32_t DeviceIndex(std::uint32_t rank_index, int ordinal) {
    auto& devices = file_.ranks[rank_index].devices;
    const auto [entry, is_new] =
        device_index_[rank_index].try_emplace(ordinal, static_cast<std::uint32_t>(devices.size()));
    if (is_new) devices.emplace_back().ordinal = ordinal;
    return entry->second;
  }

  Status ReadDevices() {
    return rows_.ForEachRow(
        "device",
        "proc, device, name, uuid, pci_bus_id, sm_count, cc_major, cc_minor, sm_clock_khz, "
        "memory_clock_khz, memory_bus_bits, "
        "memory_bytes, l2_bytes",
        [&](const SqlRow& row) {
          const std::uint32_t process = to_.processes.Find(row.int64(0));
          if (process == kNone || row.int64(1) < 0 || row.int64(1) > kHighestDevice) {
            return rows_.Count("device", RowProblem::kNoProcess);
          }
          const std::uint32_t index = DeviceIndex(process, static_cast<int>(row.int64(1)));
          Device& device = file_.ranks[process].devices[index];
          device.name = row.text(2);
          device.uuid = row.text(3);
          device.pci_bus_id = row.text(4);
          device.sm_count = row.optional_int(5);
          device.cc_major = row.optional_int(6);
          device.cc_minor = row.optional_int(7);
          device.sm_clock_khz = row.optional_int(8);
          device.memory_clock_khz = row.optional_int(9);
          device.memory_bus_bits = row.optional_int(10);
          device.memory_bytes = row.optional_int64(11);
          device.l2_bytes = row.optional_int64(12);
        },
        "ORDER BY device");
  }

  // One text may have several ids (see string in run_db.sql); what it names is one thing.
  Status ReadStrings() {
    std::unordered_map<std::string, std::uint32_t> known;
    return rows_.ForEachRow("string", "id, text", [&](const SqlRow& row) {
      const auto [text, is_new] = known.try_emplace(std::string(row.text(1)),
                                                    static_cast<std::uint32_t>(to_.strings.size()));
      if (is_new) to_.strings.push_back(text->first);
      to_.string_ids.Add(row.int64(0), text->second);
    });
  }

  Status ReadThreads() {
    return rows_.ForEachRow("thread", "id, proc, tid, name", [&](const SqlRow& row) {
      const std::uint32_t process = to_.processes.Find(row.int64(1));
      if (process == kNone) return rows_.Count("thread", RowProblem::kNoProcess);
      auto& threads = file_.ranks[process].threads;
      to_.threads.Add(row.int64(0), {process, static_cast<std::uint32_t>(threads.size())});
      const std::uint32_t name = to_.StringOf(row, 3);
      threads.push_back({row.int64(2), name == kNone ? std::string() : to_.strings[name]});
    });
  }

  Status ReadStreams() {
    const bool described = to_.schema_version >= 3;
    return rows_.ForEachRow(
        "stream",
        fmt::format("id, proc, device, context, stream_id{}", described ? ", priority, name" : ""),
        [&](const SqlRow& row) {
          const std::uint32_t process = to_.processes.Find(row.int64(1));
          if (process == kNone || row.int64(2) < 0 || row.int64(2) > kHighestDevice)
            return rows_.Count("stream", RowProblem::kNoProcess);
          const int ordinal = static_cast<int>(row.int64(2));
          auto& streams = file_.ranks[process].streams;
          to_.streams.Add(row.int64(0), {process, static_cast<std::uint32_t>(streams.size()),
                                         DeviceIndex(process, ordinal)});
          streams.push_back({ordinal, static_cast<std::uint32_t>(row.int64(3)),
                             static_cast<std::uint32_t>(row.int64(4))});
          if (!described) return;
          if (const auto priority = row.optional_int(5)) streams.back().priority = *priority;
          streams.back().name = to_.StringOf(row, 6);
        });
  }

  Status ReadShapes() {
    return rows_.ForEachRow(
        "kernel_shape",
        "id, name, grid_x, grid_y, grid_z, block_x, block_y, block_z, cluster_x, "
        "cluster_y, cluster_z, registers, "
        "static_shared_bytes, dynamic_shared_bytes, local_bytes",
        [&](const SqlRow& row) {
          KernelShape shape;
          shape.name = to_.StringOf(row, 1);
          if (shape.name == kNone) rows_.Count("kernel_shape", RowProblem::kNameless);
          shape.kernel_class = ClassOf(shape.name);
          for (int axis = 0; axis < 3; ++axis) {
            shape.grid[axis] = Narrow(row.int64(2 + axis));
            shape.block[axis] = Narrow(row.int64(5 + axis));
            shape.cluster[axis] = Narrow(row.int64(8 + axis));
          }
          shape.registers = Narrow(row.int64(11));
          shape.static_shared_bytes = row.int64(12);
          shape.dynamic_shared_bytes = row.int64(13);
          shape.local_bytes = row.int64(14);
          to_.shape_ids.Add(row.int64(0), static_cast<std::uint32_t>(to_.shapes.size()));
          to_.shapes.push_back(shape);
        });
  }

  // The class of a kernel name, which is demangled in place the first time it is met.
  KernelClass ClassOf(std::uint32_t name) {
    if (name == kNone) return KernelClass::kOther;
    const auto [entry, is_new] = name_class_.try_emplace(name, KernelClass::kOther);
    if (is_new) {
      to_.strings[name] = Demangle(to_.strings[name]);
      entry->second = ClassifyKernel(to_.strings[name]);
    }
    return entry->second;
  }

  Status ReadGraphNodes() {
    return rows_.ForEachRow("graph_node", "id, graph_id, node_id", [&](const SqlRow& row) {
      to_.graph_node_ids.Add(row.int64(0), static_cast<std::uint32_t>(to_.graph_nodes.size()));
      to_.graph_nodes.push_back(
          {static_cast<std::uint32_t>(row.int64(1)), static_cast<std::uint64_t>(row.int64(2))});
    });
  }

  Status ReadApiNames() {
    return rows_.ForEachRow("api_name", "id, domain, name, class", [&](const SqlRow& row) {
      ApiName name;
      name.domain = row.int64(1) == 2 ? ApiDomain::kDriver : ApiDomain::kRuntime;
      name.name = row.text(2);
      const std::int64_t api_class = row.int64(3);
      // A class that a later version of the schema might add is an other call to us.
      if (api_class >= 1 && api_class < static_cast<std::int64_t>(ApiClass::kOther)) {
        name.api_class = static_cast<ApiClass>(api_class);
      }
      to_.api_name_ids.Add(row.int64(0), static_cast<std::uint32_t>(to_.api_names.size()));
      to_.api_names.push_back(std::move(name));
    });
  }

  Status ReadDomains() {
    return rows_.ForEachRow("nvtx_domain", "id, proc, name", [&](const SqlRow& row) {
      const std::uint32_t process = to_.processes.Find(row.int64(1));
      if (process == kNone) return rows_.Count("nvtx_domain", RowProblem::kNoProcess);
      auto& domains = file_.ranks[process].nvtx_domains;
      to_.domains.Add(row.int64(0), {process, static_cast<std::uint32_t>(domains.size())});
      domains.emplace_back(row.text(2));
    });
  }

  Status ReadCommunicators() {
    const bool has_names = to_.schema_version >= 3;
    return rows_.ForEachRow("communicator",
                            has_names ? "id, proc, hash, created, size, rank, device, nodes, name"
                                      : "id, proc, hash, created, size, rank, device",
                            [&](const SqlRow& row) {
                              const std::uint32_t process = to_.processes.Find(row.int64(1));
                              if (process == kNone)
                                return rows_.Count("communicator", RowProblem::kNoProcess);
                              auto& communicators = file_.ranks[process].communicators;
                              to_.communicators.Add(
                                  row.int64(0),
                                  {process, static_cast<std::uint32_t>(communicators.size())});
                              Communicator communicator;
                              communicator.hash = static_cast<std::uint64_t>(row.int64(2));
                              if (!row.is_null(3) && IsPlausible(row.int64(3)))
                                communicator.created = row.int64(3);
                              communicator.size = row.optional_int(4);
                              communicator.rank = row.optional_int(5);
                              communicator.device = row.optional_int(6);
                              if (has_names) {
                                communicator.nodes = row.optional_int(7);
                                communicator.name = row.text(8);
                              }
                              communicators.push_back(communicator);
                            });
  }

  Status ReadLoaders() {
    if (to_.schema_version < 2) return Done{};
    return rows_.ForEachRow(
        "data_loader",
        "id, proc, workers, pin_memory, persistent_workers, prefetch_factor, batch_size",
        [&](const SqlRow& row) {
          const std::uint32_t process = to_.processes.Find(row.int64(1));
          if (process == kNone) return rows_.Count("data_loader", RowProblem::kNoProcess);
          auto& loaders = file_.ranks[process].loaders;
          to_.loaders.Add(row.int64(0), {process, static_cast<std::uint32_t>(loaders.size())});
          DataLoader loader;
          loader.workers = Narrow(row.int64(2));
          loader.pin_memory = row.int64(3) != 0;
          loader.persistent_workers = row.int64(4) != 0;
          loader.prefetch_factor = row.optional_int(5);
          loader.batch_size = row.optional_int(6);
          loaders.push_back(loader);
        });
  }

  Status ReadGemmShapes() {
    if (to_.schema_version < 3) return Done{};
    return rows_.ForEachRow(
        "gemm_shape",
        to_.schema_version < 8
            ? "id, function, m, n, k, batch, trans_a, trans_b, type_a, type_b, type_c, "
              "compute_type, NULL"
            : "id, function, m, n, k, batch, trans_a, trans_b, type_a, type_b, type_c, "
              "compute_type, least_bytes",
        [&](const SqlRow& row) {
          GemmShape shape;
          shape.function = to_.StringOf(row, 1);
          shape.m = row.int64(2);
          shape.n = row.int64(3);
          shape.k = row.int64(4);
          shape.batch = row.int64(5);
          shape.trans_a = row.int64(6) != 0;
          shape.trans_b = row.int64(7) != 0;
          const auto type = [&](int column) { return row.optional_int(column).value_or(-1); };
          shape.type_a = type(8);
          shape.type_b = type(9);
          shape.type_c = type(10);
          shape.compute_type = type(11);
          if (!row.is_null(12)) shape.least_bytes = row.int64(12);
          to_.gemm_shape_ids.Add(row.int64(0), static_cast<std::uint32_t>(to_.gemm_shapes.size()));
          to_.gemm_shapes.push_back(shape);
        });
  }

  Status ReadAttentionShapes() {
    if (to_.schema_version < 3) return Done{};
    return rows_.ForEachRow(
        "attention_shape",
        "id, library, batch, heads, kv_heads, query_length, key_length, head_size, "
        "value_head_size, type, causal",
        [&](const SqlRow& row) {
          AttentionShape shape;
          shape.library = Narrow(row.int64(1));
          int column = 2;
          for (std::int64_t* size :
               {&shape.batch, &shape.heads, &shape.kv_heads, &shape.query_length, &shape.key_length,
                &shape.head_size, &shape.value_head_size}) {
            *size = row.optional_int64(column++).value_or(-1);
          }
          shape.type = row.optional_int(9).value_or(-1);
          shape.causal = row.optional_int(10).value_or(-1);
          to_.attention_shape_ids.Add(row.int64(0),
                                      static_cast<std::uint32_t>(to_.attention_shapes.size()));
          to_.attention_shapes.push_back(shape);
        });
  }

  Status ReadWorkers() {
    if (to_.schema_version < 3) return Done{};
    return rows_.ForEachRow("worker", "id, proc, pid, loader, start, end", [&](const SqlRow& row) {
      const std::uint32_t process = to_.processes.Find(row.int64(1));
      if (process == kNone) return rows_.Count("worker", RowProblem::kNoProcess);
      Worker worker;
      worker.pid = row.int64(2);
      worker.start = row.int64(4);
      TimeNs end = 0;
      if (!rows_.Times("worker", worker.start, 0, end)) return;
      if (!row.is_null(5) && IsPlausible(row.int64(5)))
        worker.end = std::max(worker.start, row.int64(5));
      const Place* loader = row.is_null(3) ? nullptr : to_.loaders.Find(row.int64(3));
      const bool own = loader != nullptr && loader->rank == process;
      if (!row.is_null(3) && !own) rows_.Count("worker", RowProblem::kNoLoader);
      if (own) worker.loader = loader->index;
      auto& workers = file_.ranks[process].workers;
      to_.workers.Add(row.int64(0), {process, static_cast<std::uint32_t>(workers.size())});
      workers.push_back(worker);
    });
  }

  // Empty: NULL, or no such row.
  std::string TextOf(const SqlRow& row, int column) const {
    const std::uint32_t text = to_.StringOf(row, column);
    return text == kNone ? std::string() : to_.strings[text];
  }

  Status ReadNcclSetups() {
    if (to_.schema_version < 3) return Done{};
    return rows_.ForEachRow(
        "nccl_setup",
        "id, proc, communicator, rank, size, device, nodes, network, rings, trees, channels, "
        "nvls_channels, p2p_channels, nvls",
        [&](const SqlRow& row) {
          const std::uint32_t process = to_.processes.Find(row.int64(1));
          if (process == kNone) return rows_.Count("nccl_setup", RowProblem::kNoProcess);
          NcclSetup setup;
          const Place* communicator =
              row.is_null(2) ? nullptr : to_.communicators.Find(row.int64(2));
          const bool own = communicator != nullptr && communicator->rank == process;
          if (!row.is_null(2) && !own) rows_.Count("nccl_setup", RowProblem::kNoCommunicator);
          if (own) setup.communicator = communicator->index;
          setup.rank = Narrow(row.int64(3));
          setup.size = Narrow(row.int64(4));
          setup.device = Narrow(row.int64(5));
          setup.nodes = row.optional_int(6);
          setup.network = TextOf(row, 7);
          setup.rings = row.optional_int(8);
          setup.trees = row.optional_int(9);
          setup.channels = row.optional_int(10);
          setup.nvls_channels = row.optional_int(11);
          setup.p2p_channels = row.optional_int(12);
          setup.nvls = row.int64(13) != 0;
          auto& setups = file_.ranks[process].nccl_setups;
          to_.nccl_setups.Add(row.int64(0), {process, static_cast<std::uint32_t>(setups.size())});
          setups.push_back(std::move(setup));
        });
  }

  Status ReadNcclLinks() {
    if (to_.schema_version < 3) return Done{};
    return rows_.ForEachRow(
        "nccl_link",
        "id, proc, setup, rank, peer, sends, transport, detail, network, net_device, gdrdma, "
        "channels",
        [&](const SqlRow& row) {
          const std::uint32_t process = to_.processes.Find(row.int64(1));
          if (process == kNone) return rows_.Count("nccl_link", RowProblem::kNoProcess);
          NcclLink link;
          const Place* setup = row.is_null(2) ? nullptr : to_.nccl_setups.Find(row.int64(2));
          const bool own = setup != nullptr && setup->rank == process;
          if (!row.is_null(2) && !own) rows_.Count("nccl_link", RowProblem::kNoCommunicator);
          if (own) link.setup = setup->index;
          link.rank = Narrow(row.int64(3));
          link.peer = row.optional_int(4);
          link.sends = row.int64(5) != 0;
          link.transport = TextOf(row, 6);
          link.detail = TextOf(row, 7);
          link.network = TextOf(row, 8);
          link.net_device = row.optional_int(9);
          if (!row.is_null(10)) link.gdrdma = row.int64(10) != 0;
          link.channels = Narrow(row.int64(11));
          file_.ranks[process].nccl_links.push_back(std::move(link));
        });
  }

  Status ReadPlaces() {
    if (to_.schema_version < InfoOf(EventTable::kStackSample).since) return Done{};
    return rows_.ForEachRow(
        "code_place", "id, function, file, line, first_line", [&](const SqlRow& row) {
          const auto line = [&](int column) { return Narrow(row.int64(column)); };
          CodePlace place{to_.StringOf(row, 1), to_.StringOf(row, 2), line(3), line(4)};
          const auto next = static_cast<std::uint32_t>(to_.places.size());
          std::uint32_t at = next;
          if (IsNative(place)) {
            MakeNative(&place);
            at = native_places_.try_emplace({place.function, place.file, place.is_library}, next)
                     .first->second;
          }
          to_.place_ids.Add(row.int64(0), at);
          if (at == next) to_.places.push_back(place);
        });
  }

  // Of Python at least the line is known at which a function begins.
  bool IsNative(const CodePlace& place) const {
    if (place.line != 0 || place.first_line != 0 || place.function == kNone || place.file == kNone)
      return false;
    const std::string_view file = to_.strings[place.file];
    return !file.ends_with(".py") && !file.starts_with('<') && file != "?";
  }

  // Its name as the source has it, in short. What launches a kernel bears the name of that.
  void MakeNative(CodePlace* place) {
    const std::string name = Demangle(to_.strings[place->function]);
    const std::string text = ShortFunction(name);
    place->is_native = true;
    place->is_library = name_class_.contains(place->function) || IsLibraryFunction(text) ||
                        IsLibraryObject(to_.strings[place->file]);
    const auto [known, is_new] =
        native_names_.try_emplace(text, static_cast<std::uint32_t>(to_.strings.size()));
    if (is_new) to_.strings.push_back(text);
    place->function = known->second;
  }

  // A caller that does not come before what it calls is of a damaged file, and could lead in a
  // circle.
  Status ReadStacks() {
    if (to_.schema_version < InfoOf(EventTable::kStackSample).since) return Done{};
    const bool has_modules = to_.schema_version >= kModulesSince;
    return rows_.ForEachRow(
        "stack", has_modules ? "id, parent, place, module" : "id, parent, place",
        [&](const SqlRow& row) {
          CodeStack stack;
          stack.place = to_.place_ids.Find(row.int64(2));
          if (has_modules && !row.is_null(3)) stack.module = to_.StringOf(row, 3);
          if (!row.is_null(1)) stack.caller = to_.stack_ids.Find(row.int64(1));
          if (stack.place == kNone) return rows_.Count("stack", RowProblem::kNoStack);
          if (!row.is_null(1) && stack.caller == kNone) rows_.Count("stack", RowProblem::kNoStack);
          to_.stack_ids.Add(row.int64(0), static_cast<std::uint32_t>(to_.stacks.size()));
          to_.stacks.push_back(stack);
        },
        "ORDER BY id");
  }

  RunDbRows& rows_;
  RecordedFile& file_;
  RunDbDictionaries& to_;

  std::string run_id_, tool_version_;
  bool closed_ = false;
  std::vector<std::map<int, std::uint32_t>>
      device_index_;  // by rank: ordinal -> index into Rank::devices
  std::unordered_map<std::uint32_t, KernelClass> name_class_;    // by string
  std::unordered_map<std::string, std::uint32_t> native_names_;  // of functions, in short
  // By function, file, and whether it is of a library: overloads are one place.
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, std::uint32_t> native_places_;
};

Status RunDbDictionaries::Read(RunDbRows& rows, RecordedFile& file) {
  return Reader(rows, file, *this).Read();
}

}  // namespace traceinject
