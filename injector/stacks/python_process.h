// SPDX-License-Identifier: Apache-2.0
// The interpreter of a process, as its memory shows it: its threads, and what each runs. Without
// its lock, so that all that is found is of one moment at best.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "injector/stacks/code_object.h"
#include "injector/stacks/frame_walk.h"
#include "injector/stacks/process_memory.h"
#include "injector/stacks/python_layout.h"

namespace traceinject {

// The symbols of the interpreter in this process, which need no lock.
struct PythonSymbols {
  std::uint64_t runtime = 0;  // _PyRuntime
  PythonTypes types;
  const char* (*Py_GetVersion)() = nullptr;
  int (*Py_IsInitialized)() = nullptr;
  int (*Py_IsFinalizing)() = nullptr;
  // The state of the calling thread, whether it holds the lock or not; null: it has none.
  void* (*PyGILState_GetThisThreadState)() = nullptr;

  bool IsAlive() const { return Py_IsInitialized() != 0 && Py_IsFinalizing() == 0; }
};

// Empty: there is no Python here whose names are visible to all.
std::optional<PythonSymbols> FindPythonSymbols();

// The layout of the structures of this process' interpreter. Empty: `why`.
std::optional<PythonLayout> FindPythonLayout(const PythonSymbols& symbols, std::string* why);

// Where pthread_t leads to the thread's id in this C library, as an offset; before 3.11 states do
// not tell it. -1: not found.
std::int32_t FindThreadIdOffset();

// A frame of Python: the address of its code object, and the offset in bytes of the instruction at
// which it stands; negative: it has not begun. Of its first argument the address of the object;
// 0: not known.
struct RawFrame {
  std::uint64_t code;
  std::int64_t offset;
  std::uint64_t first_local;
};

enum class StackResult {
  kWhole,
  kPartial,  // without the innermost frames, which changed under our eyes
  kCut,      // without the outermost frames, which are too many
  kNone,     // it runs no Python
  kTorn      // it changed too much
};

struct PythonThread {
  std::uint64_t state = 0;
  std::int64_t tid = 0;
};

class PythonProcess {
 public:
  static constexpr std::size_t kMaxFrames = 1024, kMaxThreads = 512;

  PythonProcess(ProcessMemory memory, const PythonLayout& layout, const PythonTypes& types,
                std::uint64_t runtime, std::int32_t tid_offset);
  PythonProcess(const PythonProcess&) = delete;
  PythonProcess& operator=(const PythonProcess&) = delete;

  // All threads of all interpreters. False: they changed, or are not what they were taken for;
  // those found until then are there. O(threads).
  bool ReadThreads(std::vector<PythonThread>* threads);

  // The frames of one, the innermost first, with the words of their code objects. O(frames).
  StackResult ReadStack(const PythonThread& thread);
  // When the thread stood there (NowNs), however long reading was held up.
  std::int64_t time_ns() const { return time_ns_; }
  std::size_t count() const { return count_; }
  const RawFrame& frame(std::size_t i) const { return frames_[i]; }
  const CodeWords& code(std::size_t i) const { return codes_[i]; }

  const ProcessMemory& memory() const { return memory_; }
  const PythonLayout& layout() const { return layout_; }
  const PythonTypes& types() const { return types_; }

 private:
  using Blocks = MemoryBlocks<32>;
  // Frames of C stand between those of Python.
  static constexpr std::size_t kMaxChain = 2 * kMaxFrames;

  bool ReadState(std::uint64_t state, char* bytes) const;
  // Where the frames of a thread were when it was read last, which is where they will be.
  struct Pages {
    std::array<std::uint64_t, 8> bases;
    std::size_t count = 0;
  };

  bool ReadThread(std::uint64_t state, std::uint64_t interpreter, PythonThread* thread,
                  std::uint64_t* next) const;
  ChainTop Top(std::uint64_t state) const;
  std::size_t StateBytes() const;
  StackResult ReadFrames(const PythonThread& thread);
  bool ReadCodes();

  const ProcessMemory memory_;
  const PythonLayout layout_;
  const PythonTypes types_;
  const std::uint64_t runtime_;
  const std::int32_t tid_offset_;
  Blocks blocks_;
  std::unordered_map<std::uint64_t, Pages> pages_;  // by state
  std::array<ChainFrame, kMaxChain> first_, second_;
  std::int64_t time_ns_ = 0;
  std::size_t count_ = 0;
  std::array<RawFrame, kMaxFrames> frames_;
  std::array<CodeWords, kMaxFrames> codes_;
};

}  // namespace traceinject
