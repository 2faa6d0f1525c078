// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/try/try_options.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>

#include "analyzer/commands/record/recorder_options.h"
#include "analyzer/commands/shared/arguments.h"
#include "analyzer/tries/tried_run.h"

namespace traceinject {

void DescribeTry(CLI::App& app, TryOptions& options) {
  app.footer(
      "The program is run as it is and recorded, and once more with each lever of the verdict that "
      "can be pulled\n"
      "from outside, all of that --repeat times in turn. Each run is ended after its steps, so "
      "give "
      "the command as\n"
      "you would for a long run. What torch.save() writes goes to a scratch folder and is removed; "
      "other files the\n"
      "program writes as ever: --workdir runs it elsewhere. Ctrl-C ends everything and prints what "
      "was measured.\n\n"
      "Examples:\n"
      "  analyze try -- python train.py\n"
      "  analyze try --repeat 2 --steps 100 -- torchrun --nproc-per-node 8 train.py\n"
      "  analyze try --fixes num_workers=8,pin_memory=1+non_blocking=1 -- python train.py\n"
      "                                      these; + pulls two together\n"
      "  analyze try --from run.db -- python train.py   the levers of a recording's verdict\n"
      "  analyze try --levers                           all levers, and what each changes\n"
      "  analyze score tries                            predictions against all that was tried\n");
  app.add_option("--fixes", options.choice.fixes,
                 "auto, the levers of the verdict; or lever=value,... of --levers")
      ->type_name("LIST")
      ->capture_default_str();
  app.add_option("--steps", options.trial.steps, "steps of each run after the warm-up")
      ->check(WholeNumberFrom(static_cast<std::int64_t>(kLeastTriedSteps)))
      ->capture_default_str();
  app.add_option("--warm-up", options.trial.warm_up, "steps at the beginning that do not count")
      ->check(WholeNumberFrom(0))
      ->capture_default_str();
  app.add_option("--repeat", options.repeats,
                 "runs of each; with one, what differs from run to run is not known")
      ->check(WholeNumberFrom(1))
      ->capture_default_str();
  app.add_option("--most", options.choice.most, "levers of the verdict that are tried")
      ->check(WholeNumberFrom(1))
      ->capture_default_str();
  app.add_flag("--allow-numerics", options.choice.allow_numerics,
               "also try levers that change numbers, such as autocast");
  app.add_option("--from", options.from, "recordings whose verdict names the levers")
      ->type_name("RUN");
  app.add_option("--workdir", options.trial.folder, "folder that the program runs in")
      ->type_name("FOLDER")
      ->check(CLI::ExistingDirectory);
  app.add_option("--timeout", options.timeout_s, "seconds that a run may take")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("-o,--output", options.output,
                 "folder for tries.db, which analyze score reads, and for what --keep keeps")
      ->type_name("FOLDER")
      ->capture_default_str();
  app.add_flag("--keep", options.keep, "keep recordings and logs of all runs there");
  app.add_option("--format", options.format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  app.add_option("--html", options.html, "also write the result as a page")->type_name("FILE");
  app.add_flag("--no-progress", options.no_progress, "disable the progress line");
  app.add_flag("--levers", options.levers, "list all levers and exit");
  AddRecorderOptions(app, options.trial.recorder);
  app.add_option("program", options.trial.program,
                 "the program to run and its arguments, after --");
}

void SayInTry(const std::string& text) { fmt::print(stderr, "{}: {}\n", kTryProgram, text); }

}  // namespace traceinject
