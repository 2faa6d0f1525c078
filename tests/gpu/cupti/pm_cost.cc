// SPDX-License-Identifier: Apache-2.0
// What each call of PM sampling costs, in CPU time of the calling thread and of the process (CUPTI
// may have threads of its own), a sample; how many samples there are of those asked for; how long
// they and what lies between them are. One line for each number of metrics, interval, trigger and
// time between decodings.
//
// usage: pm_cost LIBCUPTI [CHIP]
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "empty_kernel.h"
#include "injector/counters/counter_sets.h"
#include "injector/counters/pm_library.h"
#include "injector/counters/pm_sampling_abi.h"

namespace {

using empty_kernel::Check;
namespace pm = traceinject::pm;
using traceinject::PmLibrary;

constexpr std::size_t kBufferBytes = 256 << 20;
constexpr std::int64_t kCyclesPerUs = 1'400;

double Us(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

// Of one kind of call.
struct Cost {
  double thread_us = 0, process_us = 0;
  template <typename Call>
  int Of(Call call) {
    const double thread = Us(CLOCK_THREAD_CPUTIME_ID), process = Us(CLOCK_PROCESS_CPUTIME_ID);
    const int result = call();
    thread_us += Us(CLOCK_THREAD_CPUTIME_ID) - thread;
    process_us += Us(CLOCK_PROCESS_CPUTIME_ID) - process;
    return result;
  }
};

struct Case {
  std::size_t metrics;
  std::int64_t interval_us;
  int trigger;
  int between_ms;
  int total_ms;
};

class Probe {
 public:
  Probe(const PmLibrary& library, std::string chip) : library_(library), chip_(std::move(chip)) {}

  void Run(const Case& one) {
    Prepare(one);
    Measure(one);
    Close();
  }

 private:
  void Prepare(const Case& one);
  void Measure(const Case& one);
  void DecodeAll();
  void TakeSamples();
  void Reset();
  void Print(const Case& one);
  void Close();

  const PmLibrary& library_;
  const std::string chip_;
  pm::Host* host_ = nullptr;
  pm::Sampling* sampling_ = nullptr;
  std::vector<const char*> metrics_;
  std::vector<std::uint8_t> availability_, config_, image_;
  Cost decode_, info_, time_, evaluate_, reset_, idle_;
  std::vector<std::uint64_t> starts_, ends_;
  int decodings_ = 0, overflows_ = 0;
  double wall_us_ = 0;
};

void Probe::Prepare(const Case& one) {
  decode_ = info_ = time_ = evaluate_ = reset_ = idle_ = Cost();
  starts_.clear();
  ends_.clear();
  decodings_ = overflows_ = 0;
  metrics_.clear();
  for (const traceinject::CounterSet& set : traceinject::CounterSetsOf(chip_)) {
    if (set.name != (one.metrics > 3 ? "compute" : "basic")) continue;
    for (const traceinject::CounterMetric& metric : set.metrics) {
      if (metrics_.size() < one.metrics) metrics_.push_back(metric.metric);
    }
  }
  auto offer = pm::Make<pm::GetCounterAvailability>();
  Check(library_.GetCounterAvailability(&offer), "cuptiPmSamplingGetCounterAvailability");
  availability_.assign(offer.bytes, 0);
  offer.image = availability_.data();
  Check(library_.GetCounterAvailability(&offer), "cuptiPmSamplingGetCounterAvailability");
  auto host = pm::Make<pm::HostInitialize>();
  host.type = pm::kTypePmSampling;
  host.chip = chip_.c_str();
  host.availability = availability_.data();
  Check(library_.HostInitialize(&host), "cuptiProfilerHostInitialize");
  host_ = host.host;
  auto add = pm::Make<pm::ConfigAddMetrics>();
  add.host = host_;
  add.metrics = metrics_.data();
  add.count = metrics_.size();
  Check(library_.ConfigAddMetrics(&add), "cuptiProfilerHostConfigAddMetrics");
  auto size = pm::Make<pm::GetConfigImageSize>();
  size.host = host_;
  Check(library_.GetConfigImageSize(&size), "cuptiProfilerHostGetConfigImageSize");
  config_.assign(size.bytes, 0);
  auto image = pm::Make<pm::GetConfigImage>();
  image.host = host_;
  image.bytes = config_.size();
  image.image = config_.data();
  Check(library_.GetConfigImage(&image), "cuptiProfilerHostGetConfigImage");
  auto enable = pm::Make<pm::Enable>();
  Check(library_.Enable(&enable), "cuptiPmSamplingEnable");
  sampling_ = enable.sampling;
  auto set = pm::Make<pm::SetConfig>();
  set.sampling = sampling_;
  set.config_bytes = config_.size();
  set.config = config_.data();
  set.buffer_bytes = kBufferBytes;
  set.trigger = one.trigger;
  set.interval = static_cast<std::uint64_t>(
      one.interval_us * (one.trigger == pm::kTriggerTime ? 1000 : kCyclesPerUs));
  Check(library_.SetConfig(&set), "cuptiPmSamplingSetConfig");
  auto bytes = pm::Make<pm::GetCounterDataSize>();
  bytes.sampling = sampling_;
  bytes.metrics = metrics_.data();
  bytes.count = metrics_.size();
  bytes.most_samples =
      static_cast<std::uint32_t>(2 * one.between_ms * 1000 / one.interval_us + 100);
  Check(library_.GetCounterDataSize(&bytes), "cuptiPmSamplingGetCounterDataSize");
  image_.assign(bytes.bytes, 0);
  Reset();
  reset_ = Cost();
}

void Probe::Reset() {
  auto reset = pm::Make<pm::ImageInitialize>();
  reset.sampling = sampling_;
  reset.bytes = image_.size();
  reset.image = image_.data();
  Check(reset_.Of([&] { return library_.ImageInitialize(&reset); }), "ImageInitialize");
}

void Probe::TakeSamples() {
  auto info = pm::Make<pm::GetCounterDataInfo>();
  info.image = image_.data();
  info.bytes = image_.size();
  Check(info_.Of([&] { return library_.GetCounterDataInfo(&info); }), "GetCounterDataInfo");
  const std::size_t first = starts_.size();
  starts_.resize(first + info.completed);
  ends_.resize(first + info.completed);
  std::vector<double> values(metrics_.size());
  const int timed = time_.Of([&] {
    for (std::size_t i = 0; i < info.completed; ++i) {
      auto time = pm::Make<pm::GetSampleInfo>();
      time.sampling = sampling_;
      time.image = image_.data();
      time.bytes = image_.size();
      time.index = i;
      if (const int result = library_.GetSampleInfo(&time); result != 0) return result;
      starts_[first + i] = time.start;
      ends_[first + i] = time.end;
    }
    return 0;
  });
  Check(timed, "GetSampleInfo");
  const int evaluated = evaluate_.Of([&] {
    for (std::size_t i = 0; i < info.completed; ++i) {
      auto value = pm::Make<pm::EvaluateToGpuValues>();
      value.host = host_;
      value.image = image_.data();
      value.bytes = image_.size();
      value.index = i;
      value.metrics = metrics_.data();
      value.count = metrics_.size();
      value.values = values.data();
      if (const int result = library_.EvaluateToGpuValues(&value); result != 0) return result;
    }
    return 0;
  });
  Check(evaluated, "EvaluateToGpuValues");
}

void Probe::DecodeAll() {
  for (int round = 0; round < 8; ++round) {
    auto decode = pm::Make<pm::DecodeData>();
    decode.sampling = sampling_;
    decode.image = image_.data();
    decode.bytes = image_.size();
    const int result = decode_.Of([&] { return library_.DecodeData(&decode); });
    ++decodings_;
    overflows_ += decode.overflow != 0 || result == pm::kOutOfMemory ? 1 : 0;
    if (result != pm::kOutOfMemory) Check(result, "DecodeData");
    TakeSamples();
    Reset();
    if (decode.stopped != pm::kStoppedImageFull) return;
  }
}

void Probe::Measure(const Case& one) {
  auto start = pm::Make<pm::OfSampling>();
  start.sampling = sampling_;
  const double began = Us(CLOCK_MONOTONIC);
  Check(library_.Start(&start), "cuptiPmSamplingStart");
  for (int passed = 0; passed < one.total_ms; passed += one.between_ms) {
    const timespec wait{one.between_ms / 1000, one.between_ms % 1000 * 1'000'000L};
    idle_.Of([&] { return nanosleep(&wait, nullptr); });
    DecodeAll();
  }
  wall_us_ = Us(CLOCK_MONOTONIC) - began;
  Check(library_.Stop(&start), "cuptiPmSamplingStop");
  Print(one);
}

void Probe::Print(const Case& one) {
  const double samples = std::max<double>(1, static_cast<double>(starts_.size()));
  std::vector<double> lengths, gaps;
  for (std::size_t i = 1; i < starts_.size(); ++i) {
    lengths.push_back(static_cast<double>(ends_[i] - starts_[i]) / 1e3);
    gaps.push_back((static_cast<double>(starts_[i]) - static_cast<double>(ends_[i - 1])) / 1e3);
  }
  std::sort(lengths.begin(), lengths.end());
  std::sort(gaps.begin(), gaps.end());
  const auto of = [](const std::vector<double>& sorted, double share) {
    return sorted.empty()
               ? 0.0
               : sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
  };
  std::printf("%2zu metrics %5lld us %s decoded each %4d ms: ", metrics_.size(),
              static_cast<long long>(one.interval_us),
              one.trigger == pm::kTriggerTime ? "time  " : "cycles", one.between_ms);
  std::printf(
      "%6.0f samples of %6.0f, %d decodings, %d overflows, image %zu KiB; us a sample "
      "thread/process: ",
      samples, wall_us_ / static_cast<double>(one.interval_us), decodings_, overflows_,
      image_.size() >> 10);
  const std::pair<const char*, const Cost*> costs[] = {
      {"decode", &decode_},     {"info", &info_},   {"time", &time_},
      {"evaluate", &evaluate_}, {"reset", &reset_}, {"idle", &idle_}};
  double all = 0;
  for (const auto& [name, cost] : costs) {
    std::printf("%s %.2f/%.2f ", name, cost->thread_us / samples, cost->process_us / samples);
    all += cost->process_us;
  }
  std::printf(
      "; %.2f %% of a core; first %.1f us, then %.1f %.1f %.1f (0, 50, 100 %%), between "
      "%.1f %.1f %.1f\n",
      100 * all / wall_us_,
      starts_.empty() ? 0.0 : static_cast<double>(ends_[0] - starts_[0]) / 1e3, of(lengths, 0),
      of(lengths, 0.5), of(lengths, 1), of(gaps, 0), of(gaps, 0.5), of(gaps, 1));
  std::fflush(stdout);
}

void Probe::Close() {
  auto of = pm::Make<pm::OfSampling>();
  of.sampling = sampling_;
  Check(library_.Disable(&of), "cuptiPmSamplingDisable");
  auto end = pm::Make<pm::HostDeinitialize>();
  end.host = host_;
  Check(library_.HostDeinitialize(&end), "cuptiProfilerHostDeinitialize");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: pm_cost LIBCUPTI [CHIP]\n");
    return 2;
  }
  const auto library = traceinject::BindPmSampling(empty_kernel::Open(argv[1]));
  if (!library) empty_kernel::Stop(argv[1], "has no PM sampling");
  const empty_kernel::Gpu gpu = empty_kernel::ThroughDriver();
  gpu.launch();
  gpu.wait();
  auto initialize = pm::Make<pm::ProfilerInitialize>();
  Check(library->ProfilerInitialize(&initialize), "cuptiProfilerInitialize");
  Probe probe(*library, argc == 3 ? argv[2] : "GH100");
  constexpr Case kCases[] = {
      {10, 1000, pm::kTriggerTime, 20, 1000},    {10, 1000, pm::kTriggerTime, 100, 2000},
      {10, 1000, pm::kTriggerTime, 500, 2000},   {10, 1000, pm::kTriggerTime, 1000, 3000},
      {10, 1000, pm::kTriggerTime, 2000, 4000},  {3, 1000, pm::kTriggerTime, 500, 2000},
      {1, 1000, pm::kTriggerTime, 500, 2000},    {10, 2000, pm::kTriggerTime, 500, 2000},
      {10, 5000, pm::kTriggerTime, 500, 2000},   {10, 10000, pm::kTriggerTime, 1000, 3000},
      {10, 1000, pm::kTriggerCycles, 500, 2000}, {10, 100, pm::kTriggerTime, 100, 1000},
  };
  for (const Case& one : kCases) probe.Run(one);
}
