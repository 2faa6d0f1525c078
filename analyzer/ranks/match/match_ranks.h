// SPDX-License-Identifier: Apache-2.0
// Operations that belong together across the ranks of a job, per communicator, and where ranks
// disagree on what they issued. How two sequences are aligned: align_operations.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

struct GroupMember {
  std::uint32_t summary = 0;  // index into Job::ranks
  std::uint32_t group = 0;    // index into RankSummary::groups
};

// The operations of one communicator; or of two ranks in it, their Sends and Recvs to each other:
// the k-th Send of a to b is the k-th Recv of b from a, and an exchange is both.
struct MatchedGroup {
  std::uint64_t hash = 0;
  int life = 0, size = 0;
  std::string name;
  bool pair = false;
  std::vector<GroupMember> members;  // those that were recorded, by rank in the communicator
  std::size_t operations = 0;        // that at least two of them recorded
  // Row of GroupOperations per operation and member, member by member of one operation; kNone: not
  // recorded. In order of issue.
  std::vector<std::uint32_t> rows;

  std::uint32_t row(std::size_t operation, std::size_t member) const {
    return rows[operation * members.size() + member];
  }
};

// A rank that did not issue what the others of a communicator agree on.
struct Mismatch {
  enum class Kind : std::uint8_t {
    kOtherOperation,  // it issued another one at the same time
    kOtherSize,       // of another size
    kLacks,           // none: it did not issue it, or the record was lost
    kEndsBefore,      // it went on being recorded, but issued no more
  };
  Kind kind = Kind::kLacks;
  int rank = -1;  // global
  std::uint64_t hash = 0;
  int life = 0;
  std::int64_t operations = 0;  // of this kind of mismatch. Of the first of them:
  std::string function;         // what the others issued
  std::int64_t bytes = -1;
  std::int64_t sequence = -1;  // NCCL's number; -1: not reported
  std::string sentence;
};

struct RankMatches {
  std::vector<MatchedGroup> groups;  // by (hash, life), the pairs of a communicator after it
  std::vector<Mismatch> mismatches;  // as groups
  std::vector<std::string> notes;    // what could not be matched, in sentences
};

// Communicators of one recorded rank, and those without a hash, have no group. O(operations) where
// sequences agree, beside what align_operations.h says of others.
RankMatches MatchRanks(const Job& job);

// What a matched operation is.
const OperationKind& KindOf(const Job& job, const MatchedGroup& group, std::size_t operation);
// Whether a function is between two ranks only: Send, Recv or both.
bool IsBetweenTwo(std::string_view function);

}  // namespace traceinject
