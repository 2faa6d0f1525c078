// SPDX-License-Identifier: Apache-2.0
// The folder that `analyze try` has its runs write to.
#pragma once

#include <filesystem>
#include <string>

namespace traceinject {

// Made when it is needed; what is in it goes when it does, unless it is kept.
class Scratch {
 public:
  Scratch(const std::string& folder, bool keep);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  bool made() const { return made_; }
  const std::string& why_not() const { return why_; }
  std::string path() const { return path_.string(); }
  std::string tries_file() const;
  // Removes what one run left.
  void Clear() const;

 private:
  const bool keep_;
  bool made_ = false, made_folder_ = false;
  std::filesystem::path folder_, path_;
  std::string why_;
};

}  // namespace traceinject
