// SPDX-License-Identifier: Apache-2.0
#include "machine/cupti_candidates.h"

namespace traceinject {
namespace {

std::string Folder(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

}  // namespace

std::vector<std::string> CuptiCandidates(const std::string& configured, const std::string& cudart) {
  std::vector<std::string> paths;
  if (!configured.empty()) paths.push_back(configured);
  const bool twelve = cudart.find("libcudart.so.12") != std::string::npos;
  const std::string names[] = {twelve ? "libcupti.so.12" : "libcupti.so.13",
                               twelve ? "libcupti.so.13" : "libcupti.so.12"};
  if (!cudart.empty()) {
    const std::string folder = Folder(cudart);
    for (const std::string& name : names) {
      paths.push_back(folder + "/" + name);
      paths.push_back(folder + "/../../cuda_cupti/lib/" + name);
      paths.push_back(folder + "/../extras/CUPTI/lib64/" + name);
    }
  }
  for (const std::string& name : names) paths.push_back(name);
  for (const std::string& name : names) {
    paths.push_back("/usr/local/cuda/lib64/" + name);
    paths.push_back("/usr/local/cuda/extras/CUPTI/lib64/" + name);
  }
  return paths;
}

}  // namespace traceinject
