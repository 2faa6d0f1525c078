// SPDX-License-Identifier: Apache-2.0
#include "injector/counters/counter_sampler.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "injector/base/before_finalize.h"
#include "injector/base/clock.h"
#include "injector/base/counters.h"
#include "injector/base/own_thread.h"
#include "injector/base/sources.h"
#include "injector/counters/known_sets.h"
#include "injector/cuda/driver.h"
#include "injector/telemetry/fork_gate.h"

namespace traceinject {
namespace {

constexpr std::int64_t kMsNs = 1'000'000;
// Between looks at what the hardware took: about as many samples as are read at once; none waits
// for long, and the buffer holds them.
constexpr std::int64_t kLeastLookNs = 100 * kMsNs, kMostLookNs = 500 * kMsNs;
constexpr std::int64_t kLookSamples = 200;
// Where nobody asked for all samples, of one core for reading them, and in how many they come.
constexpr double kBudget = 0.005;
constexpr std::int64_t kBurstSamples = 250;
constexpr std::int64_t kLeastWaitNs = 2 * kMsNs;
// Another process that samples a device may end before this one.
constexpr std::int64_t kRetryNs = 5'000 * kMsNs;
constexpr std::int64_t kLongestStopNs = 200 * kMsNs;
constexpr auto kLongestTurn = std::chrono::seconds(1);
// In runs of at most a second, as the writer fetches them: many minutes' worth.
constexpr std::size_t kMaxWaiting = 10'000;
constexpr int kLeastMajor = 7, kLeastMinor = 5;
constexpr std::int64_t kPeriodUs = 1000, kPeriodInWindowsUs = 100;

// The one of this process, for the exit and for who takes CUPTI away.
std::atomic<CounterSampler*> g_sampler{nullptr};

std::int64_t PeriodOf(const Options& options) {
  if (options.counters_us != 0) return options.counters_us * 1000;
  const bool in_windows = !options.window.IsAll() && options.ab_steps == 0;
  return (in_windows ? kPeriodInWindowsUs : kPeriodUs) * 1000;
}

std::string Label(int device) { return "GPU " + std::to_string(device) + ": "; }

}  // namespace

CounterSampler::CounterSampler(const Options& options, const EnvironmentCopy& environment,
                               std::int64_t base_ns, std::vector<DeviceRow> devices,
                               const CuptiLibrary* cupti)
    : options_(options),
      environment_(environment),
      base_ns_(base_ns),
      period_ns_(PeriodOf(options)),
      seen_(std::move(devices)),
      cupti_(cupti),
      owner_(getpid()) {}

bool CounterSampler::Start() {
  if (!ForkGate::Install() || !StartOwnThread(&thread_, RunThread, this)) return false;
  g_sampler.store(this, std::memory_order_release);
  g_before_finalize.store(BeforeFinalize, std::memory_order_release);
  return true;
}

void* CounterSampler::RunThread(void* sampler) {
  pthread_setname_np(pthread_self(), "traceinject-ctr");
  try {
    static_cast<CounterSampler*>(sampler)->Run();
  } catch (...) {  // out of memory: no more samples
    g_counters.Add(Health::kCounterFailed);
  }
  return nullptr;
}

// What CUPTI registered for the exit comes after this one: no call must be under way in it.
void CounterSampler::StopAtExit() noexcept {
  CounterSampler* sampler = g_sampler.load(std::memory_order_acquire);
  if (sampler != nullptr && sampler->owner_ == getpid()) sampler->Stop();
}

// On a thread of the program. Where ours is in a call that does not end, the program goes on.
void CounterSampler::BeforeFinalize() noexcept {
  CounterSampler* sampler = g_sampler.load(std::memory_order_acquire);
  if (sampler == nullptr || sampler->owner_ != getpid()) return;
  const bool turn = sampler->cupti_mutex_.try_lock_for(kLongestTurn);
  sampler->finalized_.store(true, std::memory_order_release);
  if (!turn) return;
  for (auto& [ordinal, device] : sampler->devices_) {
    if (device->pm != nullptr) device->pm->Close();
  }
  sampler->cupti_mutex_.unlock();
}

void CounterSampler::Stop() noexcept {
  if (stopped_.exchange(true)) return;
  g_before_finalize.store(nullptr, std::memory_order_release);
  stop_.store(true, std::memory_order_release);
  wake_.Post();
  JoinWithin(thread_, kLongestStopNs);
}

void CounterSampler::UseDevice(int device) {
  bool fresh = false;
  {
    std::lock_guard lock(mutex_);
    fresh = used_.insert(device).second;
  }
  if (fresh) wake_.Post();
}

std::int64_t CounterSampler::Now() const { return NowNs() - base_ns_; }

TakenCounters CounterSampler::Take() {
  std::lock_guard lock(mutex_);
  for (auto& [ordinal, device] : devices_) KeepRows(*device);
  return std::exchange(taken_, {});
}

// With mutex_.
void CounterSampler::KeepRows(Device& device) {
  if (device.rows == nullptr) return;
  for (CounterSampleRow& row : device.rows->Take()) {
    g_counters.Add(Health::kCounterSampleSeen);
    if (taken_.samples.size() < kMaxWaiting)
      taken_.samples.push_back(std::move(row));
    else
      g_counters.Add(Health::kCounterSampleDropped);
  }
}

std::string CounterSampler::reasons() {
  std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& [device, reason] : reasons_) {
    if (!text.empty()) text += "; ";
    text += Label(device) + reason;
  }
  return text;
}

