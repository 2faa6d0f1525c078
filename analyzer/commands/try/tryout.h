// SPDX-License-Identifier: Apache-2.0
// Runs the program as it is and with each lever, in turn.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/commands/record/status_line.h"
#include "analyzer/commands/try/scratch.h"
#include "analyzer/commands/try/trial.h"
#include "analyzer/commands/try/try_options.h"
#include "analyzer/commands/try/variant.h"
#include "schemas/report.pb.h"
#include "schemas/tries.pb.h"

namespace traceinject {

class Tryout {
 public:
  // `from`: the report whose verdict names the levers; null: that of the first run.
  Tryout(TryOptions& options, const proto::Report* from, const Scratch& scratch,
         Interruption& interruption);

  // The exit code; the result is in tries().
  int Run();

  const proto::Tries& tries() const { return tries_; }

 private:
  using Seconds = std::chrono::duration<double>;

  bool WasInterrupted() { return interruption_.Came(); }

  Trial RunOne(const std::string& tried, const std::string& what, const std::string& name,
               Seconds limit);
  std::string ProgressText(const std::string& what, std::optional<std::int64_t> steps,
                           Seconds time) const;
  void Tell(const std::string& what, const Trial& trial);

  // Without it there is nothing to compare with.
  int RunFirst();
  int Plan();
  void TellPlan();
  Seconds Limit() const;
  void RunAsIs(std::size_t round);
  void RunFix(std::size_t index, std::size_t round);
  static void SetOutcome(const std::string& outcome, const std::string& reason,
                         proto::TriedFix& fix);
  static void Note(TriedRun run, Variant& with, proto::TriedFix& fix);
  void Gather();

  TryOptions& options_;
  const proto::Report* const from_;
  const Scratch& scratch_;
  Interruption& interruption_;
  StatusLine line_;
  Variant as_is_;
  std::vector<Variant> with_;  // as fixes_
  std::vector<proto::TriedFix> fixes_;
  proto::Verdict verdict_;
  proto::Tries tries_;
  std::size_t run_ = 0, runs_ = 0;
  Seconds first_{};  // that the first run took
};

}  // namespace traceinject
