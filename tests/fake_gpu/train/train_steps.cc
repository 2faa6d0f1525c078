// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_gpu/train/train_steps.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/fake_gpu/libraries/nccl_communicator.h"
#include "tests/fake_gpu/simulator/clock.h"
#include "tests/fake_gpu/simulator/program.h"
#include "tests/fake_gpu/simulator/settings.h"
#include "tests/fake_gpu/simulator/simulator.h"
#include "tests/fake_gpu/train/train_nvtx.h"
#include "tests/fake_gpu/train/train_products.h"
#include "tests/fake_gpu/train/train_profiler.h"

extern "C" cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                                          void** arguments, size_t shared_bytes,
                                          cudaStream_t stream);

namespace traceinject::fake {
namespace {

constexpr std::size_t kBufferBytes = 8 << 20;
constexpr int kVictims = 16;

void Require(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "fake_train: %s failed with error %d\n", what, static_cast<int>(result));
  std::exit(9);
}

// Names as a framework's kernels have them; the shapes differ so that each is told apart.
struct NamedKernel {
  const char* name;
  int registers, static_shared_bytes, grid, block, dynamic_shared_bytes;
};
constexpr NamedKernel kMixed[] = {
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1", 168, 0, 528,
     384, 213'000},
    {"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_"
     "T1_",
     16, 0, 4096, 128, 0},
    {"void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, float>(float*, int)", 40, 1024,
     512, 1024, 4096},
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >(float)", 32, 16, 64, 512,
     0},
    {"flash_fwd_kernel", 255, 0, 132, 128, 81'920},
};
// Those of programs that ask for their work in a way that takes longer than it must.
constexpr NamedKernel kFp32[] = {
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_execute",
     168, 0, 528, 384, 0},
    {"ampere_sgemm_128x64_nn", 120, 0, 528, 128, 0},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float> >()", 16, 0,
     4096, 128, 0},
};
constexpr NamedKernel kAttention[] = {
    {"nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_NNT", 168, 0, 132, 384, 213'000},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float> >()", 16, 0,
     4096, 128, 0},
    {"void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, float>(float*, int)", 40, 1024,
     512, 1024, 4096},
    {"nvjet_sm90_tst_192x192_64x3_1x2_h_bz_coopB_NTN", 168, 0, 132, 384, 213'000},
};
constexpr NamedKernel kPointwise[] = {
    {"nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_NNT", 168, 0, 132, 384, 213'000},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float> >()", 16, 0,
     4096, 128, 0},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float> >()", 16, 0,
     4096, 128, 0},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::TanhFunctor<float> >()", 16, 0,
     4096, 128, 0},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::PowFunctor<float> >()", 16, 0,
     4096, 128, 0},
};
// Every second one beside the products.
constexpr NamedKernel kBesideProducts[] = {
    {"void at::native::vectorized_elementwise_kernel<4, at::native::TanhFunctor<float> >()", 16, 0,
     4096, 128, 0},
};

std::span<const NamedKernel> NamesOf(const std::string& work) {
  if (work == "fp32") return kFp32;
  if (work == "attention") return kAttention;
  if (work == "pointwise") return kPointwise;
  if (work == "gemm") return kBesideProducts;
  return kMixed;
}

struct Kernels {
  std::vector<KernelCode> compute;
  KernelCode all_reduce, send_recv, optimizer, stalling;

  Kernels(std::span<const NamedKernel> names, int kernel_us, int stall_ms = 0) {
    // Half to one and a half times the mean, so that kernels are told apart by their length too.
    int part = 0;
    for (const NamedKernel& named : names) {
      const std::int64_t duration_ns = std::int64_t{kernel_us} * (500 + 250 * part++);
      compute.push_back({KernelCode::kMagic, named.name, duration_ns, named.registers,
                         named.static_shared_bytes, named.registers == 255 ? 64u : 0u});
    }
    all_reduce.name = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
    send_recv.name = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";
    all_reduce.duration_ns = send_recv.duration_ns = std::int64_t{kernel_us} * 2'000;
    all_reduce.registers = send_recv.registers = 96;
    stalling = all_reduce;
    constexpr std::int64_t kForEverNs = 1'000'000'000'000'000;  // days
    stalling.duration_ns = stall_ms > 0 ? std::int64_t{stall_ms} * 1'000'000 : kForEverNs;
    optimizer.name = "void at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor<float> >()";
    optimizer.duration_ns = std::int64_t{kernel_us} * 1'000;
  }
};