std::string CounterSampler::failed_trials() {
  std::lock_guard lock(mutex_);
  return failed_trials_;
}

// Who asked for counters learns loudly that there are none; who left it to us, in passing.
void CounterSampler::Refuse(Device& device, const std::string& reason, bool quietly) {
  const bool loud = options_.counters != "auto" && !quietly;
  g_counters.Add(loud ? Health::kCounterFailed : Health::kCounterUnavailable);
  std::lock_guard lock(mutex_);
  reasons_[device.row.device] = reason;
}

void CounterSampler::AddDevices() {
  std::lock_guard turn(cupti_mutex_);
  std::lock_guard lock(mutex_);
  for (const int used : used_) {
    if (devices_.contains(used)) continue;
    const auto row = std::find_if(seen_.begin(), seen_.end(),
                                  [&](const DeviceRow& one) { return one.device == used; });
    auto device = std::make_unique<Device>();
    if (row != seen_.end()) device->row = *row;
    device->row.device = used;
    devices_[used] = std::move(device);
  }
}

void CounterSampler::OpenNvmlOnce() {
  if (std::exchange(nvml_tried_, true)) return;
  const ForkGate::Call call;
  std::string ignored;
  nvml_ = OpenNvml(&ignored);
  if (nvml_) nvml_devices_ = std::make_unique<NvmlDevices>(*nvml_, seen_);
}

std::string CounterSampler::DriverVersion() {
  char version[96] = {};
  const ForkGate::Call call;
  if (!nvml_ || nvml_->SystemGetDriverVersion == nullptr ||
      nvml_->SystemGetDriverVersion(version, sizeof version - 1) != nvml::kSuccess)
    return {};
  return version;
}

// What needs no call into CUPTI that could fail.
std::optional<CounterReason> CounterSampler::WhyNotPmSampling(const Device& device) const {
  if (!pm_) return CounterReason::kOldCupti;
  if (options_.detach) return CounterReason::kDetach;
  const DeviceRow& row = device.row;
  const bool is_old = row.cc_major >= 0 &&
                      std::pair(row.cc_major, row.cc_minor) < std::pair(kLeastMajor, kLeastMinor);
  if (is_old) return CounterReason::kOldGpu;
  return std::nullopt;
}

