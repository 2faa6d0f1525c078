// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/mfu_options.h"

#include <string>

namespace traceinject {

void AddMfuOptions(CLI::App& app, MfuOptions& mfu) {
  AddAmount(app, "--flops-per-step", mfu.flops_per_step,
            "floating point operations of one step of the whole job");
  AddAmount(app, "--params", mfu.params,
            "parameters of the model, with --tokens-per-step: 6 x parameters x tokens");
  AddAmount(app, "--tokens-per-step", mfu.tokens_per_step, "tokens of one step of the whole job");
  app.add_option("--step-count", mfu.steps,
                 "steps in the window, for model FLOPs utilisation; without it the regular steps "
                 "that were found are counted")
      ->check(WholeNumberFrom(1));
  AddAmount(app, "--peak-tflops", mfu.peak_tflops,
            "peak rate of each GPU that MFU is measured against, in 10^12 operations per second; "
            "without it the published one");
  app.add_option_function<std::string>(
         "--peak",
         [&mfu](const std::string& name) {
           const std::optional<PeakDtype> dtype = PeakDtypeFromName(name);
           if (!dtype) throw CLI::ValidationError("--peak", "unknown number format: " + name);
           mfu.peak_dtype = *dtype;
         },
         "number format whose peak rate MFU is measured against")
      ->type_name("bf16|fp16|tf32|fp8|fp32");
}

}  // namespace traceinject