// What a thread owns on one device.
struct DeviceWork {
  int device = 0;
  std::vector<cudaStream_t> streams;
  cudaEvent_t event = nullptr;
  void* memory = nullptr;
  void* pinned = nullptr;
  std::unique_ptr<NcclCommunicator> communicator, second;
};

std::unique_ptr<NcclCommunicator> MakeCommunicator(const TrainOptions& options, int device,
                                                   const char* name) {
  const int size = static_cast<int>(SettingNumber("WORLD_SIZE", 8));
  const int rank = static_cast<int>(SettingNumber("RANK", 0));
  return std::make_unique<NcclCommunicator>(options.nccl == "new", size, rank, device, name);
}

std::unique_ptr<NcclCommunicator> g_early;

class Player {
 public:
  Player(const TrainOptions& options, int thread)
      : options_(options),
        thread_(thread),
        names_(NamesOf(options.work)),
        kernels_(names_, options.kernel_us, options.stall_ms),
        pageable_(static_cast<std::size_t>(std::max(1, options.pageable_mb)) << 20),
        plain_(""),
        library_("my_lib") {
    for (int device = 0; device < options_.devices; ++device) devices_.push_back(Prepare(device));
    if (options_.work == "gemm") products_.emplace();
    library_.NameCategory(7, "phase");
    BuildGraph();
  }

