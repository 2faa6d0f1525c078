// SPDX-License-Identifier: Apache-2.0
// A recording that is written in another folder than it is to end up in (TRACEINJECT_SPOOL): a fast
// local one, where the place that was asked for is slow or shared by many hosts. It goes to its
// place when it is complete. Until then, and for good if that fails, it stays where it is, and a
// note of one line beside its place says where: HOST:/PATH.
//
// No call throws, prints or blocks for longer than its file systems do.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace traceinject {

class Spool {
 public:
  // Paths are absolute; `start`: anything that tells this process from others of its pid.
  Spool(const std::string& folder, std::string target, const std::string& host, std::int64_t pid,
        std::int64_t start);

  // Where to write. No other recording has that name.
  const std::string& path() const { return path_; }
  const std::string& target() const { return target_; }
  const std::string& note() const { return note_; }

  // Makes the folder of the place, and leaves the note there, if it can.
  void Announce() const;

  // Moves the closed file to its place, by the rules of names (claim.h), and removes the note: by
  // renaming, or, to another file system, by a copy that is complete on disk before it gets the
  // name. Asked `may_go_on` now and then. True: `where` it is now. False: it is where it was, and
  // `why`.
  bool Deliver(const std::function<bool()>& may_go_on, std::string* where, std::string* why) const;

 private:
  std::string path_, target_, note_, line_;
};

}  // namespace traceinject
