// SPDX-License-Identifier: Apache-2.0
// What is read of DLPack's C exchange API: dlpack.h, version 1.3 (github.com/dmlc/dlpack). A class
// of tensors has a pointer to the table, in a capsule; it lives as long as the process.
#pragma once

#include <cstdint>

namespace traceinject {

// DLTensor. `sizes` lives as long as the tensor.
struct DlpackTensor {
  void* data;
  std::int32_t device_type;  // DLDeviceType
  std::int32_t device;
  std::int32_t dimensions;
  std::uint8_t type_code;
  std::uint8_t type_bits;
  std::uint16_t type_lanes;
  std::int64_t* sizes;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};
static_assert(sizeof(DlpackTensor) == 48);

inline constexpr std::int32_t kDlpackCuda = 2;  // kDLCUDA

// DLPackExchangeAPI. A table of another major version differs after `previous`, which leads to
// those of older ones.
struct DlpackTable {
  std::uint32_t major, minor;
  DlpackTable* previous;
  void *allocate, *to_managed, *from_managed;
  // No reference is taken. 0, or -1 with an exception. Null: there is no such function.
  int (*view)(void* object, DlpackTensor* tensor);
  void* current_stream;
};
static_assert(sizeof(DlpackTable) == 56);

inline constexpr std::uint32_t kDlpackMajor = 1;
inline constexpr char kDlpackAttribute[] = "__dlpack_c_exchange_api__";
inline constexpr char kDlpackCapsule[] = "dlpack_exchange_api";

}  // namespace traceinject