  ~Player() {
    for (DeviceWork& work : devices_) {
      Require(cudaEventDestroy(work.event), "cudaEventDestroy");
      Require(cudaFree(work.memory), "cudaFree");
      Require(cudaFreeHost(work.pinned), "cudaFreeHost");
      for (cudaStream_t stream : work.streams)
        Require(cudaStreamDestroy(stream), "cudaStreamDestroy");
    }
  }
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  void Play() {
    for (int step = 0; options_.steps < 0 || step < options_.steps; ++step) {
      const std::int64_t begin_ns = NowNs();
      profiler_.BeginStep(step);
      if (options_.nvtx) {
        plain_.Push({.text = "step " + std::to_string(step)}, [&] { Step(step); });
        MarkEndOfStep(step);
      } else {
        Step(step);
      }
      if (options_.steps < 0 && step == 0 && thread_ == 0) {
        std::puts("ready");
        std::fflush(stdout);
      }
      if (step == options_.steps / 2 && thread_ == 0) MidRun();
      profiler_.EndStep(step);
      WriteVictims(step);
      SleepUntil(begin_ns + std::int64_t{options_.step_us} * 1'000);
    }
    if (prefetch_) library_.End(*prefetch_);
    if (options_.leave_open) plain_.LeaveOpen({.text = "never popped"});
    if (options_.extra_pop) nvtxRangePop();
    if (options_.long_text > 0) {
      plain_.Mark({.text = std::string(static_cast<std::size_t>(options_.long_text), 'x')});
    }
  }

 private:
  DeviceWork Prepare(int device) {
    DeviceWork work;
    work.device = device;
    Require(cudaSetDevice(device), "cudaSetDevice");
    for (int i = 0; i < options_.streams; ++i) {
      Require(cudaStreamCreateWithPriority(&work.streams.emplace_back(), cudaStreamNonBlocking, -i),
              "cudaStreamCreateWithPriority");
    }
    if (options_.nvtx) NameStreams(work);
    Require(cudaEventCreateWithFlags(&work.event, cudaEventDisableTiming), "cudaEventCreate");
    Require(cudaMalloc(&work.memory, std::max(kBufferBytes, pageable_.size())), "cudaMalloc");
    Require(cudaHostAlloc(&work.pinned, kBufferBytes, 0), "cudaHostAlloc");
    if (!options_.nccl.empty()) {
      work.communicator = g_early != nullptr ? std::move(g_early)
                                             : MakeCommunicator(options_, device, "data_parallel");
      if (options_.nccl_more) work.second = MakeCommunicator(options_, device, nullptr);
    }
    return work;
  }

  void NameStreams(const DeviceWork& work) {
    const std::string device = std::to_string(work.device);
    const auto tell = [](cudaStream_t stream, const std::string& name) {
      TruthLine("stream_name")
          .Number("context", ResolveStream(stream)->context)
          .Number("stream", ResolveStream(stream)->id)
          .Text("name", name)
          .Write();
    };
    nvtxNameCudaStreamA(work.streams.front(), ("compute " + device).c_str());
    tell(work.streams.front(), "compute " + device);
    if (work.streams.size() == 1) return;
    nvtxNameCudaStreamW(work.streams.back(), (L"side " + std::to_wstring(work.device)).c_str());
    tell(work.streams.back(), "side " + device);
  }

  void BuildGraph() {
    graph_.id = 40 + static_cast<std::uint32_t>(thread_);
    for (int i = 0; i < options_.graph; ++i) {
      GraphNode node;
      node.kernel = &kernels_.compute[static_cast<std::size_t>(i) % kernels_.compute.size()];
      node.grid[0] = 8 + i;
      node.block[0] = 64;
      node.node_id = (std::uint64_t{graph_.id} << 32) + static_cast<std::uint64_t>(i) + 1;
      graph_.nodes.push_back(node);
    }
  }

  void Step(int step) {
    DataWait();
    UnnamedWait(step);
    if (options_.nvtx) StartPrefetch();
    for (DeviceWork& work : devices_) {
      Require(cudaSetDevice(work.device), "cudaSetDevice");
      if (options_.nvtx) {
        library_.Push({.text = "forward",
                       .registered = true,
                       .category = 7,
                       .color = 0xff00ff00,
                       .has_integer = true,
                       .integer = -5 - step},
                      [&] { Submit(work, step); });
      } else {
        Submit(work, step);
      }
    }
    if (options_.peer) PeerCopies();
    for (DeviceWork& work : devices_) Synchronize(work);
  }

  // The host takes so long at its own pace.
  void Work(int us) const {
    if (us > 0) SleepUntil(NowNs() + std::int64_t{us} * 10 * options_.pace);
  }

  void DataWait() {
    if (options_.data_wait_us <= 0) return;
    const auto wait = [this] { Work(options_.data_wait_us); };
    if (options_.nvtx) {
      plain_.Push({.text = "DataLoader wait"}, wait);
    } else {
      wait();
    }
  }

  // What a recording shows of a program that waits and says nothing about it. The truth has it, so
  // that tests can add the records that another source would have made: data waits, checkpoints,
  // pauses.
  void UnnamedWait(int step) {
    const int every = std::max(1, options_.wait_every);
    if (options_.wait_us <= 0 || step % every != every - 1) return;
    const std::int64_t begin_ns = NowNs();
    Work(options_.wait_us);
    if (!TruthWanted()) return;
    TruthLine("wait")
        .Number("start", begin_ns)
        .Number("end", NowNs())
        .Number("step", step)
        .Number("tid", gettid())
        .Write();
  }

  // Spans two steps: started in one, ended in the next.
  void StartPrefetch() {
    if (prefetch_) library_.End(*prefetch_);
    prefetch_ = library_.Start({.text = "prefetch", .color = 0xffff0000});
  }

  void MarkEndOfStep(int step) {
    plain_.Mark({.text = "step done", .wide = true, .has_real = true, .real = 0.5 * step});
    library_.Mark(
        {.text = "statistics",
         .has_bytes = true,
         .bytes = std::string("\x01\x02\x03\x04\x05\x06\x07", 7) + static_cast<char>(step & 0x7f)});
  }

  void Submit(DeviceWork& work, int step) {
    const int every = options_.evaluate_every;
    if (every > 0 && step % every == every - 1) {
      for (int i = 0; i < 3 * options_.kernels; ++i) LaunchKernel(work, i);
    }
    if (options_.pageable_mb > 0) CopyPageable(work);
    if (options_.memcpy) Copies(work);
    if (options_.memset) {
      Require(cudaMemsetAsync(work.memory, 0x5a, 4096, work.streams[0]), "cudaMemsetAsync");
    }
    for (int i = 0; i < options_.kernels; ++i) {
      LaunchKernel(work, i);
      if (options_.sync_every > 0 && (i + 1) % options_.sync_every == 0) FetchNumber(work, i);
      Work(options_.host_us);
    }
    if (every > 0) LaunchEx(kernels_.optimizer, work.streams.front(), 0);
    if (options_.alloc) Allocate(work);
    if (options_.events) OrderStreams(work);
    if (options_.cluster) LaunchCluster(work);
    if (options_.graph > 0) {
      Require(cudaGraphLaunch(reinterpret_cast<cudaGraphExec_t>(&graph_), work.streams[0]),
              "cudaGraphLaunch");
    }
    const bool stalls = step + 1 == options_.stall_at;
    if (work.communicator != nullptr) {
      Communicate(work, stalls ? kernels_.stalling : kernels_.all_reduce);
    } else if (stalls) {
      LaunchEx(kernels_.stalling, work.streams.back(), 0);
    }
    if (options_.failing_call) {
      static const int no_kernel[4] = {};
      if (cudaLaunchKernel(no_kernel, 1, 1, nullptr, 0, nullptr) !=
          cudaErrorInvalidDeviceFunction) {
        Require(cudaErrorUnknown, "a call that must fail");
      }
    }
  }

  void LaunchKernel(DeviceWork& work, int index) {
    cudaStream_t stream = work.streams[static_cast<std::size_t>(index) % work.streams.size()];
    if (products_ && index % 2 == 0) return products_->Multiply(stream);
    const std::size_t which = static_cast<std::size_t>(index) % kernels_.compute.size();
    const NamedKernel& named = names_[which];
    const KernelCode* kernel = &kernels_.compute[which];
    const unsigned sizes = options_.work == "mixed" ? 1 + static_cast<unsigned>(index) % 3 : 1;
    const dim3 grid(static_cast<unsigned>(named.grid), sizes, 2),
        block(static_cast<unsigned>(named.block));
    const auto shared_bytes = static_cast<unsigned>(named.dynamic_shared_bytes);
    if (options_.launch == "driver") {
      const auto function = reinterpret_cast<CUfunction>(const_cast<KernelCode*>(kernel));
      Require(static_cast<cudaError_t>(cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x,
                                                      block.y, block.z, shared_bytes, stream,
                                                      nullptr, nullptr)),
              "cuLaunchKernel");
    } else if (options_.launch == "symbol13") {
      const auto handle = reinterpret_cast<cudaKernel_t>(const_cast<KernelCode*>(kernel));
      Require(__cudaLaunchKernel(handle, grid, block, nullptr, shared_bytes, stream),
              "__cudaLaunchKernel");
    } else {
      Require(cudaLaunchKernel(kernel, grid, block, nullptr, shared_bytes, stream),
              "cudaLaunchKernel");
    }
  }

