// SPDX-License-Identifier: Apache-2.0
// Names of attributes in Chakra's execution traces (chakra.proto). Those in the first part are what
// Chakra's own feeder and converter call them (src/feeder, src/converter in
// github.com/mlcommons/chakra).
#pragma once

#include <string_view>

namespace traceinject::chakra {

inline constexpr std::string_view kIsCpuOp = "is_cpu_op";       // bool
inline constexpr std::string_view kTid = "tid";                 // int64, of the host's thread
inline constexpr std::string_view kStream = "stream";           // int64, of the GPU
inline constexpr std::string_view kNumOps = "num_ops";          // int64, floating-point operations
inline constexpr std::string_view kTensorSize = "tensor_size";  // uint64, bytes
inline constexpr std::string_view kCommType = "comm_type";      // int64, CollectiveType
inline constexpr std::string_view kCommSize = "comm_size";      // int64, bytes that a rank gives
inline constexpr std::string_view kCommSource = "comm_src";     // int32, rank
inline constexpr std::string_view kCommTarget = "comm_dst";     // int32, rank
inline constexpr std::string_view kCommTag = "comm_tag";        // int32
inline constexpr std::string_view kGroup = "pg_name";           // string, a number

// Ours.
inline constexpr std::string_view kStartNs = "start_ns";            // int64, since the Unix epoch
inline constexpr std::string_view kDurationNs = "duration_ns";      // int64
inline constexpr std::string_view kDevice = "device";               // int32, CUDA's number
inline constexpr std::string_view kMessageBytes = "message_bytes";  // int64, S of nccl-tests

}  // namespace traceinject::chakra
