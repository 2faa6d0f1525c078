// SPDX-License-Identifier: Apache-2.0
#include "machine/file_system.h"

#include <sys/vfs.h>

#include <algorithm>
#include <iterator>

namespace traceinject {
namespace {

// From linux/magic.h and, where marked, from the file system's own client, since the kernel's
// headers do not list it.
constexpr std::uint32_t kNetworkTypes[] = {
    0x00006969,  // NFS
    0x0000517B,  // SMB
    0xFF534D42,  // CIFS
    0xFE534D42,  // SMB 2
    0x00C36400,  // CephFS
    0x65735546,  // FUSE
    0x01021997,  // 9p
    0x5346414F,  // OpenAFS
    0x6B414653,  // kernel AFS
    0x73757245,  // Coda
    0x0000564C,  // NCP
    0x7461636F,  // OCFS2
    0x01161970,  // GFS2 (its own header)
    0x0BD00BD0,  // Lustre (its client)
    0x47504653,  // GPFS, Storage Scale (its client)
    0x19830326,  // BeeGFS (its client)
    0xAAD7AAEA,  // PanFS (its client)
    0x786F4256,  // VirtualBox shared folder (vboxsf)
    0xBACBACBC,  // VMware shared folder (vmhgfs)
};

}  // namespace

bool IsNetworkFileSystem(std::uint32_t statfs_type) {
  return std::find(std::begin(kNetworkTypes), std::end(kNetworkTypes), statfs_type) !=
         std::end(kNetworkTypes);
}

bool OnNetworkFileSystem(const std::string& path) {
  struct statfs system;
  if (statfs(path.c_str(), &system) != 0) return true;
  return IsNetworkFileSystem(static_cast<std::uint32_t>(system.f_type));
}

}  // namespace traceinject
