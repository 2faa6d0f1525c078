// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/new_utilisation.h"

namespace traceinject {

void AddNewUtilization(Report& report) {
  proto::Verdict& verdict = *report.mutable_verdict();
  if (!verdict.has_new_step_ns() || verdict.new_step_ns() <= 0 || verdict.steps() == 0) return;
  const auto new_step_ns = static_cast<double>(verdict.new_step_ns());
  const proto::Mfu& mfu = report.mfu();
  if (mfu.has_mfu_percent() && mfu.peak_tflops_per_device() > 0 && mfu.devices() > 0) {
    const double peak_flops = mfu.devices() * mfu.peak_tflops_per_device() * 1e12;
    const double percent = 100 * mfu.flops_per_step() / (new_step_ns * 1e-9 * peak_flops);
    if (percent <= 100) verdict.set_new_mfu_percent(percent);
  }
  const proto::MatrixProducts& products = report.run().matrix_products();
  if (products.has_peak_share()) {
    const double share =
        products.peak_share() * static_cast<double>(products.step_ns()) / new_step_ns;
    if (share <= 1) verdict.set_new_peak_share(share);
  }
}

}  // namespace traceinject
