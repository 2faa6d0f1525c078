// SPDX-License-Identifier: Apache-2.0
// A program in C++ that trains on the fake GPU: `native_program KIND STEPS [PLUGIN]`. Each kernel
// is launched by one function only, so that its name tells which.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "tests/end_to_end/native/launches.h"

KERNEL(embed_kernel, "_Z12embed_kernelPf", 50'000)
KERNEL(attention_kernel, "_Z16attention_kernelPf", 700'000)
KERNEL(adam_kernel, "_Z11adam_kernelPf", 100'000)
KERNEL(generated_kernel, "_Z16generated_kernelPf", 20'000)

namespace model {

NOINLINE void embed(int layers) {
  for (int layer = 0; layer < layers; ++layer) embed_kernel(nullptr);
  NOT_LAST;
}

struct Attention {
  NOINLINE void forward(int layers, const char* name);
};
void Attention::forward(int layers, const char* name) {
  char room[200];
  std::snprintf(room, sizeof room, "%s", name);
  for (int layer = 0; layer < layers; ++layer) attention_kernel(nullptr);
  __asm__ volatile("" : : "r"(room) : "memory");
}

template <typename Value>
NOINLINE void adam(Value) {
  // Realigns the stack, so that its frame is found in another way.
  alignas(64) Value room[64];
  __asm__ volatile("" : : "r"(room) : "memory");
  adam_kernel(nullptr);
  __asm__ volatile("" : : "r"(room) : "memory");
}

NOINLINE void read_loss() {
  cudaStreamSynchronize(nullptr);
  NOT_LAST;
}

NOINLINE void wait_for_all() {
  cudaDeviceSynchronize();
  NOT_LAST;
}

NOINLINE void write_log(int microseconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds);
  while (std::chrono::steady_clock::now() < until) {
  }
}

NOINLINE void step(bool waits) {
  Attention attention;
  embed(2);
  attention.forward(waits ? 1 : 3, "attention");
  adam(1.5F);
  if (!waits) return;
  read_loss();
  write_log(1500);
}

}  // namespace model

namespace {

void Train(bool waits, int steps) {
  for (int i = 0; i < steps; ++i) {
    model::step(waits);
    // Without waits the host is ahead of the device, however busy the machine is.
    if (!waits) usleep(1000);
    if (waits && i % 16 == 15) model::wait_for_all();
  }
}

// Four threads, each with a function of its own.
template <int kNumber>
NOINLINE void thread_work(int steps) {
  const auto* kernel = NewKernel(("thread_kernel_" + std::to_string(kNumber)).c_str(), 100'000);
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  for (int i = 0; i < steps; ++i) {
    Launch(kernel, stream);
    if (i % 4 == 3) cudaStreamSynchronize(stream);
  }
}

void TrainInThreads(int steps) {
  std::thread threads[] = {std::thread(thread_work<0>, steps), std::thread(thread_work<1>, steps),
                           std::thread(thread_work<2>, steps), std::thread(thread_work<3>, steps)};
  for (std::thread& thread : threads) thread.join();
}

// A plug-in comes, works, and goes.
void TrainInPlugin(int steps, const char* path) {
  for (int i = 0; i < steps; ++i) {
    void* const plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    auto* const work =
        plugin == nullptr ? nullptr : reinterpret_cast<void (*)()>(dlsym(plugin, "plugin_work"));
    if (work == nullptr) std::abort();
    work();
    // Its code is looked at some milliseconds after its first call, and not before the first flush,
    // with which sampling begins; one that is gone by then stays unknown.
    if (i == 0) usleep(500'000);
    dlclose(plugin);
    model::step(false);
    model::wait_for_all();
  }
}

// Code that no file has, without frame pointers and unwind tables: `sub rsp, 8; call rdi; add rsp,
// 8; ret`.
NOINLINE void behind_generated() {
  generated_kernel(nullptr);
  NOT_LAST;
}

void TrainInGeneratedCode(int steps) {
  const unsigned char code[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0xc3};
  void* const page =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) std::abort();
  std::memcpy(page, code, sizeof code);
  if (mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0) std::abort();
  const auto call = reinterpret_cast<void (*)(void (*)())>(page);
  for (int i = 0; i < steps; ++i) {
    for (int launch = 0; launch < 10; ++launch) call(behind_generated);
    model::wait_for_all();
  }
}

// As coroutines do: on a stack in the middle of other memory, and a tiny one.
void* OnTinyStack(void* steps) {
  Train(true, *static_cast<int*>(steps));
  return nullptr;
}

void TrainOnTinyStack(int steps) {
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  if (pthread_create(&thread, &attributes, OnTinyStack, &steps) != 0) std::abort();
  pthread_join(thread, nullptr);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const std::string kind = arguments[1];
  const int steps = std::atoi(arguments[2]);
  if (kind == "compute" || kind == "wait") Train(kind == "wait", steps);
  if (kind == "threads") TrainInThreads(steps);
  if (kind == "plugin") TrainInPlugin(steps, arguments[3]);
  if (kind == "generated") TrainInGeneratedCode(steps);
  if (kind == "tiny") TrainOnTinyStack(steps);
  cudaDeviceSynchronize();
  std::puts("done");
  return 0;
}