  // By cuLaunchKernelEx, as NCCL launches.
  void LaunchEx(const KernelCode& kernel, cudaStream_t stream, unsigned cluster) {
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim = {cluster, 1, 1};
    const CUlaunchConfig config = {24, 1, 1,      544,        1,
                                   1,  0, stream, &attribute, cluster > 0 ? 1u : 0u};
    const auto function = reinterpret_cast<CUfunction>(const_cast<KernelCode*>(&kernel));
    Require(static_cast<cudaError_t>(cuLaunchKernelEx(&config, function, nullptr, nullptr)),
            "cuLaunchKernelEx");
  }

  void LaunchCluster(DeviceWork& work) { LaunchEx(kernels_.compute[0], work.streams[0], 2); }

  void Copies(DeviceWork& work) {
    cudaStream_t stream = work.streams.back();
    Require(cudaMemcpyAsync(work.memory, work.pinned, 4 << 20, cudaMemcpyHostToDevice, stream),
            "cudaMemcpyAsync");
    Require(cudaMemcpyAsync(work.memory, pageable_.data(), pageable_.size(), cudaMemcpyHostToDevice,
                            stream),
            "cudaMemcpyAsync");
    Require(cudaMemcpyAsync(static_cast<char*>(work.memory) + (1 << 20), work.memory, 65'536,
                            cudaMemcpyDeviceToDevice, stream),
            "cudaMemcpyAsync");
    Require(cudaMemcpyAsync(work.pinned, work.memory, 1'000, cudaMemcpyDeviceToHost, stream),
            "cudaMemcpyAsync");
    Require(cudaMemcpy(pageable_.data(), work.memory, 12'345, cudaMemcpyDeviceToHost),
            "cudaMemcpy");
  }

  // As tensor.to(device) does with a batch in pageable memory.
  void CopyPageable(DeviceWork& work) {
    Require(cudaMemcpyAsync(work.memory, pageable_.data(), pageable_.size(), cudaMemcpyHostToDevice,
                            work.streams[0]),
            "cudaMemcpyAsync");
    Require(cudaStreamSynchronize(work.streams[0]), "cudaStreamSynchronize");
  }

  // As tensor.item() does, after the kernel of this index.
  void FetchNumber(DeviceWork& work, int index) {
    cudaStream_t stream = work.streams[static_cast<std::size_t>(index) % work.streams.size()];
    Work(options_.fetch_us / 2);
    Require(cudaMemcpyAsync(pageable_.data(), work.memory, 4, cudaMemcpyDeviceToHost, stream),
            "cudaMemcpyAsync");
    Require(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    Work(options_.fetch_us / 2);
  }

  void Allocate(DeviceWork& work) {
    void* address = nullptr;
    Require(cudaMalloc(&address, 1 << 16), "cudaMalloc");
    Require(cudaFree(address), "cudaFree");
    Require(cudaMallocAsync(&address, 1 << 12, work.streams.front()), "cudaMallocAsync");
    Require(cudaFreeAsync(address, work.streams.front()), "cudaFreeAsync");
  }

  void OrderStreams(DeviceWork& work) {
    Require(cudaEventRecord(work.event, work.streams.front()), "cudaEventRecord");
    Require(cudaStreamWaitEvent(work.streams.back(), work.event, 0), "cudaStreamWaitEvent");
    LaunchEx(kernels_.compute[1], work.streams.back(), 0);
    const cudaError_t polled = cudaEventQuery(work.event);
    if (polled != cudaSuccess && polled != cudaErrorNotReady) Require(polled, "cudaEventQuery");
    cudaEvent_t shortlived = nullptr;
    Require(cudaEventCreate(&shortlived), "cudaEventCreate");
    Require(cudaEventRecord(shortlived, work.streams.back()), "cudaEventRecord");
    Require(cudaEventSynchronize(shortlived), "cudaEventSynchronize");
    Require(cudaEventDestroy(shortlived), "cudaEventDestroy");
  }

  void Communicate(DeviceWork& work, const KernelCode& first) {
    NcclCommunicator& group = *work.communicator;
    cudaStream_t stream = work.streams.back();
    const auto launch = [&] { LaunchEx(kernels_.all_reduce, stream, 0); };
    group.AllReduce(32 << 20, 4, [&] { LaunchEx(first, stream, 0); });
    group.AllGather(1 << 20, launch);
    group.ReduceScatter(2 << 20, 0, launch);
    group.Broadcast(4'096, 3, launch);
    group.Reduce(8'192, 1, 2, launch);
    group.Exchange(1 << 18, 5, [&] { LaunchEx(kernels_.send_recv, stream, 0); });
    if (!options_.nccl_more) return;
    group.Fused({4'096, 16 << 20, 4'096}, launch);
    work.second->AllReduce(8 << 20, 0, launch);
    group.Deferred(4 << 20, launch);
    group.Captured(12 << 20, 3);
    work.second->Aborted(6 << 20);
  }

  void PeerCopies() {
    for (const DeviceWork& from : devices_) {
      const DeviceWork& to =
          devices_[(static_cast<std::size_t>(from.device) + 1) % devices_.size()];
      Require(cudaSetDevice(from.device), "cudaSetDevice");
      Require(cudaMemcpyPeerAsync(to.memory, to.device, from.memory, from.device, 1 << 20,
                                  from.streams[0]),
              "cudaMemcpyPeerAsync");
    }
  }

  void Synchronize(DeviceWork& work) {
    if (options_.sync == "none") return;
    Require(cudaSetDevice(work.device), "cudaSetDevice");
    if (options_.sync == "device") {
      Require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    } else if (options_.sync == "stream") {
      for (cudaStream_t stream : work.streams) {
        Require(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
      }
    } else {
      Require(cudaEventRecord(work.event, work.streams[0]), "cudaEventRecord");
      Require(cudaEventSynchronize(work.event), "cudaEventSynchronize");
    }
  }

  void MidRun() {
    if (options_.exec_child) RunChild();
    if (options_.vfork_child) FailToRunChild();
    if (options_.close_range) {
      close_range(3, ~0u, 0);
      if (!options_.victim.empty()) OpenVictims();
    }
  }

  static void RunChild() {
    const pid_t child = fork();
    if (child == 0) {
      execl("/bin/sh", "sh", "-c", "ls /proc/self/fd", nullptr);
      _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) Require(cudaErrorUnknown, "the child");
  }

  // The child shares our memory until it ends, and ends without having become another program.
  static void FailToRunChild() {
    const pid_t child = vfork();
    if (child == 0) {
      execl("/nowhere/program", "program", nullptr);
      _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WEXITSTATUS(status) != 127) Require(cudaErrorUnknown, "the child");
  }

  // Files that get the descriptor numbers that closing everything has freed.
  void OpenVictims() {
    for (int i = 0; i < kVictims; ++i) {
      const std::string path = options_.victim + "." + std::to_string(i);
      victims_.push_back(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0666));
    }
  }

  void WriteVictims(int step) {
    const std::string line = "step " + std::to_string(step) + "\n";
    for (int descriptor : victims_) {
      if (write(descriptor, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
        Require(cudaErrorUnknown, "writing to a file of the program");
      }
    }
  }

  const TrainOptions& options_;
  int thread_;
  TrainProfiler profiler_{thread_ == 0 ? options_.profile : std::string(), options_.profile_unseen,
                          options_.profile_finalize};
  const std::span<const NamedKernel> names_;
  Kernels kernels_;
  std::optional<TrainProducts> products_;
  GraphCode graph_;
  std::vector<char> pageable_;
  NvtxDomain plain_, library_;
  std::optional<NvtxDomain::Started> prefetch_;
  std::vector<DeviceWork> devices_;
  std::vector<int> victims_;
};

}  // namespace

void MakeCommunicatorEarly(const TrainOptions& options) {
  g_early = MakeCommunicator(options, 0, "early");
}

void PlaySteps(const TrainOptions& options, int thread) { Player(options, thread).Play(); }

void PlayOneLaunch(const TrainOptions& options) {
  static const auto* kernels = new Kernels(NamesOf(options.work), options.kernel_us);
  NvtxDomain("").Push({.text = "one launch"}, [] {
    Require(cudaLaunchKernel(&kernels->compute[0], 4, 32, nullptr, 0, nullptr), "cudaLaunchKernel");
  });
}

}  // namespace traceinject::fake
