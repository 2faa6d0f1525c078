// SPDX-License-Identifier: Apache-2.0
// What the wrappers need of cuBLAS' and cuBLASLt's interfaces, which no header has to be installed
// for. The same in CUDA 12.0 to 13.0; source: library_types.h, cublas_api.h and cublasLt.h of CUDA
// 13.0, compared with those of 12.6. Enumerations are ints, handles and descriptors pointers.
#pragma once

namespace traceinject::cublas {

inline constexpr char kLibrary[] = "libcublas.so";
inline constexpr char kLtLibrary[] = "libcublasLt.so";

inline constexpr int kNotInitialized = 1;  // CUBLAS_STATUS_NOT_INITIALIZED

// cudaDataType
inline constexpr int kReal32 = 0, kReal64 = 1, kReal16 = 2, kComplex32 = 4, kComplex64 = 5;

// cublasLtMatrixLayoutAttribute_t: uint32, uint64, uint64, int32
inline constexpr int kLayoutType = 0, kLayoutRows = 2, kLayoutColumns = 3, kLayoutBatch = 5;
// cublasLtMatmulDescAttributes_t: int32 each
inline constexpr int kMatmulComputeType = 0, kMatmulTransA = 3, kMatmulTransB = 4;

}  // namespace traceinject::cublas
