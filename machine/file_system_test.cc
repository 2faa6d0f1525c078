// SPDX-License-Identifier: Apache-2.0
#include "machine/file_system.h"

#include <gtest/gtest.h>
#include <linux/magic.h>

#include <cstdint>
#include <initializer_list>

namespace traceinject {
namespace {

TEST(FileSystemTest, KnowsNetworkFileSystems) {
  for (const std::int64_t type : std::initializer_list<std::int64_t>{
           NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, SMB2_SUPER_MAGIC, CIFS_SUPER_MAGIC, CEPH_SUPER_MAGIC,
           FUSE_SUPER_MAGIC, V9FS_MAGIC, AFS_SUPER_MAGIC, AFS_FS_MAGIC, CODA_SUPER_MAGIC,
           NCP_SUPER_MAGIC, OCFS2_SUPER_MAGIC}) {
    EXPECT_TRUE(IsNetworkFileSystem(static_cast<std::uint32_t>(type))) << std::hex << type;
  }
}

TEST(FileSystemTest, KnowsLocalFileSystems) {
  for (const std::int64_t type :
       {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, TMPFS_MAGIC, OVERLAYFS_SUPER_MAGIC}) {
    EXPECT_FALSE(IsNetworkFileSystem(static_cast<std::uint32_t>(type))) << std::hex << type;
  }
  EXPECT_FALSE(IsNetworkFileSystem(0x9123683E));  // Btrfs
}

TEST(FileSystemTest, AsksTheKernelAndDoubtsWhatItCannotSee) {
  EXPECT_FALSE(OnNetworkFileSystem("/proc"));
  EXPECT_TRUE(OnNetworkFileSystem("/no such folder"));
}

}  // namespace
}  // namespace traceinject
