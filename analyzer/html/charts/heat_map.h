// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "analyzer/html/charts/chart.h"
#include "analyzer/html/page/markup.h"

namespace traceinject {

struct HeatRow {
  std::string label;
  std::vector<double> shares;  // NaN: not known
  std::string tip;
};

// A row for each, colored by shares: the limits are those by which the text report marks lateness.
// Where there are more columns than fit, one stands for several and has the largest of them.
// `columns_are`: "step", for the words below. `first`: number of the first column.
void WriteHeatMap(Markup& out, const ChartText& text, const std::vector<HeatRow>& rows,
                  const std::string& columns_are, double first);

}  // namespace traceinject
