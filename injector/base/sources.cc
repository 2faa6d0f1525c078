// SPDX-License-Identifier: Apache-2.0
#include "injector/base/sources.h"

namespace traceinject {

unsigned SourcesOf(const Options& options) {
  unsigned sources = 0;
  const auto add = [&](bool wanted, Source source) {
    if (wanted) sources |= static_cast<unsigned>(source);
  };
  add(options.sync, Source::kSync);
  add(options.gemm, Source::kGemm);
  for (const Source sampled :
       {Source::kDeviceSamples, Source::kDeviceSlowSamples, Source::kHostSamples})
    add(options.telemetry_hz > 0, sampled);
  add(options.stacks_hz > 0, Source::kStacks);
  add(options.counters != "0", Source::kCounters);
  sources |= static_cast<unsigned>(Source::kProgram);
  return sources;
}

}  // namespace traceinject
