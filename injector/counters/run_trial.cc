// SPDX-License-Identifier: Apache-2.0
// What runs in the process of a trial (set_trial.h).
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "injector/counters/pm_session.h"
#include "injector/counters/set_trial.h"
#include "injector/counters/trial_arguments.h"

namespace traceinject {
namespace {

constexpr unsigned kLongestTrialS = 20;
// An idle GPU has samples, too.
constexpr int kLooks = 50;
constexpr long kBetweenLooksNs = 10'000'000;

void Say(const std::string& line) {
  [[maybe_unused]] const ssize_t written = write(STDOUT_FILENO, line.data(), line.size());
}

void SayFailed(const PmFailure& failure) {
  Say("failed " + std::string(failure.function) + " " + std::to_string(failure.result) + "\n");
}

// A function of the driver, with numbers for its types.
template <typename Function>
Function FindInDriver(const char* name) {
  static void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  return library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
}

bool StartCuda() {
  const auto initialize = FindInDriver<int (*)(unsigned)>("cuInit");
  return initialize != nullptr && initialize(0) == 0;
}

bool MakeContext(int device) {
  const auto retain = FindInDriver<int (*)(void**, int)>("cuDevicePrimaryCtxRetain");
  const auto use = FindInDriver<int (*)(void*)>("cuCtxSetCurrent");
  void* context = nullptr;
  return retain != nullptr && use != nullptr && retain(&context, device) == 0 && use(context) == 0;
}

// Whether all of them can be values.
bool AreNumbers(const PmSamples& samples) {
  return std::all_of(samples.values.begin(), samples.values.end(),
                     [](double value) { return std::isnan(value) || std::abs(value) < 1e12; });
}

bool TakeSamples(PmSession* session, PmFailure* failure) {
  if (!session->Start(failure)) return false;
  PmSamples samples;
  for (int look = 0; look < kLooks && samples.size() == 0; ++look) {
    const timespec wait{0, kBetweenLooksNs};
    nanosleep(&wait, nullptr);
    if (!session->Decode(&samples, failure)) return false;
  }
  if (samples.size() == 0) return *failure = {"no sample", pm::kUnknown}, false;
  if (!AreNumbers(samples)) return *failure = {"no numbers", pm::kUnknown}, false;
  return session->Stop(failure);
}

void Try(const TrialOf& trial) {
  void* cupti = dlopen(trial.cupti.c_str(), RTLD_LAZY | RTLD_LOCAL);
  const auto library = BindPmSampling(cupti);
  if (!library) return Say("untried libcupti does not load\n");
  if (!StartCuda()) return Say("untried CUDA does not start in another process\n");
  const std::vector<CounterSet> sets = CounterSetsOf(trial.chip);
  const auto set = std::find_if(sets.begin(), sets.end(),
                                [&](const CounterSet& one) { return HashOf(one) == trial.set; });
  if (set == sets.end()) return Say("untried no such set\n");
  PmSession session(*library);
  PmFailure failure;
  if (!session.Open(0, trial.chip, *set, trial.interval_ns, MakeContext, &failure) ||
      !TakeSamples(&session, &failure))
    return SayFailed(failure);
  session.Close();
  Say("passed\n");
}

}  // namespace

int RunTrial(const std::vector<std::string>& arguments) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  alarm(kLongestTrialS);
  // What the program has open is not for us to keep.
  for (int descriptor = 3; descriptor < 4096; ++descriptor) close(descriptor);
  const auto trial = FromArguments(arguments);
  if (!trial) return 2;
  Try(*trial);
  return 0;
}

}  // namespace traceinject