void CounterSampler::Open(Device& device, std::int64_t now) {
  std::int64_t holder = 0;
  if (!device.claim.Take(device.row.uuid, &holder)) {
    if (device.state == State::kNew) {
      const std::string who = holder > 0 ? "process " + std::to_string(holder) : std::string();
      Refuse(device, Explain(CounterReason::kElsewhere, who), true);
    }
    device.state = State::kElsewhere;
    device.retry_ns = now + kRetryNs;
    return;
  }
  if (device.state == State::kElsewhere) {
    std::lock_guard lock(mutex_);
    reasons_.erase(device.row.device);
  }
  device.state = State::kOff;
  OpenNvmlOnce();
  if (nvml_devices_ != nullptr) {
    bool has_mig = false;
    {
      const ForkGate::Call call;
      has_mig = nvml_devices_->HasMig(device.row.device);
    }
    // NVML's metrics would be those of the whole card.
    if (has_mig) return Refuse(device, Explain(CounterReason::kMig));
  }
  if (const auto reason = WhyNotPmSampling(device)) return OpenGpm(device, Explain(*reason));
  OpenPmSampling(device);
}

void CounterSampler::OpenPmSampling(Device& device) {
  PmFailure failure;
  {
    std::lock_guard turn(cupti_mutex_);
    if (!finalized_.load())
      device.chip = ChipOf(*pm_, static_cast<std::size_t>(device.row.device), &failure);
  }
  if (device.chip.empty()) return OpenGpm(device, Explain(failure.Reason(), failure.Text(*pm_)));
  const std::vector<CounterSet> all = CounterSetsOf(device.chip);
  if (all.empty()) return OpenGpm(device, Explain(CounterReason::kUnknownChip, device.chip));
  bool untried = false;
  for (const CounterSet& set : all) {
    const bool any = options_.counters == "auto" || options_.counters == "1";
    if (!any && set.name != options_.counters) continue;
    if (stop_.load(std::memory_order_acquire) || TryAndOpen(device, set, &untried) != Found::kNext)
      return;
  }
  OpenGpm(device, Explain(untried ? CounterReason::kUntried : CounterReason::kNoSet, device.chip));
}

void CounterSampler::NoteFailedTrial(const CounterSet& set, const TrialResult& result) {
  g_counters.Add(Health::kCounterTrialsFailed);
  std::string text(set.name);
  const char* before = " (";
  for (const CounterMetric& metric : set.metrics) {
    text += std::exchange(before, ", ");
    text += InfoOf(metric.counter).name;
  }
  text += "): " + result.function;
  if (result.result != 0) text += " (" + std::to_string(result.result) + ")";
  std::lock_guard lock(mutex_);
  if (!failed_trials_.empty()) failed_trials_ += "; ";
  failed_trials_ += text;
}

// Only a set whose trial passed, now or earlier. `untried` is set if there could be none. What has
// nothing to do with the set ends the search: then the device is NVML's, or off.
CounterSampler::Found CounterSampler::TryAndOpen(Device& device, const CounterSet& set,
                                                 bool* untried) {
  const std::string cache =
      CacheFolder(environment_.Get("XDG_CACHE_HOME"), environment_.Get("HOME"));
  KnownSets known(cache, device.chip, DriverVersion(), cupti_->version);
  switch (known.Find(set)) {
    case KnownSets::Known::kPassed:
      return OpenSet(device, set);
    case KnownSets::Known::kFailed:
      return Found::kNext;
    case KnownSets::Known::kNot:
      break;
  }
  g_counters.Add(Health::kCounterTrials);
  const TrialResult result = TrySet(
      {cupti_->path, device.row.uuid, device.chip, HashOf(set), period_ns_}, environment_.block());
  if (result.outcome == TrialResult::Outcome::kPassed) {
    known.Add(set, true);
    return OpenSet(device, set);
  }
  NoteFailedTrial(set, result);
  if (result.outcome == TrialResult::Outcome::kUntried) return *untried = true, Found::kNext;
  const PmFailure failure{result.function.c_str(), result.result};
  const bool refused = result.outcome == TrialResult::Outcome::kRefused;
  if (refused && failure.Reason() != CounterReason::kFailed &&
      failure.Reason() != CounterReason::kUnsupported) {
    OpenGpm(device, Explain(failure.Reason(), failure.Text(*pm_)));
    return Found::kNone;
  }
  known.Add(set, false);
  return Found::kNext;
}

