// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/code/host_code_levers.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/metrics/places/source_line.h"

namespace traceinject {
namespace {

// What a line does, by a part of the file of the library that it calls or of its own text, and
// what to do about it. The first that fits counts.
struct HostHabit {
  std::vector<std::string_view> library, text;
  std::string_view change;
};

const std::vector<HostHabit>& Habits() {
  static const std::vector<HostHabit> habits = {
      {{"threading.py", "queue.py", "multiprocessing/", "concurrent/"},
       {".acquire(", ".join(", "with lock"},
       "waits for another thread or process: hand over work through a queue that is filled ahead"},
      {{"<frozen importlib", "importlib/"},
       {"import "},
       "imports in the loop: move the import to the top of the file"},
      {{}, {"sleep("}, "sleeps: remove it from the step, or wait in another thread"},
      {{"logging/", "wandb/", "tqdm/", "tensorboard", "mlflow/"},
       {"print(", "log(", "logger.", "logging."},
       "writes in every step: write every N steps, or from another thread"},
      {{"PIL/", "cv2/", "torchvision/transforms", "imageio/", "albumentations/"},
       {"Image.open", "cv2."},
       "decodes or transforms images on the training thread: do it in workers of a data loader, or "
       "on the GPU (NVIDIA DALI)"},
      {{"tokenizers/", "transformers/tokenization", "sentencepiece/", "tiktoken/"},
       {"tokenizer(", ".encode("},
       "tokenizes on the training thread: tokenize ahead, in batches, or in workers"},
      {{"pandas/", "json/", "pickle.py", "csv.py", "gzip.py", "h5py/"},
       {"json.", "pickle.", "read_csv", "open("},
       "reads or parses on the training thread: prepare the data ahead, or read it in workers"},
      {{},
       {".item()", ".cpu()", ".tolist()", ".numpy()"},
       "fetches a value from the GPU: keep it there, and fetch it every N steps"},
      {{},
       {".parameters()"},
       "loops over parameters: use the torch._foreach functions, or an optimizer with fused=True"},
      {{"numpy/", "scipy/"},
       {"np.", "numpy.", "rng."},
       "computes with NumPy: make it ahead or in another process, or compute it on the GPU"},
  };
  return habits;
}

bool HasPart(std::string_view text, const std::vector<std::string_view>& parts) {
  return std::any_of(parts.begin(), parts.end(), [text](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  });
}

std::string_view ChangeOf(std::string_view library, std::string_view text) {
  for (const HostHabit& habit : Habits()) {
    if (HasPart(library, habit.library) || HasPart(text, habit.text)) return habit.change;
  }
  return "computes between launches: do it ahead, less often, in another process, or on the GPU";
}

}  // namespace

void AddHostCodeLevers(std::int64_t recorded_at_ns, proto::Verdict& to) {
  for (const proto::CodeLine& line : to.code()) {
    const std::string text = SourceLine(line.file(), line.line(), recorded_at_ns);
    proto::Lever& lever = *to.add_levers();
    lever.set_setting(line.place() + (text.empty() ? "" : fmt::format(" `{}`", text)));
    lever.set_change(std::string(ChangeOf(line.library(), text)));
  }
}

}  // namespace traceinject
