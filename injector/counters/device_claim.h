// SPDX-License-Identifier: Apache-2.0
// Of the processes of a host that use a GPU one samples its counters, which are the device's: the
// one that has the abstract socket of the GPU's UUID. It leaves nothing behind, and ends with the
// process; a forked child lets go of its copy at once, and a program that is run instead has none.
// Containers with networks of their own do not see each other's: there CUPTI refuses.
#pragma once

#include <cstdint>
#include <string>

namespace traceinject {

class DeviceClaim {
 public:
  DeviceClaim() = default;
  ~DeviceClaim() { Release(); }
  DeviceClaim(const DeviceClaim&) = delete;
  DeviceClaim& operator=(const DeviceClaim&) = delete;

  // False: another process has it, `holder` by its id, or 0 where it is not seen; or there is no
  // socket to be had, `holder` -1.
  bool Take(const std::string& uuid, std::int64_t* holder);
  void Release();
  bool held() const { return slot_ >= 0; }

 private:
  int slot_ = -1;
};

}  // namespace traceinject
