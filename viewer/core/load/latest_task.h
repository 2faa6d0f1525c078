// SPDX-License-Identifier: Apache-2.0
// Work beside the window, of which only the newest matters.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace traceinject {

// Answers requests on a thread of its own, one at a time. A newer request cancels the one at work;
// the last answer stays until the next one is there. All calls from one thread.
template <typename Request, typename Answer>
class LatestTask {
 public:
  // Looks at the flag now and then and gives up, with nothing, once it is set.
  using Work = std::function<std::optional<Answer>(const Request&, const std::atomic<bool>&)>;

  explicit LatestTask(Work work) : work_(std::move(work)), thread_([this] { Run(); }) {}
  // Cancels, and waits until the work has given up.
  ~LatestTask() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
      cancelled_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  LatestTask(const LatestTask&) = delete;
  LatestTask& operator=(const LatestTask&) = delete;

  // The same request as the last one changes nothing.
  void Ask(Request request) {
    if (last_ == request) return;
    last_ = request;
    {
      const std::lock_guard lock(mutex_);
      next_ = std::move(request);
      cancelled_ = true;
    }
    changed_.notify_all();
  }

  // The newest answer, perhaps of an older request; null before the first.
  std::shared_ptr<const Answer> answer() const {
    const std::lock_guard lock(mutex_);
    return answer_;
  }
  // Whether an answer is still to come.
  bool busy() const {
    const std::lock_guard lock(mutex_);
    return working_ || next_.has_value();
  }
  // Until nothing is to come.
  void Wait() const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !working_ && !next_; });
  }

 private:
  void Run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return stop_ || next_; });
      if (stop_) return;
      const Request request = *std::exchange(next_, std::nullopt);
      cancelled_ = false;
      working_ = true;
      lock.unlock();
      std::optional<Answer> found = work_(request, cancelled_);
      lock.lock();
      working_ = false;
      if (found) answer_ = std::make_shared<const Answer>(*std::move(found));
      changed_.notify_all();
    }
  }

  const Work work_;
  std::optional<Request> last_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::optional<Request> next_;
  std::shared_ptr<const Answer> answer_;
  bool working_ = false, stop_ = false;
  std::atomic<bool> cancelled_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace traceinject
