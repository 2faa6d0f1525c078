// SPDX-License-Identifier: Apache-2.0
// Descriptors in somebody else's process. Programs close descriptors they know nothing about
// (Python's os.closerange, daemons) and then get our numbers for files of their own: whoever goes
// on writing to "his" descriptor corrupts a training checkpoint.
//
// So every descriptor of ours is remembered with the file (device, inode, time of birth) it was
// opened for, and before each use statx tells whether it still is that file. If not, the call fails
// with EBADF, and closing is a no-op that reports success: a SQLite connection that lost its
// descriptors can be closed properly without touching the program's files. A descriptor taken
// between check and use cannot be noticed: the kernel has no such call.
//
// Writing and truncating beyond RLIMIT_FSIZE fails with EFBIG instead of raising SIGXFSZ.
//
// Used by the private SQLite through xSetSystemCall (https://sqlite.org/c3ref/vfs.html), and by
// claim.h. fsync cannot be replaced there; on a foreign descriptor it changes nothing. All
// functions are thread-safe, O(open descriptors), never throw.
#pragma once

#include <sys/types.h>

#include "machine/claim_byte.h"

namespace traceinject {

// Puts the guarded calls into SQLite's "unix" file system, once; later calls only repeat the
// answer. Must run before the first database is opened: descriptors from before are not known and
// would be refused. False if SQLite refuses.
bool InstallGuardedIo() noexcept;

// As open(2), close-on-exec, and never one of 0, 1, 2: a program that started without these must
// find them free. -1 with errno EMFILE also when the table of descriptors is full.
int GuardedOpen(const char* path, int flags, mode_t mode) noexcept;

// True while `fd` came from GuardedOpen, was not closed with GuardedClose, and still is the same
// file.
bool GuardedIsOurs(int fd) noexcept;

// The file behind `fd` was or will be removed on purpose, and losing it is its reader's affair:
// DescriptorsLost() does not look at it any more.
void GuardedExpectRemoved(int fd) noexcept;

// As close(2) if the descriptor is still ours, else it is only forgotten. Always 0 for a descriptor
// that is not ours.
int GuardedClose(int fd) noexcept;

// True if a descriptor that SQLite or a claim believes to hold is closed or somebody else's now, or
// is of a file that was removed: when our locks were dropped (see claim.h), another process that
// closes the database takes itself for the last user and deletes the -wal and -shm.
bool DescriptorsLost() noexcept;

}  // namespace traceinject
