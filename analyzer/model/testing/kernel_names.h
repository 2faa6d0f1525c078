// SPDX-License-Identifier: Apache-2.0
// Names as libraries give them to kernels, for tests.
#pragma once

namespace traceinject {

inline constexpr const char* kGemm = "ampere_sgemm_128x64_nn";
inline constexpr const char* kNvjet = "nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_NNT";
inline constexpr const char* kNccl = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";

}  // namespace traceinject
