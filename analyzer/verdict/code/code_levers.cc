// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/code/code_levers.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/metrics/places/source_line.h"
#include "analyzer/verdict/code/code_evidence.h"

namespace traceinject {
namespace {

// What a line does, by a part of the file of the library that it calls or of its own text, and
// what to do about it, on the thread that trains and in what prepares data. The first that fits
// counts.
struct HostHabit {
  std::vector<std::string_view> library, text;
  std::string_view change, in_loader;  // empty: nothing in particular
};

const std::vector<HostHabit>& Habits() {
  static const std::vector<HostHabit> habits = {
      {{"threading.py", "queue.py", "multiprocessing/", "concurrent/"},
       {".acquire(", "with lock"},
       "waits for another thread or process: hand over work through a queue that is filled ahead",
       ""},
      {{"<frozen importlib", "importlib/"},
       {"import "},
       "imports in the loop: move the import to the top of the file",
       "imports for each sample: move the import to the top of the file"},
      {{},
       {"sleep("},
       "sleeps: remove it from the step, or wait in another thread",
       "sleeps: remove it"},
      {{"logging/", "wandb/", "tqdm/", "tensorboard", "mlflow/"},
       {"print(", "self.log(", "wandb.log(", "logger.", "logging.", "writer.add_"},
       "writes in every step: write every N steps, or from another thread",
       "writes for each sample: remove it"},
      {{"PIL/", "cv2/", "torchvision/transforms", "imageio/", "albumentations/"},
       {"Image.open", "cv2."},
       "decodes or transforms images on the training thread: do it in workers of a data loader, or "
       "on the GPU (NVIDIA DALI)",
       "decodes or transforms images: store them smaller or decoded, or do it on the GPU (NVIDIA "
       "DALI)"},
      {{"tokenizers/", "transformers/tokenization", "sentencepiece/", "tiktoken/"},
       {"tokenizer(", "tokenizer.", "tokenize("},
       "tokenizes on the training thread: tokenize ahead, in batches, or in workers",
       "tokenizes: tokenize once, before the training"},
      {{"pandas/", "json/", "pickle.py", "csv.py", "gzip.py", "h5py/"},
       {"json.", "pickle.", "read_csv", "open("},
       "reads or parses on the training thread: prepare the data ahead, or read it in workers",
       "reads or parses: prepare the data once in a packed format, and read it in large pieces"},
      {{},
       {".item()", ".cpu()", ".tolist()", ".numpy()"},
       "fetches a value from the GPU: keep it there, and fetch it every N steps",
       ""},
      {{},
       {".parameters()"},
       "loops over parameters: use the torch._foreach functions, or an optimizer with fused=True",
       ""},
      {{"numpy/", "scipy/"},
       {"np.", "numpy.", "rng."},
       "computes with NumPy: make it ahead or in another process, or compute it on the GPU",
       "computes with NumPy: make it once, ahead, or on the GPU"},
  };
  return habits;
}

bool IsOfName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// A part that begins with a name is none inside of a longer one: "np." of "inp.view()".
bool HasPart(std::string_view text, const std::vector<std::string_view>& parts) {
  return std::any_of(parts.begin(), parts.end(), [text](std::string_view part) {
    for (std::size_t at = text.find(part); at != std::string_view::npos;
         at = text.find(part, at + 1)) {
      if (at == 0 || !IsOfName(part.front()) || !IsOfName(text[at - 1])) return true;
    }
    return false;
  });
}

// Labels of what the host does: of others, lines tell which kernels they launched.
bool IsOfHost(std::string_view label) {
  for (const std::string_view one :
       {kHostCodeLabel, std::string_view("launch_bound"), std::string_view("sync_bound"),
        std::string_view("dataloader"), std::string_view("inconclusive")}) {
    if (label == one) return true;
  }
  return false;
}

// Empty: nothing is known of what it does.
std::string_view ChangeOf(std::string_view label, std::string_view library, std::string_view text) {
  for (const HostHabit& habit : Habits()) {
    if (HasPart(library, habit.library) || HasPart(text, habit.text))
      return label == "dataloader" ? habit.in_loader : habit.change;
  }
  if (label != kHostCodeLabel) return "";
  return "computes between launches: do it ahead, less often, in another process, or on the GPU";
}

}  // namespace

void AddCodeLevers(std::int64_t recorded_at_ns, proto::Verdict& to) {
  if (!IsOfHost(to.label())) return;
  const int others = to.levers_size();
  for (const proto::CodeLine& line : to.code()) {
    const std::string text = SourceLine(line.file(), line.line(), recorded_at_ns);
    const std::string_view change = ChangeOf(to.label(), line.library(), text);
    if (change.empty()) continue;
    proto::Lever& lever = *to.add_levers();
    lever.set_setting(line.place() + (text.empty() ? "" : fmt::format(" `{}`", text)));
    lever.set_change(std::string(change));
  }
  const auto begin = to.mutable_levers()->pointer_begin();
  std::rotate(begin, begin + others, begin + to.levers_size());
}

}  // namespace traceinject
