// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/open/writer_lock.h"

#include <fcntl.h>

#include "analyzer/import/source/temporary_file.h"
#include "machine/claim_byte.h"

namespace traceinject {

bool HasWriter(const std::string& path) {
  const FileDescriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = kClaimByte;
  lock.l_len = 1;
  return fd.valid() && fcntl(fd.get(), F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace traceinject
