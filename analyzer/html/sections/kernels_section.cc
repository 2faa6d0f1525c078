// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyzer/common/units.h"
#include "analyzer/html/sections/html_table.h"
#include "analyzer/html/sections/roofline.h"
#include "analyzer/html/sections/sections.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/tables/full_tables.h"

namespace traceinject {
namespace {

constexpr std::size_t kKernelRows = 30;
constexpr std::size_t kProductRows = 10;

bool HasKernels(const HtmlReport& to) { return to.report.run().kernels().count() > 0; }

void WriteKernels(const HtmlReport& to) {
  const proto::Run& run = to.report.run();
  to.out.Leaf(
      "p", fmt::format("{} of {} in {}; unclassified {}", Plural(run.kernels().count(), "kernel"),
                       Plural(run.kernels().distinct_names(), "name"),
                       FormatTime(run.kernels().total_ns()),
                       Percent(run.kernels().unclassified_share())));
  WriteHtmlTable(to.out, KernelTable(to.report),
                 {.caption = "Kernels by name, by time",
                  .rows = kKernelRows,
                  .where_all = "analyze kernels shows all",
                  .order = "share"});
  WriteWaterfallBars(to);
  to.out.Leaf("h3", "Roofline");
  WriteRoofline(to);
  Reused reused(to);
  TextReport& text = reused.text();
  if (run.kernel_findings_size() > 0) {
    text.page.Heading("Kernel findings");
    WriteKernelFindings(text, run.kernel_findings());
  }
  text.page.Heading("Kernel classes");
  WriteKernelClasses(text, run.classes());
  if (run.matrix_products().calls() + run.matrix_products().attention().calls() == 0) return;
  text.page.Heading("GEMMs");
  WriteMatrixProducts(text, run.matrix_products(), kProductRows);
}

}  // namespace

const HtmlSection kKernelsSection = {"kernels", "Kernels", HasKernels, WriteKernels};

}  // namespace traceinject
