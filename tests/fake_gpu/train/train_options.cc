// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_gpu/train/train_options.h"

#include <charconv>
#include <cstdio>
#include <string_view>

namespace traceinject::fake {
namespace {

struct NumberFlag {
  std::string_view name;
  int TrainOptions::*member;
};
struct SwitchFlag {
  std::string_view name;
  bool TrainOptions::*member;
};
struct TextFlag {
  std::string_view name;
  std::string TrainOptions::*member;
};

constexpr NumberFlag kNumbers[] = {
    {"--steps", &TrainOptions::steps},
    {"--kernels", &TrainOptions::kernels},
    {"--kernel-us", &TrainOptions::kernel_us},
    {"--streams", &TrainOptions::streams},
    {"--devices", &TrainOptions::devices},
    {"--threads", &TrainOptions::threads},
    {"--host-us", &TrainOptions::host_us},
    {"--fetch-us", &TrainOptions::fetch_us},
    {"--pace", &TrainOptions::pace},
    {"--data-wait-us", &TrainOptions::data_wait_us},
    {"--step-us", &TrainOptions::step_us},
    {"--graph", &TrainOptions::graph},
    {"--fork-loop", &TrainOptions::fork_loop},
    {"--churn", &TrainOptions::churn},
    {"--long-text", &TrainOptions::long_text},
    {"--wait-us", &TrainOptions::wait_us},
    {"--wait-every", &TrainOptions::wait_every},
    {"--pageable-mb", &TrainOptions::pageable_mb},
    {"--sync-every", &TrainOptions::sync_every},
    {"--stall-at", &TrainOptions::stall_at},
    {"--stall-ms", &TrainOptions::stall_ms},
    {"--evaluate-every", &TrainOptions::evaluate_every},
};
constexpr SwitchFlag kSwitches[] = {
    {"--memcpy", &TrainOptions::memcpy},
    {"--memset", &TrainOptions::memset},
    {"--peer", &TrainOptions::peer},
    {"--events", &TrainOptions::events},
    {"--alloc", &TrainOptions::alloc},
    {"--cluster", &TrainOptions::cluster},
    {"--failing-call", &TrainOptions::failing_call},
    {"--nvtx", &TrainOptions::nvtx},
    {"--nccl-more", &TrainOptions::nccl_more},
    {"--nccl-early", &TrainOptions::nccl_early},
    {"--leave-open", &TrainOptions::leave_open},
    {"--extra-pop", &TrainOptions::extra_pop},
    {"--no-gpu", &TrainOptions::no_gpu},
    {"--init-only", &TrainOptions::init_only},
    {"--report", &TrainOptions::report},
    {"--exec-child", &TrainOptions::exec_child},
    {"--vfork-child", &TrainOptions::vfork_child},
    {"--late-launch", &TrainOptions::late_launch},
    {"--close-range", &TrainOptions::close_range},
    {"--profile-unseen", &TrainOptions::profile_unseen},
    {"--profile-finalize", &TrainOptions::profile_finalize},
};
constexpr TextFlag kTexts[] = {
    {"--nccl", &TrainOptions::nccl},       {"--launch", &TrainOptions::launch},
    {"--sync", &TrainOptions::sync},       {"--fork", &TrainOptions::fork},
    {"--victim", &TrainOptions::victim},   {"--exit", &TrainOptions::exit},
    {"--set-env", &TrainOptions::set_env}, {"--profile", &TrainOptions::profile},
    {"--work", &TrainOptions::work},
};

bool ParseNumber(std::string_view text, int* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

bool SetSwitch(std::string_view name, TrainOptions* options) {
  for (const SwitchFlag& flag : kSwitches) {
    if (flag.name == name) return options->*flag.member = true;
  }
  return false;
}

bool SetValue(std::string_view name, std::string_view value, TrainOptions* options) {
  for (const NumberFlag& flag : kNumbers) {
    if (flag.name == name) return ParseNumber(value, &(options->*flag.member));
  }
  for (const TextFlag& flag : kTexts) {
    if (flag.name == name) return options->*flag.member = std::string(value), true;
  }
  return false;
}

}  // namespace

bool ParseTrainOptions(int argc, char** argv, TrainOptions* options) {
  for (int i = 1; i < argc; ++i) {
    if (SetSwitch(argv[i], options)) continue;
    if (i + 1 < argc && SetValue(argv[i], argv[i + 1], options)) {
      ++i;
      continue;
    }
    std::fprintf(stderr, "fake_train: %s is no option, or has no proper value\n", argv[i]);
    return false;
  }
  return true;
}

}  // namespace traceinject::fake
