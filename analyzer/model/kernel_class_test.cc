// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/kernel_class.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace traceinject {
namespace {

struct Example {
  const char* name;
  KernelClass expected;
};

class KernelClassExample : public testing::TestWithParam<Example> {};

TEST_P(KernelClassExample, IsClassified) {
  EXPECT_EQ(KernelClassName(ClassifyKernel(GetParam().name)), KernelClassName(GetParam().expected))
      << GetParam().name;
}

constexpr Example kExamples[] = {
    {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
     KernelClass::kComm},
    {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
     KernelClass::kComm},
    {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", KernelClass::kComm},
    {"ncclSymkDevKernel_AllReduce_AGxLL_R_bf16(ncclSymkDevWorkArgs4K)", KernelClass::kComm},
    {"void multimem_all_reduce_kernel<c10::BFloat16, 16>(unsigned char*, unsigned long)",
     KernelClass::kComm},
    {"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)",
     KernelClass::kComm},
    {"Memcpy HtoD (Pinned -> Device)", KernelClass::kMemcpy},
    {"Memset (Device)", KernelClass::kMemset},
    {"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, "
     "false, false, "
     "cutlass::bfloat16_t> >(pytorch_flash::Flash_fwd_params)",
     KernelClass::kAttentionForward},
    {"void "
     "pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<64>, "
     "false, "
     "true>(pytorch_flash::Flash_bwd_params)",
     KernelClass::kAttentionBackward},
    {"fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<cutlass::"
     "bfloat16_t, "
     "cutlass::arch::Sm80, true, 64, 64, 64, true, true>::Params)",
     KernelClass::kAttentionForward},
    {"fmha_cutlassB_f16_aligned_64x64_k64_sm80(PyTorchMemEffAttention::AttentionBackwardKernel<"
     "cutlass::half_t>::Params)",
     KernelClass::kAttentionBackward},
    {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_4x1x1_kernel0_"
     "0",
     KernelClass::kAttentionForward},
    {"cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_bf16_knob_31",
     KernelClass::kAttentionBackward},
    // cuDNN's passes before and after the backward kernel: a conversion is no convolution.
    {"void cudnn::fusion::compute_dot_do_o_specialized<true, 128>(void const*, void const*)",
     KernelClass::kAttentionBackward},
    {"void cudnn::fusion::convert_dq_to_16bits<true>(void const*, void*, unsigned int)",
     KernelClass::kAttentionBackward},
    {"void cudnn::ops::convertTensor_kernel<float, float, float>(float)", KernelClass::kOther},
    {"cudnn_infer_ampere_scudnn_128x64_relu_small_nn_v1", KernelClass::kConv},
    {"void cudnn::cnn::conv2d_grouped_direct_kernel<false, true>(float)", KernelClass::kConv},
    {"void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16>(__nv_bfloat16 const*)",
     KernelClass::kKvCache},
    {"void vllm::moe::topkGatingSoftmax<8, 64, 4, 16>(float const*)", KernelClass::kMoe},
    // Embedding tables, not GEMMs.
    {"void "
     "fbgemm_gpu::split_embedding_codegen_forward_unweighted_kernel<float>(fbgemm_gpu::"
     "PackedTensorAccessor<float>)",
     KernelClass::kEmbedding},
    {"void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*)",
     KernelClass::kEmbedding},
    {"void (anonymous namespace)::indexSelectLargeIndex<float, long, unsigned int, 2, 2, -2, "
     "true>()",
     KernelClass::kEmbedding},
    {"void at::native::(anonymous namespace)::embedding_backward_feature_kernel<float, float, "
     "long>(long const*)",
     KernelClass::kEmbedding},
    {"void at::native::(anonymous namespace)::compute_grad_weight<float, long>(long const*)",
     KernelClass::kEmbedding},
    {"void at::native::(anonymous namespace)::krn_partials_per_segment<long>(long*)",
     KernelClass::kEmbedding},
    {"void at::native::(anonymous namespace)::compute_num_of_partial_segments<long>(long const*)",
     KernelClass::kEmbedding},
    {"sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x32",
     KernelClass::kConv},
    {"cudnn::ops::nchwToNhwcKernel<__half>(__half const*)", KernelClass::kConv},
    {"void cask_plugin_cudnn::xmma_cudnn::init_device_tables<int>::computeOffsetsKernel(int)",
     KernelClass::kConv},
    {"void fft2d_r2c_32x32<float, false, 0u, false>(float2*, float const*)", KernelClass::kConv},
    {"nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT", KernelClass::kGemm},
    {"nvjet_hsh_256x128_64x4_2x1_v_bz_NNT", KernelClass::kGemm},
    {"ampere_sgemm_128x64_tn", KernelClass::kGemm},
    {"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", KernelClass::kGemm},
    {"void gemv2T_kernel_val<int, int, __nv_bfloat16, __nv_bfloat16, float, 128, 16>(float)",
     KernelClass::kGemm},
    {"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128_32x4_tn_align8>("
     "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128_32x4_tn_align8::Params)",
     KernelClass::kGemm},
    {"void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16, "
     "float>(cublasLt::cublasSplitKParams<float>)",
     KernelClass::kGemm},
    {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int, "
     "float)",
     KernelClass::kNorm},
    {"void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernelTemplate<float, float, "
     "64u, 1u>(long)",
     KernelClass::kNorm},
    {"void at::native::batch_norm_collect_statistics_kernel<float>(float)", KernelClass::kNorm},
    {"void (anonymous namespace)::softmax_warp_forward<float, float, float, 8, false, "
     "false>(float*)",
     KernelClass::kSoftmaxLoss},
    {"void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, c10::BFloat16, "
     "float>(float*)",
     KernelClass::kSoftmaxLoss},
    {"void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<float, float, "
     "long>(float*)",
     KernelClass::kSoftmaxLoss},
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
     "namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous "
     "namespace)::FusedAdamMathFunctor<float, 4> >()",
     KernelClass::kOptimizer},
    {"void multi_tensor_apply_kernel<TensorListMetadata<4>, LAMBStage1Functor<float>, float*>(int)",
     KernelClass::kOptimizer},
    {"lamb_update(float*)", KernelClass::kOptimizer},
    {"void transformer_engine::cast_transpose_kernel<float, __nv_fp8_e4m3>(float const*)",
     KernelClass::kQuant},
    {"void fused_rope_forward<float>(float const*)", KernelClass::kRope},
    // A generic wrapper: the functor between the brackets decides, here nothing but the reduction
    // itself.
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
     "at::native::func_wrapper_t<float, "
     "at::native::sum_functor<float, float, "
     "float>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, "
     "float, 4> >(at::native::ReduceOp)",
     KernelClass::kReduce},
    {"void at::native::radixSortKVInPlace<2, -1, 16, 2, int, long, unsigned int>(int)",
     KernelClass::kSortTopk},
    {"_ZN2at6native10gatherTopKIfEEvPT_", KernelClass::kEmbedding},
    {"void at::native::(anonymous namespace)::fused_dropout_kernel_vec<float, float, unsigned int, "
     "1, 4, bool>(float)",
     KernelClass::kDropoutRng},
    {"void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel<float, "
     "4>(long)",
     KernelClass::kDropoutRng},
    {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 3, 64, "
     "64>(float*)",
     KernelClass::kCopyCast},
    {"void at::native::elementwise_kernel<128, 4, "
     "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda("
     "at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#7}::operator()() "
     "const::{lambda(float)#1}>(int)>",
     KernelClass::kCopyCast},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
     "std::array<char*, 1ul> >(int)",
     KernelClass::kCopyCast},
    {"void at::native::(anonymous namespace)::chunk_cat_cuda_kernel<float, c10::BFloat16>(char**)",
     KernelClass::kCopyCast},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
     "std::array<char*, 3ul> >(int)",
     KernelClass::kElementwise},
    // A lambda is not LAMB.
    {"void at::native::vectorized_elementwise_kernel<4, "
     "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
     "at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#1}::operator()() "
     "const::{lambda(float)#1}, "
     "std::array<char*, 2ul> >(int)",
     KernelClass::kElementwise},
    {"void at::native::(anonymous namespace)::adaptive_average_pool<float>(float*)",
     KernelClass::kElementwise},
    {"triton_poi_fused_native_0", KernelClass::kTriton},
    {"triton_red_fused_add_1", KernelClass::kTriton},
    {"my_own_kernel(float*, int)", KernelClass::kOther},
    {"", KernelClass::kOther},
    {"void", KernelClass::kOther},
};

