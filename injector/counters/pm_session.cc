// SPDX-License-Identifier: Apache-2.0
#include "injector/counters/pm_session.h"

#include <utility>

#include "injector/base/clock.h"

namespace traceinject {
namespace {

// What the GPU may be ahead of us. An H100 ran over 64 MiB after about 430 samples of ten counters;
// this holds twice as many, four looks' worth.
constexpr std::size_t kBufferBytes = 128 << 20;
// That one reading of the buffer takes. The image has some 50 KiB for each, and all of them are
// written whenever it is made empty.
constexpr std::uint32_t kSamplesAtOnce = 256;
// Of the system clock, nearly enough: samples tell their times.
constexpr std::int64_t kCyclesPerUs = 1'400;

}  // namespace

CounterReason PmFailure::Reason() const {
  switch (result) {
    case pm::kInsufficientPrivileges:
      return CounterReason::kNoPermission;
    // Of the latter the header says: sampling is enabled on the device already.
    case pm::kHardwareBusy:
    case pm::kInvalidOperation:
      return CounterReason::kBusy;
    case pm::kVirtualizedNotSupported:
    case pm::kVirtualizedInsufficientPrivileges:
      return CounterReason::kVirtualGpu;
    case pm::kConfidentialNotSupported:
      return CounterReason::kConfidential;
    case pm::kMigNotSupported:
      return CounterReason::kMig;
    case pm::kNotSupported:
    case pm::kCmpNotSupported:
    case pm::kSliNotSupported:
    case pm::kWslNotSupported:
      return CounterReason::kUnsupported;
    case pm::kInvalidChipName:
      return CounterReason::kUnknownChip;
    default:
      return CounterReason::kFailed;
  }
}

std::string PmFailure::Text(const PmLibrary& library) const {
  if (function == nullptr) return {};
  const char* text = nullptr;
  if (library.GetResultString(result, &text) != pm::kSuccess || text == nullptr) text = "error";
  return std::string(function) + ": " + text + " (" + std::to_string(result) + ")";
}

std::string ChipOf(const PmLibrary& library, std::size_t device, PmFailure* failure) {
  auto get = pm::Make<pm::GetChipName>();
  get.device = device;
  const pm::Result result = library.GetChipName(&get);
  if (result == pm::kSuccess && get.chip != nullptr) return get.chip;
  *failure = {"cuptiDeviceGetChipName", result == pm::kSuccess ? pm::kUnknown : result};
  return {};
}

bool PmSession::Done(const char* function, pm::Result result, PmFailure* failure) {
  if (result == pm::kSuccess) return true;
  *failure = {function, result};
  return false;
}

bool PmSession::Open(int device, const std::string& chip, const CounterSet& set,
                     std::int64_t interval_ns, UseContext* use_context, PmFailure* failure) {
  device_ = device;
  chip_ = chip;
  interval_ns_ = interval_ns;
  metrics_.clear();
  for (const CounterMetric& metric : set.metrics) metrics_.push_back(metric.metric);
  if (OpenOnce(device, chip, interval_ns, failure)) return true;
  const bool wants_context =
      failure->result == pm::kInvalidContext || failure->result == pm::kNotInitialized;
  return wants_context && use_context(device) && OpenOnce(device, chip, interval_ns, failure);
}

bool PmSession::OpenOnce(int device, const std::string& chip, std::int64_t interval_ns,
                         PmFailure* failure) {
  Close();
  auto initialize = pm::Make<pm::ProfilerInitialize>();
  if (Done("cuptiProfilerInitialize", library_.ProfilerInitialize(&initialize), failure) &&
      Configure(device, chip, failure)) {
    auto enable = pm::Make<pm::Enable>();
    enable.device = static_cast<std::size_t>(device);
    if (Done("cuptiPmSamplingEnable", library_.Enable(&enable), failure)) {
      sampling_ = enable.sampling;
      if (SetInterval(chip, interval_ns, failure) && CleanImage(failure)) return true;
    }
  }
  Close();
  return false;
}

// Without the hardware, but for what it has to offer.
bool PmSession::Configure(int device, const std::string& chip, PmFailure* failure) {
  auto offer = pm::Make<pm::GetCounterAvailability>();
  offer.device = static_cast<std::size_t>(device);
  static constexpr char kOffer[] = "cuptiPmSamplingGetCounterAvailability";
  if (!Done(kOffer, library_.GetCounterAvailability(&offer), failure)) return false;
  availability_.assign(offer.bytes, 0);
  offer.image = availability_.data();
  if (!Done(kOffer, library_.GetCounterAvailability(&offer), failure)) return false;

  auto host = pm::Make<pm::HostInitialize>();
  host.type = pm::kTypePmSampling;
  host.chip = chip.c_str();
  host.availability = availability_.data();
  if (!Done("cuptiProfilerHostInitialize", library_.HostInitialize(&host), failure)) return false;
  host_ = host.host;

  auto add = pm::Make<pm::ConfigAddMetrics>();
  add.host = host_;
  add.metrics = metrics_.data();
  add.count = metrics_.size();
  if (!Done("cuptiProfilerHostConfigAddMetrics", library_.ConfigAddMetrics(&add), failure))
    return false;
  auto size = pm::Make<pm::GetConfigImageSize>();
  size.host = host_;
  if (!Done("cuptiProfilerHostGetConfigImageSize", library_.GetConfigImageSize(&size), failure))
    return false;
  config_.assign(size.bytes, 0);
  auto image = pm::Make<pm::GetConfigImage>();
  image.host = host_;
  image.bytes = config_.size();
  image.image = config_.data();
  if (!Done("cuptiProfilerHostGetConfigImage", library_.GetConfigImage(&image), failure))
    return false;
  auto passes = pm::Make<pm::GetNumOfPasses>();
  passes.bytes = config_.size();
  passes.image = config_.data();
  static constexpr char kPasses[] = "cuptiProfilerHostGetNumOfPasses";
  if (!Done(kPasses, library_.GetNumOfPasses(&passes), failure)) return false;
  return Done(kPasses, passes.passes == 1 ? pm::kSuccess : pm::kNotSupported, failure);
}

bool PmSession::SetInterval(const std::string& chip, std::int64_t interval_ns, PmFailure* failure) {
  const bool by_time = SamplesByTime(chip);
  auto set = pm::Make<pm::SetConfig>();
  set.sampling = sampling_;
  set.config_bytes = config_.size();
  set.config = config_.data();
  set.buffer_bytes = kBufferBytes;
  set.trigger = by_time ? pm::kTriggerTime : pm::kTriggerCycles;
  set.interval =
      static_cast<std::uint64_t>(by_time ? interval_ns : interval_ns * kCyclesPerUs / 1000);
  if (!Done("cuptiPmSamplingSetConfig", library_.SetConfig(&set), failure)) return false;
  auto size = pm::Make<pm::GetCounterDataSize>();
  size.sampling = sampling_;
  size.metrics = metrics_.data();
  size.count = metrics_.size();
  size.most_samples = kSamplesAtOnce;
  if (!Done("cuptiPmSamplingGetCounterDataSize", library_.GetCounterDataSize(&size), failure))
    return false;
  image_.assign(size.bytes, 0);
  is_clean_ = false;
  return true;
}

// As late as can be: whoever stops sampling may never decode again.
bool PmSession::CleanImage(PmFailure* failure) {
  if (is_clean_) return true;
  auto reset = pm::Make<pm::ImageInitialize>();
  reset.sampling = sampling_;
  reset.bytes = image_.size();
  reset.image = image_.data();
  is_clean_ =
      Done("cuptiPmSamplingCounterDataImageInitialize", library_.ImageInitialize(&reset), failure);
  return is_clean_;
}

// One whose buffer ran over does not start again (an unknown error on an H100): a new one does.
bool PmSession::Start(PmFailure* failure) {
  if (StartOnce(failure)) return true;
  return failure->result == pm::kUnknown && OpenOnce(device_, chip_, interval_ns_, failure) &&
         StartOnce(failure);
}

bool PmSession::StartOnce(PmFailure* failure) {
  auto start = pm::Make<pm::OfSampling>();
  start.sampling = sampling_;
  started_ = Done("cuptiPmSamplingStart", library_.Start(&start), failure);
  return started_;
}

bool PmSession::Stop(PmFailure* failure) {
  if (!std::exchange(started_, false)) return true;
  auto stop = pm::Make<pm::OfSampling>();
  stop.sampling = sampling_;
  return Done("cuptiPmSamplingStop", library_.Stop(&stop), failure);
}

bool PmSession::TakeImage(PmSamples* samples, PmFailure* failure) {
  auto info = pm::Make<pm::GetCounterDataInfo>();
  info.image = image_.data();
  info.bytes = image_.size();
  if (!Done("cuptiPmSamplingGetCounterDataInfo", library_.GetCounterDataInfo(&info), failure))
    return false;
  is_clean_ = info.populated == 0;
  std::vector<double> values(metrics_.size());
  for (std::size_t i = 0; i < info.completed; ++i) {
    auto time = pm::Make<pm::GetSampleInfo>();
    time.sampling = sampling_;
    time.image = image_.data();
    time.bytes = image_.size();
    time.index = i;
    if (!Done("cuptiPmSamplingCounterDataGetSampleInfo", library_.GetSampleInfo(&time), failure))
      return false;
    auto value = pm::Make<pm::EvaluateToGpuValues>();
    value.host = host_;
    value.image = image_.data();
    value.bytes = image_.size();
    value.index = i;
    value.metrics = metrics_.data();
    value.count = metrics_.size();
    value.values = values.data();
    if (!Done("cuptiProfilerHostEvaluateToGpuValues", library_.EvaluateToGpuValues(&value),
              failure))
      return false;
    samples->start.push_back(time.start);
    samples->end.push_back(time.end);
    samples->values.insert(samples->values.end(), values.begin(), values.end());
  }
  return true;
}

bool PmSession::Decode(PmSamples* samples, PmFailure* failure) {
  // What is there, and not what comes meanwhile for ever.
  constexpr int kLongest = 64;
  for (int round = 0; round < kLongest; ++round) {
    if (!CleanImage(failure)) return false;
    auto decode = pm::Make<pm::DecodeData>();
    decode.sampling = sampling_;
    decode.image = image_.data();
    decode.bytes = image_.size();
    const pm::Result result = library_.DecodeData(&decode);
    samples->read_ns = NowNs();
    // The header: out of memory is what an overflow of the buffer is called, too.
    samples->overflow |= decode.overflow != 0 || result == pm::kOutOfMemory;
    if (result != pm::kOutOfMemory && !Done("cuptiPmSamplingDecodeData", result, failure))
      return false;
    if (!TakeImage(samples, failure)) return false;
    if (decode.stopped != pm::kStoppedImageFull) break;
  }
  return true;
}

void PmSession::Close() {
  PmFailure ignored;
  if (sampling_ != nullptr) {
    Stop(&ignored);
    auto disable = pm::Make<pm::OfSampling>();
    disable.sampling = std::exchange(sampling_, nullptr);
    Done("cuptiPmSamplingDisable", library_.Disable(&disable), &ignored);
  }
  if (host_ != nullptr) {
    auto end = pm::Make<pm::HostDeinitialize>();
    end.host = std::exchange(host_, nullptr);
    Done("cuptiProfilerHostDeinitialize", library_.HostDeinitialize(&end), &ignored);
  }
}

void PmSession::Forget() {
  started_ = false;
  sampling_ = nullptr;
  host_ = nullptr;
}

}  // namespace traceinject
