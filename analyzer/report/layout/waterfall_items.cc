// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/layout/waterfall_items.h"

#include <fmt/format.h>

#include <vector>

#include "analyzer/common/units.h"
#include "analyzer/report/layout/kernel_names.h"

namespace traceinject {
namespace {

constexpr std::size_t kItemWidth = 60;

}  // namespace

std::string WaterfallItemsText(const proto::WaterfallBar& bar) {
  std::vector<std::string> names;
  for (const proto::WaterfallItem& item : bar.items()) names.push_back(item.name());
  if (bar.part() == "unknown_work") names = ShortKernelNames(names, kItemWidth);
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += fmt::format("{}{} {}", i == 0 ? "" : "; ", names[i],
                        FormatTime(bar.items(static_cast<int>(i)).ns()));
  return text;
}

}  // namespace traceinject
