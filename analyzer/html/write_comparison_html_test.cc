// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/write_comparison_html.h"

#include <gtest/gtest.h>

#include "analyzer/html/testing/well_formed.h"

namespace traceinject {
namespace {

void Set(proto::Change& change, std::int64_t before_ns, std::int64_t after_ns) {
  change.set_before_ns(before_ns);
  change.set_after_ns(after_ns);
  change.set_change_ns(after_ns - before_ns);
  change.set_low_ns(after_ns - before_ns - 1'000'000);
  change.set_high_ns(after_ns - before_ns + 1'000'000);
  change.set_certain(true);
}

proto::Comparison FasterRun() {
  proto::Comparison found;
  found.set_outcome("faster");
  found.set_conclusion("Faster: a step takes 30.00 ms after, 70.00 ms before.");
  found.mutable_before()->add_paths("before.db");
  found.mutable_before()->set_verdict_title("Data loading (dataloader)");
  found.mutable_after()->add_paths("after.db");
  found.mutable_after()->set_verdict_title("Compute-bound (compute_bound)");
  Set(*found.mutable_step_ns(), 70'000'000, 30'000'000);
  for (const auto& [name, before_ns] :
       {std::pair("compute", 30'000'000), std::pair("idle: data wait", 40'000'000)}) {
    proto::StepPart& part = *found.add_parts();
    part.set_name(name);
    Set(*part.mutable_change(), before_ns, name == std::string("compute") ? 30'000'000 : 0);
  }
  found.mutable_kernels()->set_compared(2);
  for (const char* name : {"gemm", "</script><script>window.harmed=1</script>"}) {
    proto::KernelChange& kernel = *found.mutable_kernels()->add_rows();
    kernel.set_name(name);
    kernel.set_state("faster");
    Set(*kernel.mutable_step_ns(), 2'000'000, 1'000'000);
  }
  found.set_method("Intervals are those of a test.");
  return found;
}

TEST(WriteComparisonHtmlTest, OutcomeComesFirst) {
  const ReadPage page = Read(WriteComparisonHtml(FasterRun()));
  EXPECT_EQ(page.error, "");
  EXPECT_EQ(page.Count("h1"), 1);
  EXPECT_EQ(page.Count("script"), 1) << "a name is text";
  const std::size_t outcome = page.text.find("faster", page.text.find("what changed"));
  EXPECT_LT(outcome, page.text.find("A mean step"));
  for (const char* shown : {"-40.00\u00A0ms", "70.00\u00A0ms → 30.00\u00A0ms",
                            "Data loading (dataloader) → Compute-bound (compute_bound)",
                            "Intervals are those of a test."})
    EXPECT_NE(page.text.find(shown), std::string::npos) << shown;
  bool has_wait = false;
  for (const PageElement& one : page.elements)
    has_wait |= one.tag == "rect" && one.attributes.at("class") == "idle-data-wait";
  EXPECT_TRUE(has_wait) << "the part of the bar that went away";
}

TEST(WriteComparisonHtmlTest, SizeIsBounded) {
  proto::Comparison found = FasterRun();
  for (int i = 0; i < 20'000; ++i) {
    *found.mutable_kernels()->add_rows() = found.kernels().rows(0);
    proto::SettingChange& setting = *found.add_settings();
    setting.set_name(std::string(100, 's'));
  }
  const std::string page = WriteComparisonHtml(found);
  EXPECT_LT(page.size(), 500'000u);
  EXPECT_NE(page.find("19,942 more are not shown"), std::string::npos);
}

TEST(WriteComparisonHtmlTest, RunsWithoutStepsHaveAPage) {
  proto::Comparison found;
  found.set_outcome("unknown");
  EXPECT_EQ(Read(WriteComparisonHtml(found)).error, "");
}

}  // namespace
}  // namespace traceinject
