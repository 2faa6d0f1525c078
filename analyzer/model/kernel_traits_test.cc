// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/kernel_traits.h"

#include <gtest/gtest.h>

#include <string>

#include "analyzer/model/kernel_class.h"

namespace traceinject {
namespace {

// "bf16 tensor 90", "fp32 ordinary", "unknown unknown 80": as one line, to compare at a glance.
std::string Told(std::string_view name) {
  const KernelTraits traits = TraitsOf(name, ClassifyKernel(name));
  std::string text(traits.dtype.empty() ? "unknown" : traits.dtype);
  text += !traits.tensor_cores ? " unknown" : *traits.tensor_cores ? " tensor" : " ordinary";
  if (traits.architecture) text += " " + std::to_string(*traits.architecture);
  return text;
}

TEST(KernelTraitsTest, MatrixProducts) {
  EXPECT_EQ(Told("nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_bias_TNT"), "bf16 tensor 90");
  EXPECT_EQ(Told("nvjet_tst_128x256_64x4_2x1_v_bz_coopA_NTN"), "bf16 tensor");
  EXPECT_EQ(Told("nvjet_sm90_hsh_192x128_64x5_1x2_h_bz_coopB_NNT"), "fp16 tensor 90");
  EXPECT_EQ(Told("nvjet_sm100_qqtst_128x256_128x6_2x1_2cta_h_bz_TNT"), "fp8 tensor 100");
  EXPECT_EQ(Told("nvjet_sm90_sss_192x128_64x5_NNT"), "unknown tensor 90");
  EXPECT_EQ(Told("ampere_sgemm_32x32_sliced1x4_tn"), "fp32 ordinary 80");
  EXPECT_EQ(Told("volta_sgemm_128x64_nt"), "fp32 ordinary 70");
  EXPECT_EQ(Told("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_"
                 "aligna4_alignc4_execute_kernel__5x_cublas"),
            "fp32 ordinary 80");
  EXPECT_EQ(Told("ampere_gcgemm_64x64_nt"), "unknown ordinary 80");
  EXPECT_EQ(Told("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_nn"), "bf16 tensor 80");
  EXPECT_EQ(Told("ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_tn"), "fp16 tensor 80");
  EXPECT_EQ(Told("volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn"), "fp16 tensor 70");
  EXPECT_EQ(Told("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4>"
                 "(cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4::Params)"),
            "tf32 tensor 80");
  EXPECT_EQ(Told("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_64x64_64x6_nn_"
                 "align1>(cutlass_80_tensorop_bf16_s16816gemm_bf16_64x64_64x6_nn_align1::Params)"),
            "bf16 tensor 80");
  EXPECT_EQ(Told("void cutlass::Kernel<cutlass_75_tensorop_s1688gemm_f16_128x128_32x2_nn_align8>"),
            "fp16 tensor 75");
  EXPECT_EQ(Told("cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_void_bf16_128x128x64"),
            "bf16 tensor 90");
  EXPECT_EQ(Told("cutlass_80_tensorop_d884gemm_64x64_16x4_nn_align1"), "fp64 tensor 80");
  EXPECT_EQ(Told("void gemv2T_kernel_val<int, int, __nv_bfloat16, __nv_bfloat16, float, 128>(int)"),
            "bf16 ordinary");
  EXPECT_EQ(Told("void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16, float>()"),
            "bf16 ordinary");
}

TEST(KernelTraitsTest, Convolutions) {
  EXPECT_EQ(Told("sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize"
                 "128x128x16_stage4_warpsize2x2x1_g1_tensor16x8x8_alignc4_execute_kernel_cudnn"),
            "tf32 tensor 80");
  EXPECT_EQ(Told("cudnn_ampere_scudnn_128x64_relu_xregs_large_nn_v1"), "fp32 ordinary 80");
  EXPECT_EQ(Told("volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1"),
            "fp32 ordinary 70");
  EXPECT_EQ(Told("void cutlass_cudnn_infer::Kernel<cutlass_tensorop_s1688dgrad_optimized_tf32_64x"
                 "128_32x3_nhwc_align4>(int)"),
            "tf32 tensor");
  EXPECT_EQ(Told("void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int, int)"),
            "fp32 ordinary");
  EXPECT_EQ(Told("void implicit_convolve_sgemm<float, float, 128, 6, 7, 3, 3, 5, 1>(int, int)"),
            "fp32 ordinary");
  EXPECT_EQ(Told("void fft2d_c2r_32x32<float, false, false, 0u, false, false>(float*)"),
            "fp32 ordinary");
}

TEST(KernelTraitsTest, Attention) {
  EXPECT_EQ(Told("cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26_64x64x128_"
                 "1x4x1_cga1x1x1_kernel0_0"),
            "unknown tensor 90")
      << "recorded with bf16";
  EXPECT_EQ(Told("void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, "
                 "cutlass::bfloat16_t>, false>(Flash_fwd_params)"),
            "bf16 tensor");
  EXPECT_EQ(Told("fmha_cutlassF_f16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::Params)"),
            "fp16 tensor 80");
  EXPECT_EQ(Told("fmha_cutlassB_f32_aligned_64x64_k64_sm80(PyTorchMemEffAttention::Params)"),
            "fp32 unknown 80");
  EXPECT_EQ(Told("void cudnn::fusion::compute_dot_do_o_specialized<true, 128>(void const*)"),
            "unknown ordinary");
}

TEST(KernelTraitsTest, OthersAreNamedByTheirTemplateArguments) {
  EXPECT_EQ(
      Told("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::("
           "anonymous namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous "
           "namespace)::FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1, false>, "
           "float const*, double, double, double, double, double, bool>(double)"),
      "fp32 ordinary");
  EXPECT_EQ(Told("void at::native::vectorized_elementwise_kernel<8, at::native::bfloat16_copy_"
                 "kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}, std::array<char*, 2ul> "
                 ">(int)"),
            "bf16 ordinary");
  EXPECT_EQ(Told("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<c10::Half, float> >"
                 "(at::native::ReduceOp<c10::Half, float>)"),
            "fp16 ordinary");
  EXPECT_EQ(Told("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<"
                 "double>, std::array<char*, 3ul> >(int)"),
            "fp64 ordinary");
  EXPECT_EQ(Told("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
            "fp32 ordinary");
  EXPECT_EQ(Told("void rotate_half_kernel(float*)"), "unknown unknown");
}

TEST(KernelTraitsTest, TritonKernelsTellOnlyWhetherTheyArePointwise) {
  EXPECT_EQ(Told("triton_poi_fused_add_gelu_3"), "unknown ordinary");
  EXPECT_EQ(Told("triton_per_fused_native_layer_norm_0"), "unknown ordinary");
  EXPECT_EQ(Told("triton_tem_fused_mm_7"), "unknown unknown");
}

TEST(KernelTraitsTest, ArchitecturesAreWholeWords) {
  EXPECT_EQ(Told("prism90_kernel"), "unknown unknown");
  EXPECT_EQ(Told("cutlass_tensorop_s1688gemm_1024x128"), "tf32 tensor");
}

TEST(KernelTraitsTest, HelpersOfAProductAndOfAttention) {
  EXPECT_TRUE(IsHelperKernel("void cublasLt::splitKreduce_kernel<32, 16, int, float>()"));
  EXPECT_TRUE(IsHelperKernel("void cudnn::fusion::convert_dq_to_16bits<true>(void const*)"));
  EXPECT_TRUE(IsHelperKernel("void cudnn::engines_precompiled::nchwToNhwcKernel<float>(int)"));
  EXPECT_FALSE(IsHelperKernel("sm80_xmma_wgrad_implicit_gemm_indexed_bf16bf16_nhwckrsc_nhwc"));
  EXPECT_FALSE(IsHelperKernel("nvjet_sm90_tst_128x160_64x5_4x2_h_bz_NTT"));
}

}  // namespace
}  // namespace traceinject
