// SPDX-License-Identifier: Apache-2.0
// PM sampling in libcupti.so.{12,13}, of CUDA 12.6 and later: samples of what the simulator says
// (activity_history.h), by a clock of the GPU's own. The structures are those that the injected
// library declares; a unit test holds them against the real headers.
//
//   FAKE_PM_RESULTS     "cuptiPmSamplingEnable:35,...": what functions return; they do nothing
//   then.
//                       FAKE_CUPTI_FAIL (failing_calls.h) is for these functions, too
//   FAKE_PM_CHIP        name of the chip, GH100
//   FAKE_PM_PASSES      that a set takes, 1
//   FAKE_PM_COST_US     CPU time that decoding a sample takes
//   FAKE_PM_CRASH       a part of a metric's name: a set with it ends the process when it starts
//   FAKE_PM_HANG        name of a function that never returns
//   FAKE_PM_OFFSET_NS, FAKE_PM_DRIFT_PPM   of the GPU's clock against CLOCK_REALTIME
//   FAKE_PM_CONTEXT=1   sampling can be enabled by a thread that has a context only
//   FAKE_PM_OVERFLOW    the n-th look at the buffer finds that it ran over: nothing since the last
//   FAKE_PM_LOSE        every n-th sample is missing
//   FAKE_PM_LOG         a file to which each process that starts sampling adds a line
#include <cupti.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "injector/counters/pm_sampling_abi.h"
#include "tests/fake_gpu/libraries/failing_calls.h"
#include "tests/fake_gpu/simulator/activity_history.h"
#include "tests/fake_gpu/simulator/clock.h"
#include "tests/fake_gpu/simulator/settings.h"
#include "tests/fake_gpu/simulator/simulator.h"
#include "tests/fake_gpu/simulator/truth.h"

#define EXPORT extern "C" __attribute__((visibility("default")))
#define ENTER(params, last)                                                               \
  if (const pm::Result result = Entered(__func__); result != pm::kSuccess) return result; \
  if ((params) == nullptr ||                                                              \
      (params)->size < offsetof(std::remove_reference_t<decltype(*(params))>, last))      \
  return pm::kInvalidParameter

namespace {

namespace fake = traceinject::fake;
namespace pm = traceinject::pm;

pm::Result Entered(const char* function) {
  while (fake::SettingText("FAKE_PM_HANG", "") == function) pause();
  if (fake::Fails(function)) return pm::kUnknown;
  const std::string results = fake::SettingText("FAKE_PM_RESULTS", "");
  const std::size_t at = results.find(std::string(function) + ":");
  if (at == std::string::npos) return pm::kSuccess;
  return std::atoi(results.c_str() + at + std::strlen(function) + 1);
}

// A metric that the chip has: SM, tensor or memory activity, or another one that stays 0.
bool IsMetric(std::string_view name) {
  static constexpr std::string_view kParts[] = {"sm__",   "tpc__",   "dram__", "lts__",
                                                "pcie__", "nvlrx__", "nvltx__"};
  const bool known = std::any_of(std::begin(kParts), std::end(kParts), [&](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  });
  static constexpr std::string_view kForms[] = {".avg.pct_of_peak_sustained_elapsed", ".pct",
                                                "__cycles_elapsed.avg.per_second"};
  return known && std::any_of(std::begin(kForms), std::end(kForms),
                              [&](std::string_view form) { return name.ends_with(form); });
}

constexpr double kSmClockHz = 1.5e9;

double ValueOf(std::string_view metric, const fake::Use& use) {
  const auto has = [&](std::string_view part) {
    return metric.find(part) != std::string_view::npos;
  };
  if (has("sm__cycles_active")) return use.sm;
  if (has("sm__cycles_elapsed")) return kSmClockHz;
  if (has("tensor_cycles_active") || has("hmma")) return use.tensor;
  if (has("dram__read_throughput") || has("dram__throughput")) return use.memory;
  if (has("warps_active")) return use.sm / 2;
  if (has("hit_rate")) return std::nan("");  // as a rate without accesses is
  return 0;
}

struct Metrics {
  std::vector<std::string> names;
};

// An image of samples, as the client keeps it for us.
struct Sample {
  std::uint64_t start, end;
  fake::Use use;
};
struct Image {
  std::uint64_t magic;
  std::uint32_t most, count;
  Sample samples[1];
  static constexpr std::uint64_t kMagic = 0x70'6d'69'6d'61'67'65;
};

// The host's and the target's objects.
struct Sampler {
  int device = 0;
  std::uint64_t interval_ns = 0;
  bool started = false;
  bool ran_over = false;       // it never starts again, as on hardware
  std::int64_t set_up_ns = 0;  // where the first sample is said to begin, as on hardware
  bool is_first = false;
  std::int64_t next_ns = 0;  // start of the next sample, CLOCK_REALTIME
  std::int64_t number = 0;
};
std::mutex mutex;
Sampler* enabled[16] = {};
std::int64_t looks = 0;

std::uint64_t GpuTime(std::int64_t realtime_ns) {
  static const std::int64_t origin_ns = fake::NowNs();
  const double drift = static_cast<double>(fake::SettingNumber("FAKE_PM_DRIFT_PPM", 0)) * 1e-6;
  const auto drifted =
      static_cast<std::int64_t>(std::llround(drift * static_cast<double>(realtime_ns - origin_ns)));
  return static_cast<std::uint64_t>(realtime_ns + drifted +
                                    fake::SettingNumber("FAKE_PM_OFFSET_NS", 0));
}

Sampler* Of(pm::Sampling* sampling) { return reinterpret_cast<Sampler*>(sampling); }
Metrics* Of(pm::Host* host) { return reinterpret_cast<Metrics*>(host); }
const Image* Of(const std::uint8_t* image) { return reinterpret_cast<const Image*>(image); }

void LogStart(int device) {
  const std::string path = fake::SettingText("FAKE_PM_LOG", "");
  if (path.empty()) return;
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const std::string line = std::to_string(getpid()) + " " + std::to_string(device) + "\n";
  [[maybe_unused]] const ssize_t written = write(file, line.data(), line.size());
  close(file);
}

// A configuration image: the names of its metrics, each with its end.
bool Crashes(const std::uint8_t* config, std::size_t bytes) {
  const std::string part = fake::SettingText("FAKE_PM_CRASH", "");
  const std::string_view text(reinterpret_cast<const char*>(config), bytes);
  return !part.empty() && text.find(part) != std::string_view::npos;
}
bool crash_at_start = false;

}  // namespace

