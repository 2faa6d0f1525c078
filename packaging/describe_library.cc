// SPDX-License-Identifier: Apache-2.0
// Prints the manual page of libtraceinject.so.
#include <cstdio>
#include <string>

#include "injector/options/options.h"
#include "packaging/man_page.h"

using namespace traceinject;

int main() {
  ManPage page("libtraceinject", "7", "records a training run on NVIDIA GPUs");
  page.Section("Synopsis");
  page.Lines(
      "analyze record [OPTIONS] -- PROGRAM [ARGUMENT...]\n"
      "LD_PRELOAD=$(analyze preload) PROGRAM [ARGUMENT...]\n");
  page.Section("Description");
  page.Paragraphs(
      "Preloaded into a program, libtraceinject.so records what the GPUs and the host do, using "
      "CUPTI: kernels, copies, CUDA calls, NVTX ranges, NCCL operations, GEMMs, data waits, GPU "
      "clocks and memory. The recording is an SQLite file that analyze(1) reports on and "
      "traceview(1) shows; it appears with the first GPU operation.\n\n"
      "The program's output, exit code, signals and files are unchanged. What cannot be recorded "
      "is counted in the recording.");
  page.Section("Environment");
  for (const OptionInfo& option : ListOptions()) {
    std::string meaning(option.help);
    if (!option.default_value.empty())
      meaning += " [default: " + std::string(option.default_value) + "]";
    page.Term(std::string(option.name), meaning);
  }
  page.Section("Files");
  page.Term(
      "run.db, run.rank00000.db, ...",
      "The recording of each process. While it is written, run.db-wal holds the newest rows.");
  page.Term("run.db.trigger", "Commands from analyze trigger to a running program.");
  page.Section("See also");
  page.Paragraphs("analyze(1), traceview(1)");
  return std::fputs(page.text().c_str(), stdout) < 0 ? 1 : 0;
}
