// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/places/code_sites.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace traceinject {
namespace {

constexpr std::array<std::string_view, 2> kPackages = {"/site-packages/", "/dist-packages/"};
// Written by compilers at run time, and Python's own frozen modules.
constexpr std::array<std::string_view, 4> kGenerated = {"/torchinductor_", "<eval_with_key>",
                                                        "<frozen ", "<__array_function__"};
// Of traces of PyTorch's profiler: what is called of C, and modules.
constexpr std::array<std::string_view, 2> kNoFiles = {"<built-in>", "<nn.Module>"};
// That profiler names files as they are found on Python's path: "torch/nn/functional.py",
// "random.py". The packages and modules of the standard library that stand in stacks of training
// programs.
constexpr std::string_view kRelativeLibraries =
    " IPython PIL _bootstrap abc accelerate apex argparse ast asyncio base64 bisect"
    " cloudpickle codecs collections concurrent contextlib contextvars copy copyreg csv ctypes"
    " cv2 dataclasses datetime deepspeed diffusers dill einops email encodings enum fire"
    " flash_attn fnmatch fsspec functools genericpath glob gzip h5py hashlib heapq http"
    " huggingface_hub hydra importlib inspect io ipykernel jax joblib json lightning linecache"
    " locale logging lzma matplotlib multiprocessing ntpath numpy omegaconf os pandas pathlib"
    " peft pickle platform posixpath pyarrow pytorch_lightning queue random re runpy"
    " safetensors scipy selectors shutil signal site-packages sklearn socket ssl string struct"
    " subprocess tarfile tempfile tensorboard threading timm tokenizers torch torch_geometric"
    " torchaudio torchvision tqdm traceback transformers triton typing urllib wandb warnings"
    " weakref zipfile"
    " ";
constexpr std::string_view kStandardLibrary = "/python3";

// "/usr/lib/python3.11/", "/opt/python311.zip/".
std::size_t EndOfStandardLibrary(std::string_view file) {
  for (std::size_t at = file.find(kStandardLibrary); at != std::string_view::npos;
       at = file.find(kStandardLibrary, at + 1)) {
    std::size_t end = at + kStandardLibrary.size();
    while (end < file.size() && (std::isdigit(static_cast<unsigned char>(file[end])) != 0 ||
                                 file[end] == '.' || file[end] == 't'))
      ++end;
    const bool in_lib =
        file.substr(0, at).ends_with("/lib") || file.substr(0, at).ends_with("lib64");
    if (in_lib && end < file.size() && file[end] == '/') return end + 1;
    if (file.substr(end).starts_with("zip/")) return end + 4;
  }
  return std::string_view::npos;
}

// By the folder that it is in, or, of a module without one, its name.
bool IsRelativeLibrary(std::string_view file) {
  std::string_view first = file.substr(0, file.find('/'));
  if (first.size() == file.size()) {
    if (!first.ends_with(".py")) return false;
    first.remove_suffix(3);
  }
  return kRelativeLibraries.find(fmt::format(" {} ", first)) != std::string_view::npos;
}

// Where a process that was forked begins: what called it was its parent's business.
bool BeginsProcess(const Rank& rank, const CodePlace& place) {
  const std::string_view function = rank.string(place.function);
  const std::string_view file = rank.string(place.file);
  return (function.ends_with("_bootstrap") && file.ends_with("multiprocessing/process.py")) ||
         (function == "_worker_loop" && file.ends_with("_utils/worker.py"));
}

// A function that Python makes of an expression, which is a part of its line.
bool IsExpression(std::string_view function) {
  for (const std::string_view name : {"<genexpr>", "<listcomp>", "<setcomp>", "<dictcomp>"}) {
    if (function.ends_with(name)) return true;
  }
  return false;
}

// The name of a function without one begins with that of its file.
std::string WithFile(std::string_view function, std::string_view word, std::string_view file) {
  const std::string_view name = ShortFile(file);
  if (function.starts_with(name) && function.substr(name.size()).starts_with("+0x"))
    return std::string(function);
  return fmt::format("{} {} {}", function, word, name);
}

}  // namespace

bool IsLibraryFile(std::string_view file) {
  for (const std::string_view folder : kPackages) {
    if (file.find(folder) != std::string_view::npos) return true;
  }
  for (const std::string_view mark : kGenerated) {
    if (file.find(mark) != std::string_view::npos) return true;
  }
  if (std::find(kNoFiles.begin(), kNoFiles.end(), file) != kNoFiles.end()) return true;
  return EndOfStandardLibrary(file) != std::string_view::npos || IsRelativeLibrary(file);
}

bool IsLibraryPlace(const Rank& rank, const CodePlace& place) {
  return place.is_native ? place.is_library : IsLibraryFile(rank.string(place.file));
}

