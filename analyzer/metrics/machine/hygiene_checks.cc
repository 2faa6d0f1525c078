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
     "results may be wrong: take the card out of service and check the kernel log for Xid errors",
     documents::kMemoryErrors},
    {"data_parallel", "one process for several GPUs", kWarning,
     "use DistributedDataParallel with one process per GPU (torchrun --nproc-per-node N): no "
     "per-step broadcast, and no process has to drive all GPUs",
     documents::kDataParallel},
    {"mixed_gpus", "GPU models", kWarning,
     "use GPUs of one model, or give the slower ones less work: the slowest sets the pace",
     documents::kDdp},
    {"blocking_launches", "CUDA_LAUNCH_BLOCKING", kWarning,
     "unset it: it is for debugging, and makes the host wait for every kernel",
     documents::kTorchCuda},
    {"debug_checks", "TORCH_DISTRIBUTED_DEBUG", kWarning,
     "unset it or use INFO: DETAIL checks every collective across ranks before it is issued",
     documents::kTorchDistributed},
    {"throttled_by_heat", "clocks reduced by thermal or hardware limits", kWarning,
     "check cooling, airflow, power supply and cables; compare nvidia-smi -q -d "
     "TEMPERATURE,PERFORMANCE with a healthy machine",
     documents::kNvmlClocks},
    {"pcie_link", "PCIe link", kWarning,
     "check the card's seating, riser and cables, and bifurcation and link speed in the BIOS: "
     "copies between host and GPU are slower in proportion",
     documents::kNvmlQueries},
    {"nccl_settings", "variables that keep NCCL off a faster path", kWarning,
     "unset them, unless they work around a known fault", documents::kNcclVariables},
    {"nccl_host_memory", "ranks that exchange data through host memory", kWarning,
     "check nvidia-smi topo -m and topo -p2p rw for these GPUs; unset NCCL_P2P_DISABLE, check "
     "NCCL_P2P_LEVEL, turn ACS off",
     documents::kNcclTroubles},
    {"nccl_sockets", "ranks that exchange data through TCP sockets", kWarning,
     "between hosts use InfiniBand or RoCE (unset NCCL_IB_HCA, NCCL_IB_DISABLE and NCCL_NET), on "
     "one host peer-to-peer access or shared memory",
     documents::kNcclTroubles},
    {"nccl_local_network", "ranks of one host that exchange data over a network", kWarning,
     "make sure that containers on one host share /dev/shm and see all its GPUs; unset "
     "NCCL_P2P_DISABLE and NCCL_SHM_DISABLE",
     documents::kNcclTroubles},
    {"nccl_no_gdr", "GPUDirect RDMA", kWarning,
     "load the nvidia-peermem kernel module or use DMA-BUF; put GPU and NIC under one PCIe switch "
     "(NCCL_NET_GDR_LEVEL); turn ACS off",
     documents::kNcclTroubles},
    {"p2p_off", "peer-to-peer access between the GPUs of the host", kWarning,
     "check nvidia-smi topo -p2p rw; turn IOMMU and ACS off in the BIOS; some GPU models do not "
     "support it",
     documents::kNcclTroubles},
    {"nvlink_errors", "NVLink errors", kWarning,
     "have the link checked: transfers were retried, or the link was retrained",
     documents::kNvmlQueries},
    {"numa_wrong", "CPU affinity and the GPU's NUMA node", kWarning,
     "bind the process to its GPU's node (numactl --cpunodebind=N --membind=N): launches and "
     "copies now cross between sockets",
     documents::kTuning},
    {"shared_memory", "size of /dev/shm", kWarning,
     "docker run --shm-size=8g, or --ipc=host: data workers' batches and NCCL's shared-memory "
     "buffers are stored there",
     documents::kNcclTroubles},
    {"locked_memory", "limit on locked memory", kWarning,
     "ulimit -l unlimited, docker run --ulimit memlock=-1: RDMA needs locked memory",
     documents::kNcclTroubles},
    {"throttled_by_power", "clocks reduced by the power limit", kNote,
     "check with nvidia-smi -q -d POWER that the limit is the card's default; many busy cards run "
     "at it",
     documents::kNvmlClocks},
    {"throttled_by_settings", "clocks reduced by settings", kNote,
     "nvidia-smi -rac resets application clocks, -rgc locked clocks", documents::kNvmlClocks},
    {"numa_unbound", "CPU binding of the process", kNote,
     "bind each process to its GPU's node (numactl --cpunodebind=N --membind=N)",
     documents::kTuning},
    {"acs", "PCIe Access Control Services (ACS)", kNote,
     "turn it off in the BIOS or with setpci, unless the platform vendor requires it: "
     "device-to-device traffic is routed through the CPU",
     documents::kNcclTroubles},
    {"nvlink_inactive", "NVLink links", kNote,
     "check nvidia-smi nvlink -s; links may come back after a reboot", documents::kNvmlQueries},
    {"cpu_governor", "CPU frequency governor", kNote,
     "cpupower frequency-set -g performance: launches and data loading depend on the CPU clock",
     documents::kCpuFrequency},
    {"open_files", "limit on open files", kNote,
     "ulimit -n 65536: each tensor passed by a data worker keeps a file open",
     documents::kTorchSharing},
    {"pcie_replays", "PCIe replays", kNote, "frequent replays point to a bad slot, riser or cable",
     documents::kNvmlQueries},
    {"ecc_corrected", "corrected memory errors", kNote,
     "harmless if few; see nvidia-smi -q -d ROW_REMAPPER", documents::kMemoryErrors},
    {"persistence_off", "persistence mode", kNote,
     "nvidia-persistenced, or nvidia-smi -pm 1: avoids reinitializing the GPU for each program",
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

}  // namespace traceinject
