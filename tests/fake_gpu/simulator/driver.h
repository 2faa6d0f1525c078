// SPDX-License-Identifier: Apache-2.0
// The driver's functions, as libcuda exports them and as libcudart calls them internally (not
// through the exported symbols, which a preloaded library may wrap). Each is an API call with its
// own record. They return CUresult numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/fake_gpu/simulator/simulator.h"

namespace traceinject::fake::driver {

struct LaunchShape {
  std::int32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1}, cluster[3] = {};
  std::int32_t dynamic_shared_bytes = 0;
};

int LaunchKernel(const KernelCode* kernel, const LaunchShape& shape, Stream* stream);
int LaunchKernelEx(const KernelCode* kernel, const LaunchShape& shape, Stream* stream);
int LaunchGraph(const GraphCode* graph, Stream* stream);

// The function called (HtoD, DtoH, ...) follows from where the addresses lie. Not `async`: returns
// when the copy is done.
int Copy(const void* destination, const void* source, std::size_t bytes, Stream* stream,
         bool async);
int CopyPeer(std::uint32_t destination_device, std::uint32_t source_device, std::size_t bytes,
             Stream* stream);
int Memset8(const void* destination, std::uint8_t value, std::size_t bytes, Stream* stream);
int Memset32(const void* destination, std::uint32_t value, std::size_t words, Stream* stream);

int RecordEvent(Event* event, Stream* stream);
int StreamWaitEvent(Stream* stream, const Event* event);
int EventQuery(const Event* event);
int EventSynchronize(const Event* event);
int StreamSynchronize(const Stream* stream);
int ContextSynchronize(const Context* context);

int MemoryAllocate(void** address, std::size_t bytes, Context* context);
int MemoryFree(void* address);

}  // namespace traceinject::fake::driver
