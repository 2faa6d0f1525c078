// SPDX-License-Identifier: Apache-2.0
// Wrappers of the GEMMs of cuBLAS and cuBLASLt, exported so that the dynamic linker binds
// the program's calls to them. They note shape, types, thread and time: FLOPs are computed from
// these, and the kernels are found by the launches that the thread made meanwhile.
//
// A wrapper forwards the call whatever happens. Programs that look the functions up by a handle
// (XLA) do not come by here.
#include <cstddef>
#include <cstdint>

#include "injector/base/exported.h"
#include "injector/base/real_function.h"
#include "injector/wrappers/cublas_abi.h"
#include "injector/wrappers/product_call.h"

namespace traceinject {
namespace {

using namespace cublas;

template <typename Int>
struct Groups {
  const int *trans_a, *trans_b;
  const Int *m, *n, *k;
  Int count;
  const Int* sizes;
};

template <typename Int>
void Describe(const ProductEmitter& emit, ProductOfCall product, const Groups<Int>& groups) {
  for (Int i = 0; i < groups.count; ++i) {
    product.m = groups.m[i];
    product.n = groups.n[i];
    product.k = groups.k[i];
    product.batch = groups.sizes[i];
    product.trans_a = groups.trans_a[i];
    product.trans_b = groups.trans_b[i];
    emit(product);
  }
}

// Reads what the program set in its descriptors, by the library that made them.
class Descriptors {
 public:
  // `caller` as RealFunction wants it.
  explicit Descriptors(const void* caller)
      : layout_(g_layout.Get(kLtLibrary, "cublasLtMatrixLayoutGetAttribute", caller)),
        matmul_(g_matmul.Get(kLtLibrary, "cublasLtMatmulDescGetAttribute", caller)) {}

  template <typename Value>
  Value OfLayout(void* layout, int attribute, Value otherwise) const {
    return Read(layout_, layout, attribute, otherwise);
  }
  template <typename Value>
  Value OfMatmul(void* matmul, int attribute, Value otherwise) const {
    return Read(matmul_, matmul, attribute, otherwise);
  }

 private:
  using Get = int(void*, int, void*, std::size_t, std::size_t*);

  template <typename Value>
  static Value Read(Get* get, void* descriptor, int attribute, Value otherwise) {
    Value value{};
    std::size_t written = 0;
    if (get == nullptr || descriptor == nullptr ||
        get(descriptor, attribute, &value, sizeof value, &written) != 0)
      return otherwise;
    return value;
  }

  static constinit inline RealFunction<Get> g_layout, g_matmul;
  Get *layout_, *matmul_;
};

ProductOfCall DescribeMatmul(void* operation, void* a, void* b, void* d, const void* caller) {
  const Descriptors of(caller);
  const auto rows = [&](void* layout) {
    return static_cast<std::int64_t>(of.OfLayout<std::uint64_t>(layout, kLayoutRows, 0));
  };
  const auto columns = [&](void* layout) {
    return static_cast<std::int64_t>(of.OfLayout<std::uint64_t>(layout, kLayoutColumns, 0));
  };
  const auto type = [&](void* layout) {
    return static_cast<int>(of.OfLayout<std::uint32_t>(layout, kLayoutType, 0xffffffff));
  };
  const int trans_a = of.OfMatmul<std::int32_t>(operation, kMatmulTransA, 0);
  return {"cublasLtMatmul",
          rows(d),
          columns(d),
          trans_a == 0 ? columns(a) : rows(a),
          of.OfLayout<std::int32_t>(d, kLayoutBatch, 1),
          trans_a,
          of.OfMatmul<std::int32_t>(operation, kMatmulTransB, 0),
          type(a),
          type(b),
          type(d),
          of.OfMatmul<std::int32_t>(operation, kMatmulComputeType, kUnknownType)};
}

}  // namespace
}  // namespace traceinject

using traceinject::ProductEmitter;

