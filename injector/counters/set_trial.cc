// SPDX-License-Identifier: Apache-2.0
#include "injector/counters/set_trial.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>

#include "injector/base/own_child.h"
#include "injector/counters/counter_sets.h"
#include "injector/counters/trial_arguments.h"

// clone(2) under the C library's own name for it. ThreadSanitizer's runtime takes a program's call
// of clone() for a fork and forgets all other threads: GCC 12's tells races that are none, LLVM
// 16's ends the program.
extern "C" int __clone(int (*run)(void*), void* stack, int flags, void* data, ...);

namespace traceinject {
namespace {

// Starting CUDA takes a second or two on a large host.
constexpr int kLongestMs = 20'000;
constexpr std::size_t kStackBytes = 256 << 10;

std::string OwnPath() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&OwnPath), &info) == 0 || info.dli_fname == nullptr)
    return {};
  return info.dli_fname;
}

// The dynamic loader among what is loaded: "/lib64/ld-linux-x86-64.so.2".
std::string LoaderPath() {
  std::string path;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* found) {
        const std::string_view name = object->dlpi_name == nullptr ? "" : object->dlpi_name;
        if (name.find("/ld-linux") == std::string_view::npos) return 0;
        *static_cast<std::string*>(found) = name;
        return 1;
      },
      &path);
  return path;
}

bool StartsWithAny(std::string_view text, std::initializer_list<std::string_view> heads) {
  return std::any_of(heads.begin(), heads.end(),
                     [&](std::string_view head) { return text.starts_with(head); });
}

// Without what would bring us, or another tool, into the trial.
std::vector<std::string> TrialEnvironment(const char* const* environment,
                                          const std::string& device) {
  std::vector<std::string> entries;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    if (!StartsWithAny(entry, {"LD_PRELOAD=", "LD_AUDIT=", "CUDA_INJECTION", "NVTX_INJECTION",
                               "CUDA_VISIBLE_DEVICES=", "TRACEINJECT"}))
      entries.emplace_back(entry);
  }
  entries.emplace_back("TRACEINJECT=0");
  entries.push_back("CUDA_VISIBLE_DEVICES=" + device);
  return entries;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// What the process in between needs; all of it is there before, since it must not allocate.
struct Spawn {
  const char* program;
  char* const* arguments;
  char* const* environment;
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  int ended = -1;  // as waitpid() told; -1: nothing was started
};

// Its end must not run what the program, or we, do at an exit.
[[noreturn]] void EndAtOnce() {
  for (;;) syscall(SYS_exit_group, 0);
}

// Between us and the trial. It has our memory, and the thread that made it stands still: nothing
// here takes a lock of the program's, or allocates.
int StandBetween(void* data) {
  auto* spawn = static_cast<Spawn*>(data);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  g_own_child.store(static_cast<pid_t>(syscall(SYS_getpid)), std::memory_order_relaxed);
  // Of this process alone: where the program ignores it, no child could be waited for.
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &plain, nullptr);
  pid_t child = 0;
  if (posix_spawn(&child, spawn->program, &spawn->files, &spawn->attributes, spawn->arguments,
                  spawn->environment) == 0) {
    constexpr long kLookMs = 5;
    const timespec look{0, kLookMs * 1'000'000};
    int ended = 0;
    for (int waited = 0; waitpid(child, &ended, WNOHANG) == 0; waited += kLookMs) {
      if (waited >= kLongestMs) kill(child, SIGKILL);
      nanosleep(&look, nullptr);
    }
    spawn->ended = ended;
  }
  EndAtOnce();
}

// False: it could not be made.
bool RunBetween(Spawn* spawn) {
  void* stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return false;
  g_own_child.store(kOwnChildToCome, std::memory_order_release);
  // No signal at its end.
  const pid_t between =
      __clone(StandBetween, static_cast<char*>(stack) + kStackBytes, CLONE_VM | CLONE_VFORK, spawn);
  if (between > 0) waitpid(between, nullptr, __WCLONE);
  g_own_child.store(kNoOwnChild, std::memory_order_release);
  munmap(stack, kStackBytes);
  return between > 0;
}