INSTANTIATE_TEST_SUITE_P(RealNames, KernelClassExample, testing::ValuesIn(kExamples));

TEST(KernelClass, StripsTemplatesAndParameters) {
  EXPECT_EQ(StripKernelName("void at::native::(anonymous namespace)::f<int, g<2> >(float*)"),
            "void at::native::f");
  EXPECT_EQ(StripKernelName("(anonymous namespace)::(anonymous namespace)::triton_f(int)"),
            "triton_f");
  EXPECT_EQ(StripKernelName("auto f<decltype(a->b)>(int) -> int"), "auto f");
  EXPECT_EQ(StripKernelName("f{lambda(int)#1}"), "flambda_");
  EXPECT_EQ(StripKernelName("a>>b"), "ab");
}

TEST(KernelClass, AnonymousNamespacesDoNotHideTheStartOfAName) {
  EXPECT_EQ(ClassifyKernel("(anonymous namespace)::triton_poi(float*)"), KernelClass::kTriton);
}

TEST(KernelClass, SgdAndLambAreWords) {
  EXPECT_EQ(ClassifyKernel("fused_sgd(float*)"), KernelClass::kOptimizer);
  EXPECT_EQ(ClassifyKernel("classgd(float*)"), KernelClass::kOther);
  EXPECT_EQ(ClassifyKernel("Lamb"), KernelClass::kOptimizer);
  EXPECT_EQ(ClassifyKernel("run_lambda(int)"), KernelClass::kOther);
}

TEST(KernelClass, NamesAreUniqueAndReadBack) {
  std::set<std::string_view> names, titles;
  for (const KernelClass kernel_class : AllKernelClasses()) {
    names.insert(KernelClassName(kernel_class));
    titles.insert(KernelClassTitle(kernel_class));
    EXPECT_EQ(KernelClassFromName(KernelClassName(kernel_class)), kernel_class);
  }
  EXPECT_EQ(names.size(), AllKernelClasses().size());
  EXPECT_EQ(titles.size(), AllKernelClasses().size());
  EXPECT_EQ(KernelClassFromName("gem"), std::nullopt);
}

TEST(KernelClass, EndlessNamesAreNoProblem) {
  EXPECT_EQ(ClassifyKernel(std::string(1'000'000, '<')), KernelClass::kOther);
  EXPECT_EQ(ClassifyKernel(std::string(1'000'000, 'x') + "gemm"), KernelClass::kGemm);
}

}  // namespace
}  // namespace traceinject
