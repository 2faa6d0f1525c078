// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyzer/common/units.h"
#include "analyzer/model/kernel_class.h"
#include "analyzer/report/kernel_names.h"
#include "analyzer/report/text_notation.h"
#include "analyzer/report/text_sections.h"

namespace traceinject {
namespace {

std::string ShapeText(const proto::LaunchShape& shape) {
  std::string text =
      fmt::format("grid {} block {}", DimsText(shape.grid()), DimsText(shape.block()));
  if (shape.cluster_size() == 3) text += fmt::format(" cluster {}", DimsText(shape.cluster()));
  return text;
}

constexpr std::size_t kNameColumn = 19;  // where names and details of two-line rows begin

}  // namespace

void WriteKernels(TextReport& to, const proto::KernelTotals& totals,
                  const Repeated<proto::Kernel>& kernels, std::size_t rows) {
  if (totals.count() == 0) return to.page.Sentence("no kernels");
  to.page.Sentence(fmt::format("{} of {} in {}; unclassified {}", Plural(totals.count(), "kernel"),
                               Plural(totals.distinct_names(), "name"),
                               FormatTime(totals.total_ns()),
                               Percent(totals.unclassified_share())));
  std::vector<std::string> names;
  for (const proto::Kernel& kernel : kernels) names.push_back(kernel.name());
  names = ShortKernelNames(names, kTextWidth - kNameColumn - 2);
  for (std::size_t i = 0; i < std::min(rows, names.size()); ++i) {
    const proto::Kernel& kernel = kernels[static_cast<int>(i)];
    to.page.Line(fmt::format("{:>8}  {:>9}  {}", Percent(kernel.share()),
                             FormatTime(kernel.total_ns()), names[i]));
    to.page.Sentence(fmt::format("{}: {} x {} ({} to {}), {}", kernel.kernel_class(),
                                 FormatCount(kernel.count()), Rounded(kernel.mean_ns()),
                                 FormatTime(kernel.min_ns()), FormatTime(kernel.max_ns()),
                                 ShapeText(kernel.shape())),
                     kNameColumn + 2);
  }
}

void WriteKernelClasses(TextReport& to, const Repeated<proto::KernelClass>& classes) {
  TextRows rows = {{"class", "share", "time", "count"}};
  for (const proto::KernelClass& one : classes) {
    const std::optional<KernelClass> known = KernelClassFromName(one.name());
    const std::string title = known == KernelClass::kOther || !known
                                  ? "other (unclassified)"
                                  : std::string(KernelClassTitle(*known));
    rows.push_back(
        {title, Percent(one.share()), FormatTime(one.total_ns()), FormatCount(one.count())});
  }
  to.page.Table(rows, 1, 3);
}

}  // namespace traceinject