// A pipe that holds what the trial says, which is little: it is read when the trial is over.
class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_, O_CLOEXEC | O_NONBLOCK) != 0) ends_[0] = ends_[1] = -1;
  }
  ~Pipe() {
    CloseEnd(1);
    CloseEnd(0);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  bool ok() const { return ends_[0] >= 0; }
  int writer() const { return ends_[1]; }
  std::string ReadAll() {
    char text[512];
    const ssize_t bytes = read(ends_[0], text, sizeof text);
    return bytes > 0 ? std::string(text, static_cast<std::size_t>(bytes)) : std::string();
  }

 private:
  void CloseEnd(int end) {
    if (ends_[end] >= 0) close(ends_[end]);
  }
  int ends_[2];
};

bool Prepare(Spawn* spawn, int output) {
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  return posix_spawn_file_actions_addopen(&spawn->files, 0, "/dev/null", O_RDONLY, 0) == 0 &&
         posix_spawn_file_actions_adddup2(&spawn->files, output, 1) == 0 &&
         posix_spawn_file_actions_addopen(&spawn->files, 2, "/dev/null", O_WRONLY, 0) == 0 &&
         posix_spawnattr_setsigmask(&spawn->attributes, &none) == 0 &&
         posix_spawnattr_setsigdefault(&spawn->attributes, &all) == 0 &&
         posix_spawnattr_setflags(&spawn->attributes,
                                  POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) == 0;
}

TrialResult Untried(std::string why) { return {TrialResult::Outcome::kUntried, std::move(why), 0}; }

}  // namespace

TrialResult TrySet(const TrialOf& trial, const char* const* environment) {
  const std::string loader = LoaderPath(), library = OwnPath();
  if (loader.empty() || library.empty()) return Untried("the dynamic loader was not found");
  std::vector<std::string> arguments = {loader, library};
  std::vector<std::string> more = ToArguments(trial);
  std::move(more.begin(), more.end(), std::back_inserter(arguments));
  std::vector<std::string> entries = TrialEnvironment(environment, trial.device);
  const std::vector<char*> argv = Pointers(arguments), envp = Pointers(entries);
  Pipe pipe;
  if (!pipe.ok()) return Untried("no pipe");
  Spawn spawn{loader.c_str(), argv.data(), envp.data(), {}, {}};
  if (posix_spawn_file_actions_init(&spawn.files) != 0) return Untried("out of memory");
  if (posix_spawnattr_init(&spawn.attributes) != 0) {
    posix_spawn_file_actions_destroy(&spawn.files);
    return Untried("out of memory");
  }
  const bool ran = Prepare(&spawn, pipe.writer()) && RunBetween(&spawn);
  posix_spawnattr_destroy(&spawn.attributes);
  posix_spawn_file_actions_destroy(&spawn.files);
  if (!ran || spawn.ended == -1) return Untried("no process could be started");
  return ReadTrial(pipe.ReadAll(), spawn.ended);
}

TrialResult ReadTrial(const std::string& line, int ended) {
  using Outcome = TrialResult::Outcome;
  if (line == "passed\n") return {Outcome::kPassed, {}, 0};
  constexpr std::string_view kFailed = "failed ", kNoTrial = "untried ";
  if (line.starts_with(kNoTrial))
    return Untried(line.substr(kNoTrial.size(), line.size() - kNoTrial.size() - 1));
  const std::size_t space = line.rfind(' ');
  if (line.starts_with(kFailed) && line.ends_with('\n') && space >= kFailed.size()) {
    int result = 0;
    const auto [end, error] =
        std::from_chars(line.data() + space + 1, line.data() + line.size() - 1, result);
    if (error == std::errc() && end == line.data() + line.size() - 1)
      return {Outcome::kRefused, line.substr(kFailed.size(), space - kFailed.size()), result};
  }
  // The loader could not even start the library.
  if (line.empty() && WIFEXITED(ended) && WEXITSTATUS(ended) == 127)
    return Untried("the library could not be run");
  if (!WIFSIGNALED(ended)) return {Outcome::kCrashed, "it ended without a word", 0};
  const int signal = WTERMSIG(ended);
  return {Outcome::kCrashed,
          signal == SIGKILL || signal == SIGALRM ? "it hung" : "signal " + std::to_string(signal),
          0};
}

}  // namespace traceinject