CounterSampler::Found CounterSampler::OpenSet(Device& device, const CounterSet& set) {
  PmFailure failure;
  {
    std::lock_guard turn(cupti_mutex_);
    if (finalized_.load()) {
      OpenGpm(device, Explain(CounterReason::kFinalized));
      return Found::kNone;
    }
    device.pm = std::make_unique<PmSession>(*pm_);
    if (device.pm->Open(device.row.device, device.chip, set, period_ns_, UsePrimaryContext,
                        &failure)) {
      device.state = State::kPmSampling;
      if (!std::exchange(at_exit_, true)) atexit(StopAtExit);
    } else {
      device.pm.reset();
    }
  }
  if (device.state != State::kPmSampling) {
    // It passed its trial: what stands against it is not the set.
    OpenGpm(device, Explain(failure.Reason(), failure.Text(*pm_)));
    return Found::kNone;
  }
  if (options_.counters == "auto") device.bursts.emplace(kBudget, kBurstSamples * period_ns_);
  std::vector<CounterRow> counters;
  for (const CounterMetric& metric : set.metrics) {
    const CounterInfo& info = InfoOf(metric.counter);
    counters.push_back({0, static_cast<int>(counters.size()), std::string(info.name),
                        std::string(info.unit), metric.metric});
  }
  device.counters.clear();
  for (const CounterMetric& metric : set.metrics) device.counters.push_back(metric.counter);
  AddSet(device, kPmSamplingSource, set.name, counters, period_ns_);
  return Found::kSampled;
}

// In place of CUPTI's, for this reason.
void CounterSampler::OpenGpm(Device& device, const std::string& reason) {
  device.state = State::kOff;
  const nvml::Device handle =
      nvml_devices_ == nullptr ? nullptr : nvml_devices_->Find(device.row.device);
  bool opened = false;
  if (handle != nullptr) {
    const ForkGate::Call call;
    device.gpm = std::make_unique<GpmSession>(*nvml_, handle);
    opened = device.gpm->Open();
  }
  if (!opened) {
    device.gpm.reset();
    device.claim.Release();
    return Refuse(device, reason);
  }
  device.state = State::kGpm;
  Refuse(device, reason + "; NVML's metrics are recorded instead, every 100 ms");
  std::vector<CounterRow> counters;
  for (const GpmMetric& metric : GpmMetrics()) {
    const CounterInfo& info = InfoOf(metric.counter);
    counters.push_back({0, static_cast<int>(counters.size()), std::string(info.name),
                        std::string(info.unit), "NVML_GPM_METRIC_" + std::string(metric.name)});
  }
  AddSet(device, kGpmSource, kGpmSource, counters, std::max(period_ns_, kLeastGpmPeriodNs));
}

void CounterSampler::AddSet(Device& device, std::string_view source, std::string_view name,
                            const std::vector<CounterRow>& counters, std::int64_t period_ns) {
  std::lock_guard lock(mutex_);
  const std::uint32_t id = ++last_set_;
  taken_.sets.push_back({id, std::string(source), std::string(name), device.chip, period_ns});
  for (CounterRow row : counters) {
    row.set = id;
    taken_.counters.push_back(std::move(row));
  }
  device.rows = std::make_unique<SampleRows>(device.row.device, id, period_ns, counters.size());
}

void CounterSampler::Step(Device& device, std::int64_t now) {
  switch (device.state) {
    case State::kNew:
      return Open(device, now);
    case State::kElsewhere:
      if (now >= device.retry_ns) Open(device, now);
      return;
    case State::kPmSampling:
      spent_until_ns_ = ReadClockNs(CLOCK_THREAD_CPUTIME_ID);
      StepPmSampling(device, now);
      return SpendOnBursts(device);
    case State::kGpm:
      return StepGpm(device, now);
    case State::kOff:
      return;
  }
}

