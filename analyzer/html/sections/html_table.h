// SPDX-License-Identifier: Apache-2.0
// Full tables (analyzer/report/tables/table.h) as HTML. The script makes them sortable.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "analyzer/html/page/markup.h"
#include "analyzer/report/tables/table.h"

namespace traceinject {

struct HtmlTableOptions {
  std::string caption = {};
  std::size_t rows = 50;        // the first ones; the rest is counted in a sentence
  std::size_t columns = 10;     // likewise: the first ones that tell anything
  std::string where_all = {};   // where to see them: "analyze kernels shows all"
  std::string_view order = {};  // name of the column that they are sorted by; empty: none
  bool ascending = false;       // they are, and not the largest first
};

// A sentence where there are no rows: `empty`.
void WriteHtmlTable(Markup& out, const Table& table, const HtmlTableOptions& options,
                    std::string_view empty = "none");

}  // namespace traceinject