// One wrapper: its exported name, the library, the parameters, the arguments, and what to tell an
// ProductEmitter `emit` afterwards.
#define TRACEINJECT_GEMM_OF(library, name, parameters, arguments, ...)                \
  extern "C" TRACEINJECT_EXPORT int name parameters {                                 \
    static constinit traceinject::RealFunction<int parameters> real;                  \
    [[maybe_unused]] const void* caller = TRACEINJECT_CALLER;                         \
    auto* function = real.Get(traceinject::cublas::library, #name, caller);           \
    if (function == nullptr) return traceinject::cublas::kNotInitialized;             \
    return traceinject::WithProduct([&](const ProductEmitter& emit) { __VA_ARGS__; }, \
                                    [&] { return function arguments; });              \
  }
#define TRACEINJECT_GEMM(...) TRACEINJECT_GEMM_OF(kLibrary, __VA_ARGS__)

// cublasSgemm and its like: one type for all matrices.
#define TRACEINJECT_PLAIN(name, Int, type)                                                  \
  TRACEINJECT_GEMM(                                                                         \
      name,                                                                                 \
      (void* handle, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* a, \
       Int lda, const void* b, Int ldb, const void* beta, void* c, Int ldc),                \
      (handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc),                       \
      emit({#name, m, n, k, 1, ta, tb, type, type, type}))
#define TRACEINJECT_BATCHED(name, Int, type)                                                \
  TRACEINJECT_GEMM(                                                                         \
      name,                                                                                 \
      (void* handle, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* a, \
       Int lda, const void* b, Int ldb, const void* beta, void* c, Int ldc, Int batch),     \
      (handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, batch),                \
      emit({#name, m, n, k, batch, ta, tb, type, type, type}))
#define TRACEINJECT_STRIDED(name, Int, type)                                                       \
  TRACEINJECT_GEMM(                                                                                \
      name,                                                                                        \
      (void* handle, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* a,        \
       Int lda, long long stride_a, const void* b, Int ldb, long long stride_b, const void* beta,  \
       void* c, Int ldc, long long stride_c, Int batch),                                           \
      (handle, ta, tb, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, \
       batch),                                                                                     \
      emit({#name, m, n, k, batch, ta, tb, type, type, type}))
#define TRACEINJECT_GROUPED(name, Int, type)                                                 \
  TRACEINJECT_GEMM(                                                                          \
      name,                                                                                  \
      (void* handle, const int* ta, const int* tb, const Int* m, const Int* n, const Int* k, \
       const void* alpha, const void* a, const Int* lda, const void* b, const Int* ldb,      \
       const void* beta, void* c, const Int* ldc, Int groups, const Int* sizes),             \
      (handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, groups, sizes),         \
      Describe(emit, {#name, 0, 0, 0, 0, 0, 0, type, type, type},                            \
               traceinject::Groups<Int>{ta, tb, m, n, k, groups, sizes}))
// Those that name the type of each matrix.
#define TRACEINJECT_TYPED(name, Int)                                                          \
  TRACEINJECT_GEMM(                                                                           \
      name,                                                                                   \
      (void* handle, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* a,   \
       int type_a, Int lda, const void* b, int type_b, Int ldb, const void* beta, void* c,    \
       int type_c, Int ldc),                                                                  \
      (handle, ta, tb, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc), \
      emit({#name, m, n, k, 1, ta, tb, type_a, type_b, type_c}))
#define TRACEINJECT_EX(name, Int)                                                                \
  TRACEINJECT_GEMM(name,                                                                         \
                   (void* handle, int ta, int tb, Int m, Int n, Int k, const void* alpha,        \
                    const void* a, int type_a, Int lda, const void* b, int type_b, Int ldb,      \
                    const void* beta, void* c, int type_c, Int ldc, int compute, int algorithm), \
                   (handle, ta, tb, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c,     \
                    type_c, ldc, compute, algorithm),                                            \
                   emit({#name, m, n, k, 1, ta, tb, type_a, type_b, type_c, compute}))
#define TRACEINJECT_BATCHED_EX(name, Int)                                                    \
  TRACEINJECT_GEMM(                                                                          \
      name,                                                                                  \
      (void* handle, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* a,  \
       int type_a, Int lda, const void* b, int type_b, Int ldb, const void* beta, void* c,   \
       int type_c, Int ldc, Int batch, int compute, int algorithm),                          \
      (handle, ta, tb, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc, \
       batch, compute, algorithm),                                                           \
      emit({#name, m, n, k, batch, ta, tb, type_a, type_b, type_c, compute}))
#define TRACEINJECT_STRIDED_EX(name, Int)                                                        \
  TRACEINJECT_GEMM(                                                                              \
      name,                                                                                      \
      (void* handle, int ta, int tb, Int m, Int n, Int k, const void* alpha, const void* a,      \
       int type_a, Int lda, long long stride_a, const void* b, int type_b, Int ldb,              \
       long long stride_b, const void* beta, void* c, int type_c, Int ldc, long long stride_c,   \
       Int batch, int compute, int algorithm),                                                   \
      (handle, ta, tb, m, n, k, alpha, a, type_a, lda, stride_a, b, type_b, ldb, stride_b, beta, \
       c, type_c, ldc, stride_c, batch, compute, algorithm),                                     \
      emit({#name, m, n, k, batch, ta, tb, type_a, type_b, type_c, compute}))
#define TRACEINJECT_GROUPED_EX(name, Int)                                                       \
  TRACEINJECT_GEMM(name,                                                                        \
                   (void* handle, const int* ta, const int* tb, const Int* m, const Int* n,     \
                    const Int* k, const void* alpha, const void* a, int type_a, const Int* lda, \
                    const void* b, int type_b, const Int* ldb, const void* beta, void* c,       \
                    int type_c, const Int* ldc, Int groups, const Int* sizes, int compute),     \
                   (handle, ta, tb, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c,    \
                    type_c, ldc, groups, sizes, compute),                                       \
                   Describe(emit, {#name, 0, 0, 0, 0, 0, 0, type_a, type_b, type_c, compute},   \
                            traceinject::Groups<Int>{ta, tb, m, n, k, groups, sizes}))

// Every function comes with 32-bit sizes and, since CUDA 12, with 64-bit ones.
#define TRACEINJECT_BOTH(kind, name, ...)    \
  kind(name, int __VA_OPT__(, ) __VA_ARGS__) \
      kind(name##_64, std::int64_t __VA_OPT__(, ) __VA_ARGS__)

using namespace traceinject::cublas;

TRACEINJECT_BOTH(TRACEINJECT_PLAIN, cublasHgemm, kReal16)
TRACEINJECT_BOTH(TRACEINJECT_PLAIN, cublasSgemm_v2, kReal32)
TRACEINJECT_BOTH(TRACEINJECT_PLAIN, cublasDgemm_v2, kReal64)
TRACEINJECT_BOTH(TRACEINJECT_PLAIN, cublasCgemm_v2, kComplex32)
TRACEINJECT_BOTH(TRACEINJECT_PLAIN, cublasZgemm_v2, kComplex64)
TRACEINJECT_BOTH(TRACEINJECT_PLAIN, cublasCgemm3m, kComplex32)
TRACEINJECT_BOTH(TRACEINJECT_PLAIN, cublasZgemm3m, kComplex64)

TRACEINJECT_BOTH(TRACEINJECT_BATCHED, cublasHgemmBatched, kReal16)
TRACEINJECT_BOTH(TRACEINJECT_BATCHED, cublasSgemmBatched, kReal32)
TRACEINJECT_BOTH(TRACEINJECT_BATCHED, cublasDgemmBatched, kReal64)
TRACEINJECT_BOTH(TRACEINJECT_BATCHED, cublasCgemmBatched, kComplex32)
TRACEINJECT_BOTH(TRACEINJECT_BATCHED, cublasZgemmBatched, kComplex64)
TRACEINJECT_BOTH(TRACEINJECT_BATCHED, cublasCgemm3mBatched, kComplex32)

TRACEINJECT_BOTH(TRACEINJECT_STRIDED, cublasHgemmStridedBatched, kReal16)
TRACEINJECT_BOTH(TRACEINJECT_STRIDED, cublasSgemmStridedBatched, kReal32)
TRACEINJECT_BOTH(TRACEINJECT_STRIDED, cublasDgemmStridedBatched, kReal64)
TRACEINJECT_BOTH(TRACEINJECT_STRIDED, cublasCgemmStridedBatched, kComplex32)
TRACEINJECT_BOTH(TRACEINJECT_STRIDED, cublasZgemmStridedBatched, kComplex64)
TRACEINJECT_BOTH(TRACEINJECT_STRIDED, cublasCgemm3mStridedBatched, kComplex32)

TRACEINJECT_BOTH(TRACEINJECT_GROUPED, cublasSgemmGroupedBatched, kReal32)
TRACEINJECT_BOTH(TRACEINJECT_GROUPED, cublasDgemmGroupedBatched, kReal64)

TRACEINJECT_BOTH(TRACEINJECT_TYPED, cublasSgemmEx)
TRACEINJECT_BOTH(TRACEINJECT_TYPED, cublasCgemmEx)
TRACEINJECT_BOTH(TRACEINJECT_TYPED, cublasCgemm3mEx)
TRACEINJECT_BOTH(TRACEINJECT_EX, cublasGemmEx)
TRACEINJECT_BOTH(TRACEINJECT_BATCHED_EX, cublasGemmBatchedEx)
TRACEINJECT_BOTH(TRACEINJECT_STRIDED_EX, cublasGemmStridedBatchedEx)
TRACEINJECT_BOTH(TRACEINJECT_GROUPED_EX, cublasGemmGroupedBatchedEx)

TRACEINJECT_GEMM_OF(kLtLibrary, cublasLtMatmul,
                    (void* handle, void* operation, const void* alpha, const void* a, void* desc_a,
                     const void* b, void* desc_b, const void* beta, const void* c, void* desc_c,
                     void* d, void* desc_d, const void* algorithm, void* workspace,
                     std::size_t workspace_bytes, void* stream),
                    (handle, operation, alpha, a, desc_a, b, desc_b, beta, c, desc_c, d, desc_d,
                     algorithm, workspace, workspace_bytes, stream),
                    emit(traceinject::DescribeMatmul(operation, desc_a, desc_b, desc_d, caller)))
