// SPDX-License-Identifier: Apache-2.0
// A CUDA C++ program that knows no recorder: streams with priorities, copies, memsets, allocations,
// a CUDA graph launched many times, a thread that launches. It writes what it did as JSON, for
// programs.py to hold a recording against.
//
//   plain_cuda RESULT.json return|exit
//
// "exit" leaves by exit(3) from inside, with everything still allocated.
#include <cuda_runtime.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// Outside of the namespace: their names are compared.
__global__ void AddOne(float* data) { data[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
__global__ void Scale(float* data, float by) { data[blockIdx.x * blockDim.x + threadIdx.x] *= by; }
__global__ void InThread(float* data) { data[blockIdx.x * blockDim.x + threadIdx.x] += 2; }
__global__ void GraphFirst(float* data) { data[blockIdx.x * blockDim.x + threadIdx.x] += 3; }
__global__ void GraphSecond(float* data) { data[blockIdx.x * blockDim.x + threadIdx.x] -= 3; }

namespace {

constexpr int kElements = 1 << 20;
constexpr size_t kBytes = kElements * sizeof(float);
constexpr int kBlocks = kElements / 256;
constexpr int kStreams = 3, kRounds = 50, kGraphLaunches = 200, kThreadLaunches = 40,
              kPoolRounds = 20;
constexpr size_t kPoolBytes = 3 << 20;
constexpr int kExitCode = 3;

void Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "plain_cuda: %s: %s\n", what, cudaGetErrorString(error));
  exit(1);
}
#define CHECK(call) Check(call, #call)

// What was done, counted where it is done.
struct Count {
  long calls = 0;
  long long bytes = 0;
  void Add(size_t more) { ++calls, bytes += static_cast<long long>(more); }
};
struct Done {
  long add_one = 0, scale = 0, in_thread = 0;
  Count host_to_device, device_to_host, device_to_device, set;
  Count malloc, malloc_async;
  long free = 0, free_async = 0;
  long thread_id = 0;
  int priorities[kStreams] = {};
} done;

float* Allocate() {
  float* data = nullptr;
  CHECK(cudaMalloc(&data, kBytes));
  done.malloc.Add(kBytes);
  return data;
}

void Free(float* data) {
  CHECK(cudaFree(data));
  ++done.free;
}

void CopiesAndSets(float* device, float* other, float* pinned, cudaStream_t stream) {
  std::vector<float> pageable(1024, 1.0f);
  const size_t small = pageable.size() * sizeof(float);
  for (int i = 0; i < kRounds; ++i) {
    CHECK(cudaMemcpyAsync(device, pinned, kBytes, cudaMemcpyHostToDevice, stream));
    done.host_to_device.Add(kBytes);
    CHECK(cudaMemcpyAsync(other, device, kBytes / 2, cudaMemcpyDeviceToDevice, stream));
    done.device_to_device.Add(kBytes / 2);
    CHECK(cudaMemsetAsync(other, 0, kBytes / 4, stream));
    done.set.Add(kBytes / 4);
    CHECK(cudaMemcpyAsync(pinned, device, kBytes, cudaMemcpyDeviceToHost, stream));
    done.device_to_host.Add(kBytes);
  }
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemcpy(device, pageable.data(), small, cudaMemcpyHostToDevice));
  done.host_to_device.Add(small);
  CHECK(cudaMemcpy(pageable.data(), device, small, cudaMemcpyDeviceToHost));
  done.device_to_host.Add(small);
  CHECK(cudaMemset(other, 1, small));
  done.set.Add(small);
}

void Kernels(float* data, cudaStream_t* streams) {
  for (int i = 0; i < kRounds; ++i) {
    for (int s = 0; s < kStreams; ++s) {
      AddOne<<<kBlocks, 256, 0, streams[s]>>>(data);
      ++done.add_one;
      Scale<<<kBlocks, 256, 0, streams[s]>>>(data, 0.5f);
      ++done.scale;
    }
  }
  CHECK(cudaGetLastError());
}

// From the stream's memory pool.
void PoolAllocations(cudaStream_t stream) {
  for (int i = 0; i < kPoolRounds; ++i) {
    void* data = nullptr;
    CHECK(cudaMallocAsync(&data, kPoolBytes, stream));
    done.malloc_async.Add(kPoolBytes);
    CHECK(cudaFreeAsync(data, stream));
    ++done.free_async;
  }
}