EXPORT pm::Result cuptiProfilerInitialize(pm::ProfilerInitialize* params) {
  ENTER(params, priv);
  return pm::kSuccess;
}

EXPORT pm::Result cuptiDeviceGetChipName(pm::GetChipName* params) {
  ENTER(params, chip);
  static const std::string chip = fake::SettingText("FAKE_PM_CHIP", "GH100");
  if (static_cast<int>(params->device) >= fake::DeviceCount()) return 2;  // invalid device
  params->chip = chip.c_str();
  return pm::kSuccess;
}

EXPORT pm::Result cuptiPmSamplingGetCounterAvailability(pm::GetCounterAvailability* params) {
  ENTER(params, image);
  constexpr std::size_t kBytes = 16;
  if (params->image != nullptr && params->bytes < kBytes) return pm::kInvalidParameter;
  params->bytes = kBytes;
  return pm::kSuccess;
}

EXPORT pm::Result cuptiProfilerHostInitialize(pm::HostInitialize* params) {
  ENTER(params, host);
  if (params->chip == nullptr || fake::SettingText("FAKE_PM_CHIP", "GH100") != params->chip)
    return pm::kInvalidChipName;
  params->host = reinterpret_cast<pm::Host*>(new Metrics);
  return pm::kSuccess;
}

EXPORT pm::Result cuptiProfilerHostDeinitialize(pm::HostDeinitialize* params) {
  ENTER(params, host);
  delete Of(params->host);
  return pm::kSuccess;
}

EXPORT pm::Result cuptiProfilerHostConfigAddMetrics(pm::ConfigAddMetrics* params) {
  ENTER(params, count);
  for (std::size_t i = 0; i < params->count; ++i) {
    if (!IsMetric(params->metrics[i])) return pm::kInvalidMetricName;
    Of(params->host)->names.emplace_back(params->metrics[i]);
  }
  return pm::kSuccess;
}

EXPORT pm::Result cuptiProfilerHostGetConfigImageSize(pm::GetConfigImageSize* params) {
  ENTER(params, bytes);
  params->bytes = 0;
  for (const std::string& name : Of(params->host)->names) params->bytes += name.size() + 1;
  return pm::kSuccess;
}

EXPORT pm::Result cuptiProfilerHostGetConfigImage(pm::GetConfigImage* params) {
  ENTER(params, image);
  std::uint8_t* at = params->image;
  for (const std::string& name : Of(params->host)->names) {
    std::memcpy(at, name.c_str(), name.size() + 1);
    at += name.size() + 1;
  }
  return pm::kSuccess;
}

EXPORT pm::Result cuptiProfilerHostGetNumOfPasses(pm::GetNumOfPasses* params) {
  ENTER(params, passes);
  params->passes = static_cast<std::size_t>(fake::SettingNumber("FAKE_PM_PASSES", 1));
  return pm::kSuccess;
}

EXPORT pm::Result cuptiPmSamplingEnable(pm::Enable* params) {
  ENTER(params, sampling);
  if (fake::SettingNumber("FAKE_PM_CONTEXT", 0) != 0 && fake::CurrentContext() == nullptr)
    return pm::kInvalidContext;
  std::lock_guard lock(mutex);
  Sampler*& here = enabled[params->device % 16];
  if (here != nullptr) return pm::kInvalidOperation;
  here = new Sampler;
  here->device = static_cast<int>(params->device);
  params->sampling = reinterpret_cast<pm::Sampling*>(here);
  return pm::kSuccess;
}

EXPORT pm::Result cuptiPmSamplingDisable(pm::OfSampling* params) {
  ENTER(params, sampling);
  std::lock_guard lock(mutex);
  Sampler* sampler = Of(params->sampling);
  enabled[sampler->device % 16] = nullptr;
  delete sampler;
  return pm::kSuccess;
}

