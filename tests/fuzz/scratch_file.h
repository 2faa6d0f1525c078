// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <string>
#include <string_view>

#include "machine/testing/temporary_folder.h"

namespace traceinject {

// A file of this name for each input, in a folder that ends with the program.
inline std::string PutFile(const std::string& name, std::string_view bytes) {
  static const TemporaryFolder folder;
  const std::string path = folder / name;
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

}  // namespace traceinject