// Three kernels, a copy and a memset, launched as one.
void Graph(float* data, float* other, cudaStream_t stream) {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  GraphFirst<<<kBlocks, 256, 0, stream>>>(data);
  GraphSecond<<<kBlocks, 256, 0, stream>>>(data);
  CHECK(cudaMemcpyAsync(other, data, kBytes, cudaMemcpyDeviceToDevice, stream));
  CHECK(cudaMemsetAsync(other, 0, kBytes / 8, stream));
  GraphSecond<<<kBlocks, 256, 0, stream>>>(data);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < kGraphLaunches; ++i) CHECK(cudaGraphLaunch(executable, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(graph));
}

void* LaunchInThread(void* data) {
  done.thread_id = syscall(SYS_gettid);
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  for (int i = 0; i < kThreadLaunches; ++i) {
    InThread<<<kBlocks, 256, 0, stream>>>(static_cast<float*>(data));
    ++done.in_thread;
  }
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaStreamDestroy(stream));
  return nullptr;
}

void WriteCount(FILE* file, const char* name, const Count& count) {
  fprintf(file, "\"%s\": {\"calls\": %ld, \"bytes\": %lld}, ", name, count.calls, count.bytes);
}

void WriteResult(const char* path) {
  FILE* file = fopen(path, "w");
  if (file == nullptr) Check(cudaErrorUnknown, path);
  fprintf(file,
          "{\"kernels\": {\"AddOne\": %ld, \"Scale\": %ld, \"InThread\": %ld, \"GraphFirst\": %d, "
          "\"GraphSecond\": %d}, ",
          done.add_one, done.scale, done.in_thread, kGraphLaunches, 2 * kGraphLaunches);
  WriteCount(file, "host_to_device", done.host_to_device);
  WriteCount(file, "device_to_host", done.device_to_host);
  WriteCount(file, "device_to_device", done.device_to_device);
  WriteCount(file, "set", done.set);
  WriteCount(file, "malloc", done.malloc);
  WriteCount(file, "malloc_async", done.malloc_async);
  fprintf(file, "\"free\": %ld, \"free_async\": %ld, ", done.free, done.free_async);
  fprintf(file,
          "\"graph\": {\"launches\": %d, \"nodes\": 5, \"copy_bytes\": %zu, \"set_bytes\": %zu}, ",
          kGraphLaunches, kBytes, kBytes / 8);
  fprintf(file, "\"priorities\": [%d, %d, %d], ", done.priorities[0], done.priorities[1],
          done.priorities[2]);
  fprintf(file, "\"thread\": {\"tid\": %ld, \"launches\": %ld}}\n", done.thread_id, done.in_thread);
  if (fclose(file) != 0) Check(cudaErrorUnknown, path);
}

void LeaveFromInside(const char* result) {
  CHECK(cudaDeviceSynchronize());
  WriteResult(result);
  printf("left from inside\n");
  exit(kExitCode);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    fprintf(stderr, "usage: plain_cuda RESULT.json return|exit\n");
    return 2;
  }
  const bool from_inside = strcmp(arguments[2], "exit") == 0;
  int least = 0, greatest = 0;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t streams[kStreams];
  const int priorities[kStreams] = {least, greatest, least};
  for (int s = 0; s < kStreams; ++s) {
    CHECK(cudaStreamCreateWithPriority(&streams[s], cudaStreamNonBlocking, priorities[s]));
    done.priorities[s] = priorities[s];
  }
  float *data = Allocate(), *other = Allocate(), *threads = Allocate(), *pinned = nullptr;
  CHECK(cudaHostAlloc(&pinned, kBytes, cudaHostAllocDefault));
  memset(pinned, 0, kBytes);

  CopiesAndSets(data, other, pinned, streams[0]);
  pthread_t thread;
  pthread_create(&thread, nullptr, LaunchInThread, threads);
  Kernels(data, streams);
  PoolAllocations(streams[1]);
  pthread_join(thread, nullptr);
  CHECK(cudaDeviceSynchronize());
  Graph(data, other, streams[2]);
  if (from_inside) LeaveFromInside(arguments[1]);

  CHECK(cudaDeviceSynchronize());
  for (float* allocated : {data, other, threads}) Free(allocated);
  CHECK(cudaFreeHost(pinned));
  for (cudaStream_t stream : streams) CHECK(cudaStreamDestroy(stream));
  WriteResult(arguments[1]);
  printf("done\n");
  return 0;
}
