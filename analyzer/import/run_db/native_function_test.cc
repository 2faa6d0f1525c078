// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/run_db/native_function.h"

#include <gtest/gtest.h>

#include <utility>

#include "analyzer/model/demangle.h"

namespace traceinject {
namespace {

TEST(NativeFunctionTest, NamesWithoutWhatTheyReturnAndTake) {
  const std::pair<const char*, const char*> names[] = {
      {"main", "main"},
      {"gpt2_forward(GPT2*, int const*, unsigned long)", "gpt2_forward"},
      {"model::Attention::forward(int, char const*) const", "model::Attention::forward"},
      {"void model::adam<float>(float)", "model::adam<float>"},
      {"std::vector<int, std::allocator<int> > model::load<int>(int)", "model::load<int>"},
      {"(anonymous namespace)::Train(bool, int)", "Train"},
      {"void (anonymous namespace)::work<2>(int)", "work<2>"},
      {"main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()"},
      {"Tensor::operator bool() const", "Tensor::operator bool"},
      {"operator new(unsigned long)", "operator new"},
      {"run(void (*)(int))", "run"},
      {"program+0x1230", "program+0x1230"},
      {"(", "("},
      {"", ""},
      {") const", ") const"},
  };
  for (const auto& [name, text] : names) EXPECT_EQ(ShortFunction(name), text) << name;
  EXPECT_EQ(ShortFunction(Demangle("_ZN5model9Attention7forwardEiPKc")),
            "model::Attention::forward");
  EXPECT_EQ(ShortFunction("void f<" + std::string(100, 'x') + ", g<int> >(int)"), "f<...>");
}

TEST(NativeFunctionTest, FunctionsOfLibrariesInsideOfTheProgram) {
  for (const char* name : {"std::sort<int*>", "cudaMalloc<float>", "__device_stub__fill",
                           "__wrapper__device_stub_scale<float>", "ncclAllReduce", "at::matmul",
                           "thrust::reduce<int>", "_start"})
    EXPECT_TRUE(IsLibraryFunction(name)) << name;
  for (const char* name : {"main", "model::forward", "cuda_check", "ncclient", "cudacheck", "start",
                           "atomic", "standard::f", ""})
    EXPECT_FALSE(IsLibraryFunction(name)) << name;
}

TEST(NativeFunctionTest, ObjectsOfTheSystem) {
  for (const char* path :
       {"/usr/lib/x86_64-linux-gnu/libc.so.6", "/home/me/libtorch/lib/libtorch_cuda.so",
        "/opt/app/libcublasLt.so.13", "/usr/lib/x86_64-linux-gnu/libmine.so",
        "/w/libcudart-d0da41ae.so.11.0", "/w/site-packages/numpy/core.so", "/usr/bin/python3.11",
        "/lib64/ld-linux-x86-64.so.2"})
    EXPECT_TRUE(IsLibraryObject(path)) << path;
  for (const char* path :
       {"/home/me/train", "/home/me/libmodel.so", "/usr/bin/train", "?", "",
        "/home/me/libcustom.so", "/home/me/libnvision.so", "/home/me/liblayers.so.1"})
    EXPECT_FALSE(IsLibraryObject(path)) << path;
}

}  // namespace
}  // namespace traceinject
