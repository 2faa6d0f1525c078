// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/shared/mfu_options.h"

#include <string>

#include "analyzer/commands/shared/arguments.h"

namespace traceinject {

void AddMfuOptions(CLI::App& app, MfuOptions& options) {
  AddAmount(app, "--flops-per-step", options.flops_per_step,
            "floating point operations of one step of the whole job");
  AddAmount(app, "--params", options.params,
            "parameters of the model, with --tokens-per-step: 6 x parameters x tokens");
  AddAmount(app, "--tokens-per-step", options.tokens_per_step,
            "tokens of one step of the whole job");
  app.add_option("--step-count", options.steps,
                 "steps in the window, for model FLOPs utilisation; without it the regular steps "
                 "that were found are counted")
      ->check(WholeNumberFrom(1));
  AddAmount(app, "--peak-tflops", options.peak_tflops,
            "peak rate of each GPU that MFU is measured against, in 10^12 operations per second; "
            "without it the published one");
  app.add_option_function<std::string>(
         "--peak",
         [&options](const std::string& name) { options.peak_dtype = *PeakDtypeFromName(name); },
         "number format whose peak rate MFU is measured against")
      ->check(CLI::Validator(
          [](std::string& name) {
            return PeakDtypeFromName(name) ? "" : "unknown number format: " + name;
          },
          "bf16|fp16|tf32|fp8|fp32"));
}

}  // namespace traceinject
