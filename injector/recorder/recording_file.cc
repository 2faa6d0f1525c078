// SPDX-License-Identifier: Apache-2.0
#include "injector/recorder/recording_file.h"

#include <string_view>

#include "injector/base/clock.h"
#include "injector/base/counters.h"
#include "injector/cuda/driver.h"
#include "injector/rows/process_facts.h"
#include "injector/store/output_name.h"

namespace traceinject {
namespace {

std::optional<KeepLast> WhatToKeep(const Options& options) {
  if (!options.keep_last) return std::nullopt;
  return KeepLast{options.max_size_bytes, options.keep_last_ns};
}

std::string Absolute(const std::string& path, const ProcessRow& facts) {
  return path.front() == '/' ? path : facts.working_directory + "/" + path;
}

}  // namespace

RecordingFile::RecordingFile(const Options* options, const EnvironmentCopy* environment,
                             std::int64_t base_ns, Log* log)
    : options_(options), environment_(environment), base_ns_(base_ns), log_(log) {}

std::string RecordingFile::OutputPath(const ProcessRow& facts) const {
  OutputName name;
  name.pattern = options_->output;
  name.rank = facts.rank;
  name.world_size = facts.world_size;
  name.host = facts.host;
  name.pid = facts.pid;
  name.start = static_cast<std::time_t>(base_ns_ / 1'000'000'000);
  return ExpandOutputName(name);
}

std::string RecordingFile::TriggerPath() const {
  // On the program's thread.
  ProcessRow facts = ReadJobFacts(environment_->block());
  if (options_->output.find('%') == std::string::npos) facts.rank = facts.world_size = -1;
  return Absolute(OutputPath(facts) + ".trigger", facts);
}

RunFile::Header RecordingFile::Head(const CuptiLibrary* cupti) const {
  RunFile::Header head;
  head.base_ns = base_ns_;
  head.tool_version = TRACEINJECT_VERSION;
  head.keep_last = WhatToKeep(*options_);
  head.process = ReadProcessFacts(environment_->block());
  ReadVersions(&head.process);
  if (cupti != nullptr) {
    head.process.cupti_version = static_cast<int>(cupti->version);
    head.process.cupti_path = cupti->path;
  }
  return head;
}

bool RecordingFile::Create(const CuptiLibrary* cupti, std::string* why) {
  const RunFile::Header head = Head(cupti);
  wanted_ = OutputPath(head.process);
  if (!CreateInSpool(head)) file_ = RunFile::Create(wanted_, head, why);
  if (file_ == nullptr) {
    log_->Line("not recording: " + *why);
    return false;
  }
  log_->Line("recording to " + file_->path());
  return true;
}

// False: none is wanted, or it cannot be had; the file then is made in its place.
bool RecordingFile::CreateInSpool(const RunFile::Header& head) {
  if (options_->spool.empty()) return false;
  const std::string target = Absolute(wanted_, head.process);
  spool_.emplace(Absolute(options_->spool, head.process), target, head.process.host,
                 head.process.pid, base_ns_ / 1'000'000);
  std::string why;
  file_ = RunFile::Create(spool_->path(), head, &why);
  if (file_ == nullptr) {
    log_->Line("spool not used: " + why);
    facts_.push_back({"spool", "not used", why, {}});
    spool_.reset();
    return false;
  }
  facts_.push_back({"spool", "target", target, {}});
  spool_->Announce();
  return true;
}

bool RecordingFile::CreateElsewhere(const CuptiLibrary* cupti) {
  file_.reset();
  spool_.reset();
  const std::string_view folder = environment_->Get("TMPDIR");
  const std::string elsewhere =
      std::string(folder.empty() ? "/tmp" : folder) + "/" + wanted_.substr(wanted_.rfind('/') + 1);
  if (elsewhere == wanted_) return false;
  std::string ignored;
  file_ = RunFile::Create(elsewhere, Head(cupti), &ignored);
  if (file_ != nullptr) log_->Line("the reason is in " + file_->path());
  return file_ != nullptr;
}

void RecordingFile::Finish(std::int64_t end, const std::function<bool()>& may_go_on) {
  const std::string path = file_->path();
  const bool finished = file_->Finish(end);
  log_->Line(finished ? "closed " + path : "could not close " + path + ": " + file_->last_error());
  file_.reset();
  if (!spool_ || !finished) return;
  std::string where, why;
  log_->Line(spool_->Deliver(may_go_on, &where, &why) ? "moved to " + where
                                                      : "not moved from the spool: " + why);
  spool_.reset();
}

void RecordingFile::WriteHangFile(const CuptiLibrary* cupti) const {
  const RunFile::Header head = Head(cupti);
  std::string ignored;
  const auto file = RunFile::Create(OutputPath(head.process), head, &ignored);
  if (file == nullptr) return;
  const HealthCounterInfo& failed = kHealthCounters[static_cast<std::size_t>(Health::kStartFailed)];
  Batch batch;
  batch.health.push_back({std::string(failed.source), std::string(failed.counter), 1,
                          "cuptiActivityFlushAll does not return: no records from CUPTI"});
  file->Write(batch);
  file->Finish(NowNs() - base_ns_);
}

}  // namespace traceinject
