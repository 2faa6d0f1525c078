// SPDX-License-Identifier: Apache-2.0
// Plays a scripted training run on the fake GPU, and ends in the way it is told to.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/fake_gpu/train/train_nvtx.h"
#include "tests/fake_gpu/train/train_options.h"
#include "tests/fake_gpu/train/train_steps.h"

namespace {

using traceinject::fake::MakeCommunicatorEarly;
using traceinject::fake::NvtxDomain;
using traceinject::fake::PlayOneLaunch;
using traceinject::fake::PlaySteps;
using traceinject::fake::TrainOptions;

int CountThreads() {
  int count = 0;
  DIR* tasks = opendir("/proc/self/task");
  while (const dirent* entry = readdir(tasks)) count += entry->d_name[0] != '.' ? 1 : 0;
  closedir(tasks);
  return count;
}

void PrintReport(const TrainOptions& options) {
  if (options.no_gpu) std::printf("threads %d\n", CountThreads());
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) != 0) continue;
    if (action.sa_handler != SIG_DFL) std::printf("signal %d is handled or ignored\n", number);
  }
  sigset_t blocked;
  sigprocmask(SIG_SETMASK, nullptr, &blocked);
  for (int number = 1; number < NSIG; ++number) {
    if (sigismember(&blocked, number) == 1) std::printf("signal %d is blocked\n", number);
  }
  std::fflush(stdout);
}

void ForkOnce() {
  const pid_t child = fork();
  if (child == 0) {
    NvtxDomain("worker").Push({.text = "load", .registered = true}, [] {});
    std::exit(0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  if (status == 0) return;
  std::printf("child ended with status %d\n", status);
  std::fflush(stdout);  // the next child inherits what is not written
}

// Forks while another thread names things: what a thread holds at that moment stays held in the
// child for ever.
void ForkRepeatedly(int times) {
  std::atomic<bool> stop{false};
  std::thread registrar([&stop] {
    const NvtxDomain domain("names");
    for (int i = 0; !stop; i = (i + 1) % 1000) {
      nvtxDomainRegisterStringA(domain.handle(), ("name " + std::to_string(i)).c_str());
    }
  });
  for (int i = 0; i < times; ++i) ForkOnce();
  stop = true;
  registrar.join();
}

void Play(const TrainOptions& options) {
  std::vector<std::thread> threads;
  for (int thread = 1; thread < options.threads; ++thread) {
    threads.emplace_back([&options, thread] { PlaySteps(options, thread); });
  }
  PlaySteps(options, 0);
  if (options.fork_loop > 0) ForkRepeatedly(options.fork_loop);
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < options.churn; ++i) std::thread([&] { PlayOneLaunch(options); }).join();
}

int WaitFor(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("child ended with status %d\n", status);
  std::fflush(stdout);
  return status;
}

// A child forked after CUDA was used, ending in the way that `mode` says; a data-loader worker, for
// example.
[[noreturn]] void PlayForkedChild(const std::string& mode) {
  if (mode == "after:cuda") {
    void* address = nullptr;
    _exit(cudaMalloc(&address, 64) == cudaErrorInitializationError ? 0 : 1);
  }
  NvtxDomain("worker").Push({.text = "load"}, [] {});
  if (mode == "after:exit") std::exit(0);
  _exit(0);
}

int InitializeOnly() {
  int count = 0;
  if (cuInit(0) != CUDA_SUCCESS || cuDeviceGetCount(&count) != CUDA_SUCCESS) return 9;
  std::printf("devices %d\n", count);
  return 0;
}

// exit() on a second thread, while this one plays on and never ends by itself.
[[noreturn]] void EndBesideWork(int code) {
  std::thread([code] { std::exit(code); }).detach();
  TrainOptions endless;
  endless.steps = -1;
  endless.nvtx = true;
  PlaySteps(endless, 1);
  std::abort();
}

int End(const std::string& how) {
  const std::size_t colon = how.find(':');
  const std::string mode = how.substr(0, colon);
  const int code = colon == std::string::npos ? 0 : std::atoi(how.c_str() + colon + 1);
  std::fflush(stdout);
  if (mode == "exit") std::exit(code);
  if (mode == "_exit") _exit(code);
  if (mode == "quick_exit") std::quick_exit(code);
  if (mode == "abort") std::abort();
  if (mode == "thread") EndBesideWork(code);
  if (mode == "exec") execl("/proc/self/exe", "fake_train", "--steps", "2", nullptr);
  if (mode == "throw") throw std::runtime_error("the training script failed");
  if (mode == "sigterm") raise(SIGTERM);
  if (mode == "wait") {
    std::puts("ready");
    std::fflush(stdout);
    for (;;) pause();
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  TrainOptions options;
  if (!traceinject::fake::ParseTrainOptions(argc, argv, &options)) return 2;
  if (const std::size_t equals = options.set_env.find('='); equals != std::string::npos) {
    setenv(options.set_env.substr(0, equals).c_str(), options.set_env.c_str() + equals + 1, 1);
  }
  if (options.init_only) return InitializeOnly();

  if (options.fork.rfind("before:", 0) == 0) {
    const pid_t child = fork();
    if (child == 0) {
      if (options.fork == "before:train") Play(options);
      std::exit(0);
    }
    WaitFor(child);
  }
  if (options.nccl_early) MakeCommunicatorEarly(options);
  static const pid_t started = getpid();
  if (options.late_launch) {
    std::atexit([] {
      if (getpid() == started) PlayOneLaunch({});  // a forked child cannot use CUDA
    });
  }
  if (options.no_gpu) {
    NvtxDomain("my_lib").Push({.text = "no GPU"}, [] {});
  } else {
    Play(options);
  }
  if (options.fork.rfind("after:", 0) == 0) {
    const pid_t child = fork();
    if (child == 0) PlayForkedChild(options.fork);
    WaitFor(child);
    PlaySteps(options, 0);
  }
  std::puts("trained");
  if (options.report) PrintReport(options);
  return End(options.exit);
}
