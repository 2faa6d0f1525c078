// SPDX-License-Identifier: Apache-2.0
// What ranks do to each other (analyzer/ranks), as causes beside those of the judged device.
//
// Both say what a mean step of the run would get back, so that they compete for the label as they
// are; only no time may count twice:
//   * a late rank whose own waits (for data, in synchronization, ...) explain most of why it is
//     later than the other GPUs: the cause is that wait on that rank, saving what the job gets
//     back;
//   * of the exposed communication of the judged device, waiting for other ranks and what a slow
//     link takes longer are no communication that a better overlap would hide.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "analyzer/metrics/report/device_figures.h"
#include "analyzer/verdict/add_rank_findings.h"
#include "analyzer/verdict/savings/savings.h"

namespace traceinject {

// Whether the replay of the job gives the recording back, so that savings can be taken from it.
bool IsPlayed(const proto::Ranks& ranks);

// Devices on which the largest cause of all is, if it is that some are late; empty: it is not.
std::vector<const DeviceAnalysis*> LateDevices(const std::deque<DeviceFigures>& judged,
                                               const RankFindings& found);

// Of a mean step of the job, what the device waited for other ranks with nothing else to do; empty:
// not known.
std::optional<double> ExposedWaitOf(const DeviceAnalysis& device, const RankFindings& found);

// Adds the findings to the savings of one of the judged devices; `found` must outlive these. A
// replay of the job that does not give the recording back adds none.
void AddSkewCauses(const std::deque<DeviceFigures>& judged, const DeviceAnalysis& device,
                   const RankFindings& found, Savings& savings);

}  // namespace traceinject
