// SPDX-License-Identifier: Apache-2.0
// refuse_calls MODE ERROR PROGRAM ARGUMENTS...: runs a program that the kernel refuses calls, as a
// container or a sandbox does; they fail with the errno ERROR.
//
//   newer   refused are calls that kernels and the filters of containers did not know some years
//           ago. Left out is clone3, without which the C library itself makes no thread where it is
//           told EPERM.
//   strict  allowed is only what a program needs that computes, starts threads and reads files
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <vector>

namespace {

constexpr int kNewer[] = {SYS_statx,   SYS_renameat2,     SYS_copy_file_range, SYS_memfd_create,
                          SYS_openat2, SYS_pidfd_open,    SYS_close_range,     SYS_faccessat2,
                          SYS_preadv2, SYS_io_uring_setup};

// What the C library and the fake GPU ask for. Not: making or changing files and folders, locks
// apart from threads, names of threads.
constexpr int kNeeded[] = {
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_pread64,
    SYS_close,
    SYS_openat,
    SYS_lseek,
    SYS_newfstatat,
    SYS_fstat,
    SYS_readlinkat,
    SYS_faccessat,
    SYS_getdents64,
    SYS_getcwd,
    SYS_ioctl,
    SYS_dup,
    SYS_dup3,
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_madvise,
    SYS_brk,
    SYS_clone,
    SYS_clone3,
    SYS_execve,
    SYS_exit,
    SYS_exit_group,
    SYS_wait4,
    SYS_futex,
    SYS_rseq,
    SYS_set_tid_address,
    SYS_sched_yield,
    SYS_clock_gettime,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettid,
    SYS_getpid,
    SYS_getppid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_uname,
    SYS_sysinfo,
    SYS_getrandom,
    SYS_prlimit64,
    SYS_rt_sigaction,
    SYS_rt_sigreturn,
    SYS_rt_sigprocmask,
    SYS_sigaltstack,
    SYS_tgkill,
    SYS_kill,
    SYS_ppoll,
    SYS_set_robust_list,
    SYS_sched_getaffinity,
#ifdef __x86_64__
    SYS_open,
    SYS_stat,
    SYS_lstat,
    SYS_access,
    SYS_readlink,
    SYS_arch_prctl,
    SYS_pipe,
    SYS_poll,
#endif
};

sock_filter Statement(int code, unsigned value) {
  return BPF_STMT(static_cast<unsigned short>(code), value);
}

sock_filter SkipOneUnless(unsigned call) { return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1); }

std::vector<sock_filter> Filter(bool strict, int error) {
  const unsigned refuse = SECCOMP_RET_ERRNO | (static_cast<unsigned>(error) & SECCOMP_RET_DATA);
  std::vector<sock_filter> filter = {
      Statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  const auto add = [&](int call, unsigned answer) {
    filter.push_back(SkipOneUnless(static_cast<unsigned>(call)));
    filter.push_back(Statement(BPF_RET | BPF_K, answer));
  };
  if (strict) {
    for (int call : kNeeded) add(call, SECCOMP_RET_ALLOW);
  } else {
    for (int call : kNewer) add(call, refuse);
  }
  filter.push_back(Statement(BPF_RET | BPF_K, strict ? refuse : SECCOMP_RET_ALLOW));
  return filter;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return fprintf(stderr, "usage: refuse_calls newer|strict ERROR PROGRAM...\n"), 2;
  std::vector<sock_filter> filter = Filter(strcmp(argv[1], "strict") == 0, atoi(argv[2]));
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    perror("refuse_calls: this kernel takes no filter");
    return 77;
  }
  execv(argv[3], argv + 3);
  perror(argv[3]);
  return 2;
}
