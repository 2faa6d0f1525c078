// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "analyzer/html/page/markup.h"
#include "analyzer/view/excerpt/excerpt.h"

namespace traceinject {

// The whole excerpt where no script runs: a drawing a row, in as many columns as fit into so many
// bytes. The height of a column is the share of its time that is busy, its color that of what has
// most of it. O(rows x columns + spans).
void WriteTimelinePicture(Markup& out, const Excerpt& excerpt, std::size_t max_bytes);

}  // namespace traceinject
