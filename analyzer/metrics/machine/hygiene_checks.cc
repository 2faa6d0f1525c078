// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/machine/hygiene_checks.h"

#include <algorithm>
#include <iterator>

#include "analyzer/metrics/gpu/documents.h"

namespace traceinject {
namespace {

constexpr HygieneSeverity kNote = HygieneSeverity::kNote;
constexpr HygieneSeverity kWarning = HygieneSeverity::kWarning;
constexpr HygieneSeverity kFault = HygieneSeverity::kFault;

constexpr HygieneCheck kChecks[] = {
    {"ecc_uncorrected", "uncorrected memory errors", kFault,
     "results may be wrong: take the card out of service and look into the kernel's log for Xid "
     "errors",
     documents::kMemoryErrors},
    {"data_parallel", "one process for several GPUs", kWarning,
     "DistributedDataParallel with a process for each GPU (torchrun --nproc-per-node N): nothing "
     "is "
     "sent at the beginning of a step, and no process has to drive all GPUs",
     documents::kDataParallel},
    {"mixed_gpus", "models of the GPUs", kWarning,
     "GPUs of one model, or less work for the slower ones: the slowest sets the pace of all",
     documents::kDdp},
    {"blocking_launches", "CUDA_LAUNCH_BLOCKING", kWarning,
     "unset it: it is for finding errors, and makes the host wait for each kernel",
     documents::kTorchCuda},
    {"debug_checks", "TORCH_DISTRIBUTED_DEBUG", kWarning,
     "unset it, or INFO: DETAIL checks every collective across ranks before it is issued",
     documents::kTorchDistributed},
    {"throttled_by_heat", "clocks held down by heat or by the board", kWarning,
     "cooling and airflow, power supply and cables of the machine; compare nvidia-smi -q -d "
     "TEMPERATURE,PERFORMANCE with a healthy one",
     documents::kNvmlClocks},
    {"pcie_link", "PCIe link", kWarning,
     "the seat of the card, riser and cables, bifurcation and link speed in the firmware: copies "
     "between host and GPU are slower by as much",
     documents::kNvmlQueries},
    {"nccl_settings", "variables that keep NCCL from a faster way", kWarning,
     "unset them, unless they work around a fault that is known", documents::kNcclVariables},
    {"nccl_host_memory", "ranks that exchange data through memory of the host", kWarning,
     "see what nvidia-smi topo -m and topo -p2p rw say of these GPUs; NCCL_P2P_DISABLE unset, "
     "NCCL_P2P_LEVEL, ACS off",
     documents::kNcclTroubles},
    {"nccl_sockets", "ranks that exchange data through TCP sockets", kWarning,
     "between hosts InfiniBand or RoCE (NCCL_IB_HCA, NCCL_IB_DISABLE and NCCL_NET unset), on one "
     "host peer-to-peer access or shared memory",
     documents::kNcclTroubles},
    {"nccl_local_network", "ranks of one host that exchange data over a network", kWarning,
     "see that containers of one host share /dev/shm and see all its GPUs; NCCL_P2P_DISABLE and "
     "NCCL_SHM_DISABLE unset",
     documents::kNcclTroubles},
    {"nccl_no_gdr", "GPUDirect RDMA", kWarning,
     "the kernel module nvidia-peermem, or DMA-BUF; GPU and adapter below one PCIe switch "
     "(NCCL_NET_GDR_LEVEL); ACS off",
     documents::kNcclTroubles},
    {"p2p_off", "peer-to-peer access between the GPUs of the host", kWarning,
     "nvidia-smi topo -p2p rw; IOMMU and ACS off in the firmware; some models have none",
     documents::kNcclTroubles},
    {"nvlink_errors", "errors of NVLink", kWarning,
     "have the link looked at: transfers were repeated, or it was trained anew",
     documents::kNvmlQueries},
    {"numa_wrong", "processors of the process and NUMA node of its GPU", kWarning,
     "bind the process to the node of its GPU (numactl --cpunodebind=N --membind=N): launches and "
     "copies cross the link between the sockets",
     documents::kTuning},
    {"shared_memory", "size of /dev/shm", kWarning,
     "docker run --shm-size=8g, or --ipc=host: batches of data workers and NCCL's buffers between "
     "ranks lie there",
     documents::kNcclTroubles},
    {"locked_memory", "limit on locked memory", kWarning,
     "ulimit -l unlimited, docker run --ulimit memlock=-1: memory for RDMA is locked",
     documents::kNcclTroubles},
    {"throttled_by_power", "clocks held down by the power limit", kNote,
     "nvidia-smi -q -d POWER: whether the limit is the card's own; many busy cards run at it",
     documents::kNvmlClocks},
    {"throttled_by_settings", "clocks held down by settings", kNote,
     "nvidia-smi -rac takes application clocks back, -rgc locked ones", documents::kNvmlClocks},
    {"numa_unbound", "binding of the process", kNote,
     "bind each process to the node of its GPU (numactl --cpunodebind=N --membind=N)",
     documents::kTuning},
    {"acs", "Access Control Services of PCIe bridges", kNote,
     "off in the firmware or by setpci, unless the maker of the platform wants it on: traffic "
     "between devices goes by way of the processor",
     documents::kNcclTroubles},
    {"nvlink_inactive", "links of NVLink", kNote,
     "nvidia-smi nvlink -s; after a reset of the machine links may come back",
     documents::kNvmlQueries},
    {"cpu_governor", "frequency governor of the processors", kNote,
     "cpupower frequency-set -g performance: launches and data loading run at the clock of the "
     "host",
     documents::kCpuFrequency},
    {"open_files", "limit on open files", kNote,
     "ulimit -n 65536: tensors of data workers each keep a file open", documents::kTorchSharing},
    {"pcie_replays", "repeated transfers of PCIe", kNote,
     "many of them point to a bad slot, riser or cable", documents::kNvmlQueries},
    {"ecc_corrected", "corrected memory errors", kNote,
     "harmless while they are few; see nvidia-smi -q -d ROW_REMAPPER", documents::kMemoryErrors},
    {"persistence_off", "persistence mode", kNote,
     "nvidia-persistenced, or nvidia-smi -pm 1: the driver need not start the card for each "
     "program",
     documents::kPersistence},
};

}  // namespace

std::string_view HygieneSeverityName(HygieneSeverity severity) {
  switch (severity) {
    case HygieneSeverity::kNote:
      return "note";
    case HygieneSeverity::kWarning:
      return "warning";
    case HygieneSeverity::kFault:
      return "fault";
  }
  return "";
}

std::span<const HygieneCheck> HygieneChecks() { return kChecks; }

const HygieneCheck& HygieneCheckNamed(std::string_view name) {
  return *std::find_if(std::begin(kChecks), std::end(kChecks),
                       [&](const HygieneCheck& check) { return check.name == name; });
}

}  // namespace traceinject
