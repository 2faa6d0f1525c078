// SPDX-License-Identifier: Apache-2.0
// What hooks.py touches in this process, in its own words (the names of TOUCHED), for the health
// row of the Python side.
#pragma once

#include <mutex>
#include <string>

namespace traceinject {

class Touched {
 public:
  void Set(std::string text) {
    const std::lock_guard lock(mutex_);
    text_ = std::move(text);
  }
  std::string Get() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

// Never destroyed: a pending call may be made after static destructors ran.
inline Touched& TouchedByHooks() {
  static auto* touched = new Touched;
  return *touched;
}

}  // namespace traceinject