// The CPU time since the last time, at the expense of the device's budget, where it has one.
void CounterSampler::SpendOnBursts(Device& device) {
  const std::int64_t now = ReadClockNs(CLOCK_THREAD_CPUTIME_ID);
  const std::int64_t spent = now - std::exchange(spent_until_ns_, now);
  spent_ns_ += spent;
  g_counters.Set(Health::kCounterReadCpuUs, spent_ns_ / 1000);
  if (!device.bursts) return;
  const auto sharers = std::count_if(devices_.begin(), devices_.end(), [](const auto& entry) {
    return entry.second->state == State::kPmSampling;
  });
  device.bursts->SetShare(kBudget / static_cast<double>(std::max<std::ptrdiff_t>(sharers, 1)));
  device.bursts->Spend(spent);
}

void CounterSampler::StepPmSampling(Device& device, std::int64_t now) {
  const bool wanted = Delivers(Source::kCounters) && !stop_.load(std::memory_order_acquire) &&
                      !(device.bursts && device.bursts->Rests(now));
  PmFailure failure;
  std::lock_guard turn(cupti_mutex_);
  bool done = true;
  if (finalized_.load(std::memory_order_acquire)) {
    device.pm->Forget();
    device.state = State::kOff;
    device.claim.Release();
    return Refuse(device, Explain(CounterReason::kFinalized));
  }
  if (wanted && !device.pm->started()) {
    if (device.bursts) device.bursts->Begin(now);
    done = Begin(device, &failure);
  } else if (device.pm->started()) {
    done = Decode(device);
    if (device.state != State::kPmSampling) return;
    SpendOnBursts(device);
    const bool over = device.bursts && device.bursts->IsOver(now);
    if (!wanted || over) done = End(device, now, &failure);
  }
  if (done || device.state != State::kPmSampling) return;
  device.pm.reset();
  device.state = State::kOff;
  device.claim.Release();
  Refuse(device, Explain(failure.Reason(), failure.Text(*pm_)));
}

bool CounterSampler::Begin(Device& device, PmFailure* failure) {
  device.started = Now();
  device.since_start = 0;
  device.last_end_gpu = 0;
  return device.pm->Start(failure);
}

bool CounterSampler::End(Device& device, std::int64_t now, PmFailure* failure) {
  if (device.bursts) {
    device.bursts->End(now, std::generate_canonical<double, 16>(random_));
    g_counters.Add(Health::kCounterBursts);
  }
  return device.pm->Stop(failure) && Decode(device);
}

// With the turn. On failure the device is off.
bool CounterSampler::Decode(Device& device) {
  PmSamples samples;
  PmFailure failure;
  const bool decoded = device.pm->Decode(&samples, &failure);
  AddSamples(device, samples);
  if (decoded && !samples.overflow) return true;
  if (decoded) {
    // What the buffer has no room for is lost; it begins anew.
    device.last_end_gpu = 0;
    g_counters.Add(Health::kCounterGaps);
    if (!device.pm->started()) return true;
    if (device.pm->Stop(&failure) && Begin(device, &failure)) {
      device.started.reset();
      return true;
    }
  }
  device.pm.reset();
  device.state = State::kOff;
  device.claim.Release();
  Refuse(device, Explain(failure.Reason(), failure.Text(*pm_)));
  return false;
}

