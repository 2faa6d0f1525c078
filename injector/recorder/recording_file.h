// SPDX-License-Identifier: Apache-2.0
// The file of a recording: where it goes, what its head says, and how it ends. What goes into it is
// the writer's affair (writer.h).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "injector/base/environment_copy.h"
#include "injector/base/log.h"
#include "injector/cupti/library.h"
#include "injector/options/options.h"
#include "injector/store/run_file.h"
#include "injector/store/spool.h"

namespace traceinject {

class RecordingFile {
 public:
  // All outlive this.
  RecordingFile(const Options* options, const EnvironmentCopy* environment, std::int64_t base_ns,
                Log* log);

  bool is_open() const { return file_ != nullptr; }
  // While it is there.
  RunFile& operator*() { return *file_; }
  RunFile* operator->() { return file_.get(); }
  const RunFile* operator->() const { return file_.get(); }

  // `cupti`: whose version the head names; may be null. False: `why`.
  bool Create(const CuptiLibrary* cupti, std::string* why);
  // Where that one cannot be written: one of the same name where temporary files belong.
  bool CreateElsewhere(const CuptiLibrary* cupti);
  // Facts about where it is, which belong into it.
  const std::vector<SystemFactRow>& facts() const { return facts_; }

  // Ends it at `end`, and brings it to its place; asks `may_go_on` now and then, if that takes
  // long.
  void Finish(std::int64_t end, const std::function<bool()>& may_go_on);
  // Lets go of one that ended by itself, or could not.
  void Forget() { file_.reset(); }

  // From any thread, beside all else: a file that tells that the writer thread hangs in CUPTI.
  void WriteHangFile(const CuptiLibrary* cupti) const;

  // One for all ranks, unless the name of the output tells them apart itself.
  std::string TriggerPath() const;

 private:
  std::string OutputPath(const ProcessRow& facts) const;
  RunFile::Header Head(const CuptiLibrary* cupti) const;
  bool CreateInSpool(const RunFile::Header& head);

  const Options* options_;
  const EnvironmentCopy* environment_;
  const std::int64_t base_ns_;
  Log* log_;
  std::string wanted_;  // of the last Create()
  std::optional<Spool> spool_;
  std::vector<SystemFactRow> facts_;
  std::unique_ptr<RunFile> file_;
};

}  // namespace traceinject
