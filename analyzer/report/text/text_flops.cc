// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyzer/common/units.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/text/text_sections.h"
#include "analyzer/verdict/verdict_text.h"

namespace traceinject {
namespace {

// "2 x 4096 x 1024 x 4096".
std::string ProductText(const proto::MatrixProductRow& row) {
  const std::string one = fmt::format("{} x {} x {}", row.m(), row.n(), row.k());
  return row.batch() == 1 ? one : fmt::format("{} x ({})", row.batch(), one);
}

void WriteStepFlops(TextReport& to, const proto::MatrixProducts& products) {
  if (!products.has_flops_per_step() || products.flops_per_step() <= 0) return;
  std::string text =
      fmt::format("known FLOPs per step: {:.4g} TFLOP", products.flops_per_step() / 1e12);
  if (products.has_peak_share()) {
    text += fmt::format(": hardware FLOPs utilization (HFU) at least {}",
                        Percent(products.peak_share(), 1));
    const proto::Verdict& verdict = to.report.verdict();
    if (verdict.has_new_peak_share())
      text += fmt::format("; {} without {}", Percent(verdict.new_peak_share()), TitleOn(verdict));
  } else if (!products.peak_reason().empty()) {
    text += "; share of the peak unknown: " + products.peak_reason();
  }
  to.page.Sentence(text);
}

void WriteAttention(TextReport& to, const proto::MatrixProducts& products) {
  const proto::Attention& attention = products.attention();
  if (attention.calls() > 0) {
    to.page.Sentence(fmt::format(
        "attention: {} ({} backward), {} of them linked to their kernels: {:.4g} TFLOP in {}",
        Plural(attention.calls(), "call"), FormatCount(attention.backward_calls()),
        FormatCount(attention.linked_calls()), attention.flops() / 1e12,
        FormatTime(attention.kernel_ns())));
    if (attention.product_calls() > 0)
      to.page.Sentence(fmt::format("{} done as GEMMs, which are counted above",
                                   Plural(attention.product_calls(), "attention call")));
    if (attention.unknown_calls() > 0)
      to.page.Sentence(fmt::format("FLOPs of {} unknown: the sequence lengths are on the GPU",
                                   Plural(attention.unknown_calls(), "attention call")));
  }
  WriteStepFlops(to, products);
  if (products.unknown_share() > 0)
    to.page.Sentence(fmt::format(
        "{} of the kernel time is in GEMMs, convolutions or attention with unknown FLOPs",
        Percent(products.unknown_share(), 1)));
}

}  // namespace

void WritePeaks(TextReport& to, const proto::DeviceReport& device) {
  if (!device.has_peaks()) return to.page.Sentence("published rates: not known for this GPU");
  const proto::GpuPeaks& peaks = device.peaks();
  std::string text = fmt::format("published rates of {}:", peaks.title());
  if (peaks.has_bf16_tflops()) text += fmt::format(" bf16 {:g} TFLOPS dense,", peaks.bf16_tflops());
  if (peaks.has_fp16_tflops()) text += fmt::format(" fp16 {:g} TFLOPS dense,", peaks.fp16_tflops());
  if (peaks.has_memory_gb_per_s())
    text += fmt::format(" memory {:g} GB/s,", peaks.memory_gb_per_s());
  if (peaks.has_nvlink_gb_per_s())
    text += fmt::format(" NVLink {:g} GB/s per direction,", peaks.nvlink_gb_per_s());
  text.pop_back();
  to.page.Sentence(text);
}

void WriteMatrixProducts(TextReport& to, const proto::MatrixProducts& products, std::size_t rows) {
  to.page.Sentence(fmt::format("{}, {} of them linked to their kernels: {:.4g} TFLOP in {}",
                               Plural(products.calls(), "call"),
                               FormatCount(products.linked_calls()), products.flops() / 1e12,
                               FormatTime(products.kernel_ns())));
  if (products.from_operators())
    to.page.Sentence(
        "FLOPs are from the input shapes of PyTorch operators (record_shapes=True); a convolution "
        "counts as the GEMM that it equals");
  TextRows table = {{"m x n x k", "types", "calls", "kernels", "time", "TFLOP/s"}};
  for (const proto::MatrixProductRow& row : products.rows()) {
    if (table.size() > rows) break;
    table.push_back(
        {ProductText(row), row.types(), FormatCount(row.calls()), FormatCount(row.kernels()),
         FormatTime(row.kernel_ns()),
         row.has_tflops_per_s() ? fmt::format("{:.1f}", row.tflops_per_s()) : kUnknownText});
  }
  if (table.size() > 1) to.page.Table(table, 2, 5);
  WriteMore(to, rows, products.rows_size());
  WriteAttention(to, products);
}

void WriteMfu(TextReport& to) {
  const proto::Mfu& mfu = to.report.mfu();
  to.page.Heading("Model FLOPs utilization (MFU)");
  if (mfu.has_mfu_percent()) {
    const proto::Verdict& verdict = to.report.verdict();
    to.page.Sentence(fmt::format(
        "{:.2f} %: {:.1f} of {:.1f} TFLOPS on each of {}{}", mfu.mfu_percent(),
        mfu.achieved_tflops_per_device(), mfu.peak_tflops_per_device(),
        Plural(mfu.devices(), "GPU"),
        verdict.has_new_mfu_percent()
            ? fmt::format("; {:.2f} % without {}", verdict.new_mfu_percent(), TitleOn(verdict))
            : std::string()));
    if (mfu.has_percent_at_clock())
      to.page.Sentence(fmt::format(
          "{:.2f} % at their busy clock of {:.0f} MHz; the published rate is for {:.0f} MHz",
          mfu.percent_at_clock(), mfu.busy_sm_clock_mhz(), mfu.rated_sm_clock_mhz()));
  } else {
    to.page.Sentence("unknown: " + mfu.reason());
  }
  if (!mfu.requested()) return;
  if (mfu.has_flops_per_step())
    to.page.Sentence(
        fmt::format("FLOPs per step: {:.4g} ({})", mfu.flops_per_step(), mfu.convention()));
  if (mfu.has_steps())
    to.page.Sentence(fmt::format("steps: {} ({}) in {}", FormatCount(mfu.steps()),
                                 mfu.steps_source(), FormatTime(mfu.window_ns())));
  if (!mfu.peak_source().empty()) to.page.Sentence("peak: " + mfu.peak_source());
}

}  // namespace traceinject
