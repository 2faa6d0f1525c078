// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/shared/mfu_options.h"

#include <string>

#include "analyzer/commands/shared/arguments.h"

namespace traceinject {

void AddMfuOptions(CLI::App& app, MfuOptions& options) {
  AddAmount(app, "--flops-per-step", options.flops_per_step,
            "floating-point operations per step of the whole job");
  AddAmount(app, "--params", options.params,
            "model parameters, with --tokens-per-step: FLOPs = 6 x parameters x tokens");
  AddAmount(app, "--tokens-per-step", options.tokens_per_step, "tokens per step of the whole job");
  app.add_option(
         "--step-count", options.steps,
         "steps in the window, for model FLOPs utilization; by default the regular steps found")
      ->check(WholeNumberFrom(1));
  AddAmount(app, "--peak-tflops", options.peak_tflops,
            "peak rate of each GPU for MFU, in TFLOPS; by default the published rate");
  app.add_option_function<std::string>(
         "--peak",
         [&options](const std::string& name) { options.peak_dtype = *PeakDtypeFromName(name); },
         "data type whose peak rate MFU is measured against")
      ->check(CLI::Validator(
          [](std::string& name) {
            return PeakDtypeFromName(name) ? "" : "unknown data type: " + name;
          },
          "bf16|fp16|tf32|fp8|fp32"));
}

}  // namespace traceinject