std::string_view ShortFile(std::string_view file) {
  for (const std::string_view folder : kPackages) {
    const std::size_t at = file.rfind(folder);
    if (at != std::string_view::npos) return file.substr(at + folder.size());
  }
  const std::size_t library = EndOfStandardLibrary(file);
  if (library != std::string_view::npos) return file.substr(library);
  return file.substr(file.rfind('/') + 1);
}

CodeSites::CodeSites(const Rank& rank, SiteFrame frame) {
  Find(rank, frame);
  for (std::uint32_t stack = 0; stack < sites_.size(); ++stack) sites_[stack].stack = stack;
}

void CodeSites::Find(const Rank& rank, SiteFrame frame) {
  sites_.reserve(rank.stacks.size());
  if (frame == SiteFrame::kInnermost) {
    for (const CodeStack& stack : rank.stacks)
      sites_.push_back(
          {.place = stack.place, .own = !IsLibraryPlace(rank, rank.places[stack.place])});
    return;
  }
  if (frame == SiteFrame::kModule) {
    for (const CodeStack& stack : rank.stacks) {
      const CodeSite caller = stack.caller == kNone ? CodeSite() : sites_[stack.caller];
      sites_.push_back(stack.module == kNone ? caller
                                             : CodeSite{.own = true, .module = stack.module});
    }
    return;
  }
  enum class Kind : std::uint8_t { kOwn, kExpression, kLibrary, kBegin };
  std::vector<Kind> kinds;
  kinds.reserve(rank.places.size());
  for (const CodePlace& place : rank.places) {
    Kind kind = IsLibraryPlace(rank, place) ? Kind::kLibrary : Kind::kOwn;
    if (kind == Kind::kOwn && IsExpression(rank.string(place.function))) kind = Kind::kExpression;
    if (BeginsProcess(rank, place)) kind = Kind::kBegin;
    kinds.push_back(kind);
  }
  for (const CodeStack& stack : rank.stacks) {
    const Kind kind = kinds[stack.place];
    const CodeSite caller = stack.caller == kNone ? CodeSite() : sites_[stack.caller];
    const bool is_part = kind == Kind::kExpression && caller.own && caller.library == kNone &&
                         rank.places[caller.place].file == rank.places[stack.place].file;
    if (is_part) {
      sites_.push_back(caller);
    } else if (kind == Kind::kOwn || kind == Kind::kExpression) {
      sites_.push_back({.place = stack.place, .own = true});
    } else if (kind == Kind::kBegin || !caller.own) {
      sites_.push_back({.place = stack.place});
    } else {
      sites_.push_back({.place = caller.place,
                        .library = caller.library == kNone ? stack.place : caller.library,
                        .own = true});
    }
  }
}

std::string PlaceText(const Rank& rank, std::uint32_t place) {
  if (place == kNone) return "";
  const CodePlace& code = rank.places[place];
  const std::string_view file = rank.string(code.file), function = rank.string(code.function);
  if (code.is_native) return WithFile(function, "in", file);
  return PlaceText(file, code.line, function);
}

std::string PlaceText(std::string_view file, std::int32_t line, std::string_view function) {
  const std::string_view name = file.empty() ? "?" : ShortFile(file);
  const std::string number = line > 0 ? fmt::format(":{}", line) : "";
  if (function.empty() || function == "<module>" || function == "?")
    return fmt::format("{}{}", name, number);
  return fmt::format("{}{} in {}", name, number, function);
}

std::string WithoutNumbers(std::string_view module) {
  std::string text;
  while (!module.empty()) {
    const std::string_view part = module.substr(0, module.find('.'));
    const bool is_number = part.find_first_not_of("0123456789") == std::string_view::npos;
    if (!text.empty()) text += '.';
    text += is_number ? "*" : part;
    module.remove_prefix(std::min(module.size(), part.size() + 1));
  }
  return text;
}

std::string FrameText(const Rank& rank, std::uint32_t place) {
  const CodePlace& code = rank.places[place];
  const std::string line = code.line > 0 ? fmt::format(":{}", code.line) : "";
  return fmt::format("{} ({}{})", rank.string(code.function), ShortFile(rank.string(code.file)),
                     line);
}

std::string LibraryText(const Rank& rank, std::uint32_t place) {
  if (place == kNone) return "";
  const CodePlace& code = rank.places[place];
  const std::string_view file = rank.string(code.file);
  if (std::find(kNoFiles.begin(), kNoFiles.end(), file) != kNoFiles.end())
    return std::string(rank.string(code.function));
  return WithFile(rank.string(code.function), "of", file);
}

}  // namespace traceinject
