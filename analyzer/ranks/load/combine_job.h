// SPDX-License-Identifier: Apache-2.0
// From the summaries of single files to one attempt of one job.
#pragma once

#include <string>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

struct SummarizedFile {
  std::string path;
  Result<Job> job;  // what is in it; an error: it could not be read
};

// Puts all on the smallest base. Left out, with a note, are files that cannot be read, other
// attempts than the newest one (where files do not report theirs, those that ended over a minute
// before another one began), other world sizes than most ranks have, processes without a rank where
// others have one, and of several recordings of one rank all but one: the later one if they did not
// run at the same time, else that with more communication. A summary that is there twice counts
// once, as does one that was merged and is there as it was recorded, too. Job::notes also names the
// ranks that are missing. The result does not depend on the order of `files`. Error: none could be
// read. `notes`: to begin with.
Result<Job> CombineJob(std::vector<SummarizedFile> files, std::vector<std::string> notes);

}  // namespace traceinject