EXPORT pm::Result cuptiPmSamplingSetConfig(pm::SetConfig* params) {
  ENTER(params, trigger);
  std::lock_guard lock(mutex);
  crash_at_start = Crashes(params->config, params->config_bytes);
  // A cycle of the system clock is a ns here.
  Of(params->sampling)->interval_ns = params->interval;
  Of(params->sampling)->set_up_ns = fake::NowNs();
  return params->interval == 0 ? pm::kInvalidParameter : pm::kSuccess;
}

EXPORT pm::Result cuptiPmSamplingGetCounterDataSize(pm::GetCounterDataSize* params) {
  ENTER(params, bytes);
  params->bytes = sizeof(Image) + params->most_samples * sizeof(Sample);
  return pm::kSuccess;
}

EXPORT pm::Result cuptiPmSamplingCounterDataImageInitialize(pm::ImageInitialize* params) {
  ENTER(params, image);
  auto* image = reinterpret_cast<Image*>(params->image);
  *image = {Image::kMagic,
            static_cast<std::uint32_t>((params->bytes - sizeof(Image)) / sizeof(Sample)),
            0,
            {}};
  return pm::kSuccess;
}

EXPORT pm::Result cuptiPmSamplingStart(pm::OfSampling* params) {
  ENTER(params, sampling);
  std::lock_guard lock(mutex);
  Sampler* sampler = Of(params->sampling);
  if (crash_at_start) {
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
  }
  if (sampler->started) return pm::kInvalidOperation;
  if (sampler->ran_over) return pm::kUnknown;
  sampler->started = true;
  sampler->next_ns = fake::NowNs();
  sampler->is_first = true;
  LogStart(sampler->device);
  return pm::kSuccess;
}

EXPORT pm::Result cuptiPmSamplingStop(pm::OfSampling* params) {
  ENTER(params, sampling);
  std::lock_guard lock(mutex);
  if (!Of(params->sampling)->started) return pm::kInvalidOperation;
  Of(params->sampling)->started = false;
  return pm::kSuccess;
}

// Spends the thread's CPU time.
static void Burn(std::int64_t us) {
  const auto now_ns = [] {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
  };
  const std::int64_t until_ns = now_ns() + us * 1000;
  while (us > 0 && now_ns() < until_ns) continue;
}

EXPORT pm::Result cuptiPmSamplingDecodeData(pm::DecodeData* params) {
  ENTER(params, overflow);
  std::lock_guard lock(mutex);
  Sampler* sampler = Of(params->sampling);
  auto* image = reinterpret_cast<Image*>(params->image);
  if (image->magic != Image::kMagic) return pm::kInvalidParameter;
  const auto interval = static_cast<std::int64_t>(sampler->interval_ns);
  const std::int64_t now = fake::NowNs(), lose = fake::SettingNumber("FAKE_PM_LOSE", 0);
  params->overflow = ++looks == fake::SettingNumber("FAKE_PM_OVERFLOW", 0) ? 1 : 0;
  params->stopped = pm::kStoppedAtEnd;
  if (params->overflow != 0) {
    sampler->next_ns = now;
    sampler->ran_over = true;
  }
  for (; sampler->next_ns + interval <= now; sampler->next_ns += interval) {
    if (image->count == image->most) {
      params->stopped = pm::kStoppedImageFull;
      break;
    }
    if (lose != 0 && ++sampler->number % lose == 0) continue;
    const std::int64_t end = sampler->next_ns + interval;
    const std::int64_t begin =
        std::exchange(sampler->is_first, false) ? sampler->set_up_ns : sampler->next_ns;
    image->samples[image->count++] = {GpuTime(begin), GpuTime(end),
                                      fake::UseOf(sampler->device, begin, end)};
    Burn(fake::SettingNumber("FAKE_PM_COST_US", 0));
  }
  return pm::kSuccess;
}

EXPORT pm::Result cuptiPmSamplingGetCounterDataInfo(pm::GetCounterDataInfo* params) {
  ENTER(params, completed);
  params->total = Of(params->image)->most;
  params->populated = params->completed = Of(params->image)->count;
  return pm::kSuccess;
}

EXPORT pm::Result cuptiPmSamplingCounterDataGetSampleInfo(pm::GetSampleInfo* params) {
  ENTER(params, end);
  if (params->index >= Of(params->image)->count) return pm::kInvalidParameter;
  params->start = Of(params->image)->samples[params->index].start;
  params->end = Of(params->image)->samples[params->index].end;
  return pm::kSuccess;
}

EXPORT pm::Result cuptiProfilerHostEvaluateToGpuValues(pm::EvaluateToGpuValues* params) {
  ENTER(params, values);
  if (params->index >= Of(params->image)->count) return pm::kInvalidParameter;
  for (std::size_t i = 0; i < params->count; ++i)
    params->values[i] = ValueOf(params->metrics[i], Of(params->image)->samples[params->index].use);
  return pm::kSuccess;
}
