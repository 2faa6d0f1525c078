// SPDX-License-Identifier: Apache-2.0
#include "injector/stacks/python_process.h"

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

#include "injector/base/clock.h"

namespace traceinject {
namespace {

constexpr std::size_t kMaxStateBytes = 1100;

std::uint64_t FindObject(const char* name) {
  return reinterpret_cast<std::uint64_t>(dlsym(RTLD_DEFAULT, name));
}

template <typename Function>
bool FindFunction(const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  return *function != nullptr;
}

// 11 of "3.11.7 (main, ..."; 0: another Python.
int MinorOfVersion(std::string_view version) {
  constexpr std::string_view kMajor = "3.";
  int minor = 0;
  if (version.substr(0, kMajor.size()) != kMajor) return 0;
  version.remove_prefix(kMajor.size());
  std::from_chars(version.data(), version.data() + version.size(), minor);
  return minor;
}

}  // namespace

std::optional<PythonSymbols> FindPythonSymbols() {
  PythonSymbols found;
  // The first look-up is the only one in a program that has no Python.
  found.runtime = FindObject("_PyRuntime");
  if (found.runtime == 0) return std::nullopt;
  found.types = {FindObject("PyCode_Type"), FindObject("PyUnicode_Type"),
                 FindObject("PyBytes_Type")};
  const bool all =
      found.types.code != 0 && found.types.text != 0 && found.types.bytes != 0 &&
      FindFunction("Py_GetVersion", &found.Py_GetVersion) &&
      FindFunction("Py_IsInitialized", &found.Py_IsInitialized) &&
      (FindFunction("Py_IsFinalizing", &found.Py_IsFinalizing) ||
       FindFunction("_Py_IsFinalizing", &found.Py_IsFinalizing)) &&
      FindFunction("PyGILState_GetThisThreadState", &found.PyGILState_GetThisThreadState);
  if (!all) return std::nullopt;
  return found;
}

std::optional<PythonLayout> FindPythonLayout(const PythonSymbols& symbols, std::string* why) {
  const std::string_view version = symbols.Py_GetVersion();
  const int minor = MinorOfVersion(version);
  if (minor >= 13) return LayoutOfRuntime(ProcessMemory(), symbols.runtime, why);
#if !defined(__x86_64__) && !defined(__aarch64__)
  *why = "not known for this processor";
  return std::nullopt;
#endif
  auto layout = LayoutOfVersion(minor);
  if (!layout)
    *why = "Python " + std::string(version.substr(0, version.find(' '))) + " is not known";
  return layout;
}

std::int32_t FindThreadIdOffset() {
  constexpr std::int32_t kMost = 2048;
  const pid_t own = gettid();
  const ProcessMemory memory;
  const auto self = static_cast<std::uint64_t>(pthread_self());
  for (std::int32_t offset = 0; offset < kMost; offset += 4) {
    pid_t value = 0;
    if (!memory.Read(self + static_cast<std::uint64_t>(offset), &value)) return -1;
    if (value == own) return offset;
  }
  return -1;
}

PythonProcess::PythonProcess(ProcessMemory memory, const PythonLayout& layout,
                             const PythonTypes& types, std::uint64_t runtime,
                             std::int32_t tid_offset)
    : memory_(memory),
      layout_(layout),
      types_(types),
      runtime_(runtime),
      tid_offset_(tid_offset),
      blocks_(&memory_) {}

std::size_t PythonProcess::StateBytes() const {
  std::uint32_t last = std::max(
      {layout_.thread_next, layout_.thread_interpreter, layout_.thread_id, layout_.thread_frame});
  if (layout_.native_thread_id != PythonLayout::kNone)
    last = std::max(last, layout_.native_thread_id);
  return last + 8;
}

bool PythonProcess::ReadState(std::uint64_t state, char* bytes) const {
  const std::size_t size = StateBytes();
  return IsPlausibleAddress(state) && size <= kMaxStateBytes && memory_.Read(state, bytes, size);
}

// Where a thread stands now. No frame: it runs no Python, or is gone.
ChainTop PythonProcess::Top(std::uint64_t state) const {
  std::array<char, kMaxStateBytes> bytes;
  ChainTop top;
  if (!ReadState(state, bytes.data())) return top;
  std::uint64_t at = 0;
  std::memcpy(&at, bytes.data() + layout_.thread_frame, 8);
  if (layout_.cframe_frame == PythonLayout::kNone || at == 0) {
    top.frame = at;
    return top;
  }
  std::array<char, 24> cframe;  // a _PyCFrame
  std::uint64_t previous = 0;
  if (!memory_.Read(at, cframe.data(), cframe.size())) return {};
  std::memcpy(&top.frame, cframe.data() + layout_.cframe_frame, 8);
  std::memcpy(&previous, cframe.data() + layout_.cframe_previous, 8);
  return memory_.Read(previous + layout_.cframe_frame, &top.caller) ? top : ChainTop();
}

// False: it is no state of this interpreter.
bool PythonProcess::ReadThread(std::uint64_t state, std::uint64_t interpreter, PythonThread* thread,
                               std::uint64_t* next) const {
  std::array<char, kMaxStateBytes> bytes;
  if (!ReadState(state, bytes.data())) return false;
  std::uint64_t its_interpreter = 0;
  std::memcpy(&its_interpreter, bytes.data() + layout_.thread_interpreter, 8);
  if (its_interpreter != interpreter) return false;
  std::memcpy(next, bytes.data() + layout_.thread_next, 8);
  thread->state = state;
  if (layout_.native_thread_id != PythonLayout::kNone) {
    std::memcpy(&thread->tid, bytes.data() + layout_.native_thread_id, 8);
    return true;
  }
  std::uint64_t pthread = 0;
  std::int32_t tid = 0;
  std::memcpy(&pthread, bytes.data() + layout_.thread_id, 8);
  if (tid_offset_ >= 0 && IsPlausibleAddress(pthread))
    memory_.Read(pthread + static_cast<std::uint64_t>(tid_offset_), &tid);
  thread->tid = tid;
  return true;
}

bool PythonProcess::ReadThreads(std::vector<PythonThread>* threads) {
  constexpr int kMaxInterpreters = 64;
  threads->clear();
  std::uint64_t interpreter = 0;
  if (!memory_.Read(runtime_ + layout_.interpreters_head, &interpreter)) return false;
  for (int i = 0; interpreter != 0 && i < kMaxInterpreters; ++i) {
    std::uint64_t state = 0, next_interpreter = 0;
    if (!IsPlausibleAddress(interpreter) ||
        !memory_.Read(interpreter + layout_.threads_head, &state) ||
        !memory_.Read(interpreter + layout_.interpreter_next, &next_interpreter))
      return false;
    // States that tell no id do not count as threads, and may lead back to themselves.
    for (std::size_t read = 0; state != 0 && read < kMaxThreads && threads->size() < kMaxThreads;
         ++read) {
      PythonThread thread;
      std::uint64_t next = 0;
      if (!ReadThread(state, interpreter, &thread, &next)) return false;
      // The state of one that ends, or has not begun, tells no id.
      if (thread.tid > 0) threads->push_back(thread);
      state = next;
    }
    interpreter = next_interpreter;
  }
  return true;
}

// Twice, so that what changes meanwhile is seen; and fast, so that little does.
StackResult PythonProcess::ReadFrames(const PythonThread& thread) {
  std::size_t first = 0, second = 0;
  count_ = 0;
  if (pages_.size() > 2 * kMaxThreads) pages_.clear();  // threads that ended
  Pages& pages = pages_[thread.state];
  const ChainTop top = Top(thread.state);
  if (top.frame == 0) return StackResult::kNone;
  blocks_.Load(pages.bases.data(), pages.count);
  const ChainEnd end = ReadChain(layout_, &blocks_, top, first_.data(), first_.size(), &first);
  if (end == ChainEnd::kLost) return StackResult::kTorn;
  // What both readings have in common was there now.
  time_ns_ = NowNs();
  const ChainTop later = Top(thread.state);
  blocks_.Refresh();
  if (later.frame == 0 ||
      ReadChain(layout_, &blocks_, later, second_.data(), second_.size(), &second) != end)
    return StackResult::kTorn;
  pages.count = blocks_.Held(pages.bases.data(), pages.bases.size());
  const std::size_t unstable = CountUnstable(first_.data(), first, second_.data(), second);
  if (unstable == first) return StackResult::kTorn;
  bool is_cut = end == ChainEnd::kCut;
  for (std::size_t i = unstable; i < first; ++i) {
    if (!first_[i].is_python) continue;
    if (count_ == frames_.size()) {
      is_cut = true;
      break;
    }
    // A call of the same function at the same place of the stack, but on another object, may have
    // come between the readings.
    const bool is_same_object = first_[i].first_local == second_[i + second - first].first_local;
    frames_[count_++] = {first_[i].code, OffsetOfInstruction(layout_, first_[i]),
                         is_same_object ? first_[i].first_local : 0};
  }
  if (count_ == 0) return unstable == 0 ? StackResult::kNone : StackResult::kTorn;
  if (is_cut) return StackResult::kCut;
  return unstable == 0 ? StackResult::kWhole : StackResult::kPartial;
}

StackResult PythonProcess::ReadStack(const PythonThread& thread) {
  const StackResult result = ReadFrames(thread);
  return count_ != 0 && !ReadCodes() ? StackResult::kTorn : result;
}

// The words of all frames' code objects, in few calls; a function that calls itself is read once.
bool PythonProcess::ReadCodes() {
  constexpr std::size_t kTogether = ProcessMemory::kMaxPieces;
  std::array<std::uint64_t, kTogether> addresses;
  std::array<char, kTogether * kMaxCodeBytes> bytes;
  const std::size_t size = CodeBytes(layout_);
  if (size > kMaxCodeBytes) return false;
  for (std::size_t i = 0; i < count_;) {
    const std::size_t begin = i;
    std::size_t pieces = 0;
    for (; i < count_; ++i) {
      if (i != begin && frames_[i].code == frames_[i - 1].code) continue;
      if (pieces == kTogether) break;
      addresses[pieces++] = frames_[i].code;
    }
    if (memory_.ReadPieces(addresses.data(), pieces, bytes.data(), size) != pieces) return false;
    std::size_t piece = 0;
    for (std::size_t j = begin; j < i; ++j) {
      if (j != begin && frames_[j].code != frames_[j - 1].code) ++piece;
      codes_[j] = DecodeCode(layout_, bytes.data() + piece * size);
    }
  }
  return true;
}

}  // namespace traceinject
