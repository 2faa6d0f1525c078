// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/sections/roofline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analyzer/html/testing/well_formed.h"

namespace traceinject {
namespace {

class RooflineTest : public testing::Test {
 protected:
  RooflineTest() {
    proto::DeviceReport& device = *report_.add_devices();
    device.mutable_peaks()->set_title("a GPU");
    device.mutable_peaks()->set_bf16_tflops(1000);
    device.mutable_peaks()->set_memory_gb_per_s(4000);
  }

  proto::Kernel& Add(const std::string& name) {
    proto::Kernel& kernel = *report_.mutable_run()->add_top_kernels();
    kernel.set_name(name);
    kernel.set_dtype("bf16");
    kernel.set_share(0.25);
    return kernel;
  }
  static void CountersOf(proto::Kernel& kernel, double tflops, double gb_per_s,
                         const std::string& limiter) {
    proto::KernelCounters& counters = *kernel.mutable_counters();
    counters.set_peak_share(tflops / 1000);
    counters.set_tflops_per_s(tflops);
    counters.set_memory_gb_per_s(gb_per_s);
    counters.set_limiter(limiter);
  }

  ReadPage Write() {
    Markup out;
    out.Verbatim("<!DOCTYPE html>\n");
    {
      const auto body = out.Open("body");
      WriteRoofline({report_, ranks_, {}, out});
    }
    return Read(out.text());
  }
  static int DotsOf(const ReadPage& page, const std::string& mark) {
    return static_cast<int>(
        std::count_if(page.elements.begin(), page.elements.end(), [&](const PageElement& element) {
          const auto of = element.attributes.find("class");
          return of != element.attributes.end() && of->second == "dot " + mark;
        }));
  }
  static bool Says(const ReadPage& page, const std::string& text) {
    return page.text.find(text) != std::string::npos;
  }
  // On a dot.
  static bool Tells(const ReadPage& page, const std::string& text) {
    return std::any_of(page.elements.begin(), page.elements.end(), [&](const PageElement& element) {
      const auto tip = element.attributes.find("data-tip");
      return tip != element.attributes.end() && tip->second.find(text) != std::string::npos;
    });
  }

  proto::Report report_;
  proto::Ranks ranks_;
};

TEST_F(RooflineTest, WithoutKnownWorkThereIsASentence) {
  Add("gemm");
  const ReadPage page = Write();
  EXPECT_EQ(page.error, "");
  EXPECT_TRUE(Says(page, "TRACEINJECT_COUNTERS=auto"));
}

TEST_F(RooflineTest, BytesAreAsMeasuredWhereTheyWere) {
  proto::Kernel& shaped = Add("shaped");
  shaped.mutable_work()->set_tflops_per_s(600);
  shaped.mutable_work()->set_flops_per_byte(500);
  shaped.mutable_work()->set_bound("compute");
  EXPECT_TRUE(Says(Write(), "FLOP/byte is an upper bound: each matrix is counted as moved once."));
  CountersOf(shaped, 650, 3000, "tensor");
  const ReadPage page = Write();
  EXPECT_EQ(page.error, "");
  EXPECT_TRUE(Tells(page, "shaped: 600.0 TFLOP/s")) << "shapes tell the FLOPs";
  EXPECT_TRUE(Tells(page, "200.0 FLOP/byte of measured bytes, compute-bound"));
  EXPECT_TRUE(Says(page, "Bytes of 1 name are as the counters of the memory tell."));
  EXPECT_FALSE(Says(page, "upper bound"));
}

TEST_F(RooflineTest, WhatShapesDoNotTellCountersDo) {
  CountersOf(Add("fused"), 300, 3600, "memory");
  CountersOf(Add("convolution"), 800, 900, "tensor");
  CountersOf(Add("small"), 100, 400, "latency");
  CountersOf(Add("hardly"), 10, 400, "latency");
  const ReadPage page = Write();
  EXPECT_EQ(page.error, "");
  EXPECT_EQ(DotsOf(page, "memory-bound"), 1);
  EXPECT_EQ(DotsOf(page, "compute-bound"), 1);
  EXPECT_EQ(DotsOf(page, "bound-unknown"), 1) << "of what hardly uses tensor cores nothing is said";
  EXPECT_TRUE(Says(page, "neither, or unknown"));
  EXPECT_TRUE(Tells(page, "fused: 300.0 TFLOP/s, 30.0 % of the peak by counters; 83.3 FLOP/byte"));
  EXPECT_TRUE(Says(page, "FLOPs are known for 3 of"));
}

}  // namespace
}  // namespace traceinject
