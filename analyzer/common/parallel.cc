// SPDX-License-Identifier: Apache-2.0
#include "analyzer/common/parallel.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>

#include "analyzer/common/start_thread.h"
#include "machine/available_resources.h"

namespace traceinject {

// To find out reads files.
unsigned Processors() {
  static const unsigned processors = std::min(CountAvailableProcessors(), kMaxThreads);
  return processors;
}

void RunInParallel(const std::vector<std::function<void()>>& tasks) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    for (std::size_t i = next++; i < tasks.size(); i = next++) {
      try {
        tasks[i]();
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = tasks.size();
      }
    }
  };
  {
    std::vector<std::jthread> helpers;  // those that there are do it all
    for (std::size_t i = 1; i < std::min<std::size_t>(Processors(), tasks.size()); ++i) {
      auto helper = StartThread(work);
      if (!helper) break;
      helpers.push_back(*std::move(helper));
    }
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace traceinject
