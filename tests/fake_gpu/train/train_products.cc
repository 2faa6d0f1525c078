// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_gpu/train/train_products.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace traceinject::fake {

TrainProducts::TrainProducts() {
  void* library = dlopen("gemm_user.so", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "fake_train: %s\n", dlerror());
    std::exit(2);
  }
  run_ = reinterpret_cast<int (*)(int, int, int, void*)>(dlsym(library, "RunProduct"));
}

void TrainProducts::Multiply(cudaStream_t stream) const {
  const int result = run_(4095, 8192, 8192, stream);
  if (result == 0) return;
  std::fprintf(stderr, "fake_train: a product failed with error %d\n", result);
  std::exit(9);
}

}  // namespace traceinject::fake
