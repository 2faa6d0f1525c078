// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/report/layout/text_layout.h"
#include "schemas/comparison.pb.h"

namespace traceinject {

// For people.
void WriteGate(const proto::GateResult& result, TextPage& page);

// All figures that conditions may be about, and the labels of verdicts.
void WriteFigureList(TextPage& page);

}  // namespace traceinject