void CounterSampler::AddSamples(Device& device, const PmSamples& samples) {
  if (samples.size() == 0) return;
  const std::int64_t now = samples.read_ns - base_ns_;
  device.clock.Note(static_cast<std::int64_t>(samples.end.back()), now);
  const std::int64_t offset = device.clock.offset();
  std::vector<std::int64_t> values(device.counters.size());
  std::lock_guard lock(mutex_);
  // A row has one offset between the clocks, which moves with each look.
  KeepRows(device);
  std::int64_t taken = 0, gaps = 0;
  std::int64_t last_end = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto gpu_start = static_cast<std::int64_t>(samples.start[i]);
    const auto gpu_end = static_cast<std::int64_t>(samples.end[i]);
    // One that has no beginning, or was told before.
    if (gpu_start <= 0 || gpu_end <= gpu_start || gpu_start < device.last_end_gpu) continue;
    // The first one reaches back to when the hardware was set up, most of a second on an H100.
    const std::int64_t number = device.since_start++;
    if (number == 0) {
      device.last_end_gpu = gpu_end;
      continue;
    }
    if (device.last_end_gpu != 0 && gpu_start - device.last_end_gpu > period_ns_ / 2) ++gaps;
    for (std::size_t j = 0; j < values.size(); ++j)
      values[j] = StoredValue(device.counters[j], samples.values[i * values.size() + j]);
    last_end = gpu_end + offset;
    device.rows->Add(gpu_start + offset, last_end, samples.start[i], values);
    if (number == 1 && device.started) device.rows->SetLead(gpu_start + offset - *device.started);
    device.last_end_gpu = gpu_end;
    ++taken;
  }
  if (taken > 0) device.rows->NoteLag(now - last_end);
  g_counters.Add(Health::kCounterSamples, taken);
  g_counters.Add(Health::kCounterGaps, gaps);
}

void CounterSampler::StepGpm(Device& device, std::int64_t now) {
  if (!Delivers(Source::kCounters)) return device.gpm->Rest();
  if (now < device.next_gpm_ns) return;
  const std::int64_t period_ns = std::max(period_ns_, kLeastGpmPeriodNs);
  // Late rounds are left out, not made up for.
  device.next_gpm_ns = std::max(device.next_gpm_ns + period_ns, now + period_ns / 2);
  bool failed = false;
  std::optional<GpmSession::Taken> taken;
  {
    const ForkGate::Call call;
    taken = device.gpm->Take(NowNs, &failed);
  }
  if (failed) {
    g_counters.Add(Health::kCounterGaps);
    return;
  }
  if (!taken) return;
  std::lock_guard lock(mutex_);
  device.rows->Add(taken->start - base_ns_, taken->end - base_ns_, std::nullopt, taken->values);
  g_counters.Add(Health::kCounterSamples);
}

void CounterSampler::CloseAll() {
  for (auto& [ordinal, device] : devices_) {
    if (device->pm != nullptr) {
      std::lock_guard turn(cupti_mutex_);
      if (finalized_.load()) device->pm->Forget();
      device->pm.reset();
    }
    if (device->gpm != nullptr) {
      const ForkGate::Call call;
      device->gpm.reset();
    }
    device->claim.Release();
  }
}

// Until there is something to do for a device. NVML has no buffer: its samples are taken when it is
// asked.
std::int64_t CounterSampler::WaitNs(std::int64_t now) const {
  std::int64_t least = kMostLookNs;
  for (const auto& [ordinal, device] : devices_) {
    std::int64_t wait = kMostLookNs;
    if (device->state == State::kGpm)
      wait = kLeastLookNs;
    else if (device->state == State::kPmSampling && device->bursts)
      wait = device->bursts->Wait(now);
    else if (device->state == State::kPmSampling)
      wait = std::max(kLookSamples * period_ns_, kLeastLookNs);
    least = std::min(least, wait);
  }
  return std::max(least, kLeastWaitNs);
}

void CounterSampler::Run() {
  // The copy that is in use, and no other.
  if (cupti_ != nullptr)
    pm_ = BindPmSampling(dlopen(cupti_->path.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD));
  while (!stop_.load(std::memory_order_acquire)) {
    AddDevices();
    const std::int64_t now = ReadClockNs(CLOCK_MONOTONIC);
    for (auto& [ordinal, device] : devices_) Step(*device, now);
    g_counters.Set(Health::kCounterCpuUs, ReadClockNs(CLOCK_THREAD_CPUTIME_ID) / 1000);
    wake_.Wait(WaitNs(ReadClockNs(CLOCK_MONOTONIC)));
  }
  for (auto& [ordinal, device] : devices_) {
    if (device->state == State::kPmSampling) Step(*device, ReadClockNs(CLOCK_MONOTONIC));
  }
  CloseAll();
  g_counters.Set(Health::kCounterCpuUs, ReadClockNs(CLOCK_THREAD_CPUTIME_ID) / 1000);
}

}  // namespace traceinject
