// SPDX-License-Identifier: Apache-2.0
// A CUDA call in progress on a thread. A driver call made by a runtime call shares its correlation
// id.
#pragma once

#include <cstdint>

#include "tests/fake_gpu/simulator/activity_sink.h"

namespace traceinject::fake {

class ApiCall {
 public:
  // `name` is the function's name as a program writes it; it must be a literal.
  ApiCall(Domain domain, std::uint32_t cbid, const char* name);
  // Ends the call: its record and its line in the truth are made here.
  ~ApiCall();
  ApiCall(const ApiCall&) = delete;
  ApiCall& operator=(const ApiCall&) = delete;

  // Notes the result and returns it.
  int Return(int result) { return result_ = result; }
  std::uint64_t correlation() const { return correlation_; }
  std::int64_t start_ns() const { return start_ns_; }
  bool outermost() const { return outer_ == nullptr; }

  // The innermost call of this thread; null outside of any.
  static ApiCall* Current();

  // The 32 bits that CUPTI tells of correlation ids begin anew; the rest keeps them apart.
  static void RestartCorrelations();

 private:
  Domain domain_;
  std::uint32_t cbid_;
  const char* name_;
  ApiCall* outer_;
  std::uint64_t correlation_;
  std::int64_t start_ns_;
  bool told_;  // at its beginning
  int result_ = 0;
};

}  // namespace traceinject::fake
