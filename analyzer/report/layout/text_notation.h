// SPDX-License-Identifier: Apache-2.0
// How the text report writes shares, counts and the names of processes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/common/units.h"
#include "schemas/report.pb.h"

namespace traceinject {

inline constexpr const char* kUnknownText = "unknown";

// "1 kernel", "2 kernels".
std::string Plural(std::int64_t count, std::string_view noun, std::string_view ending = "s");
// "rank 3"; "rank 3 pid 4711" where several processes are of that rank.
std::string SourceLabel(const proto::Report& report, int index);
// "rank 3: "; empty for the only process.
std::string SourcePrefix(const proto::Report& report, int source);
// "NVIDIA H200", or "2 x NVIDIA H200, NVIDIA A10".
std::string GpuNames(const proto::Report& report);
// "good", "lossy", ...
const char* HealthGradeText(proto::Health::Grade grade);
// "not given: rank 3: steps, because ..."
std::string WithheldText(const proto::Report& report, const proto::Withheld& withheld);
// "matrix multiply" of "gemm"; a class that a later version named as it is.
std::string KernelClassText(const std::string& name);
// "512x4" of 512 x 4 x 1.
std::string DimsText(const google::protobuf::RepeatedField<std::int32_t>& dims);
// "64 KiB+ *": from the lower end of the row's sizes on; the star: bound by latency.
std::string MessageSize(const proto::NcclRow& row);
std::string MessageSize(std::int64_t least_bytes, bool latency_bound);

}  // namespace traceinject
