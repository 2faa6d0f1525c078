// SPDX-License-Identifier: Apache-2.0
// Whether a folder lies on a file system where SQLite's write-ahead log is not safe: its index is
// shared memory, which hosts of a network file system do not share (https://sqlite.org/wal.html,
// "Overview").
#pragma once

#include <cstdint>
#include <string>

namespace traceinject {

// By the type number of statfs(2): NFS, SMB, Lustre, GPFS, BeeGFS, CephFS, AFS, PanFS, OCFS2, GFS2,
// 9p, FUSE (sshfs, object stores, virtiofs) and shared folders of virtual machines.
bool IsNetworkFileSystem(std::uint32_t statfs_type);

// Of the file or folder `path`; true if the kernel does not report, which costs speed but never
// data.
bool OnNetworkFileSystem(const std::string& path);

}  // namespace traceinject
