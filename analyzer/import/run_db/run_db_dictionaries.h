// SPDX-License-Identifier: Apache-2.0
// Everything in a run.db that events refer to: processes, devices, strings, threads, streams, ...
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/import/source/id_map.h"
#include "analyzer/import/source/run_db_rows.h"

namespace traceinject {

// Where a row of a dictionary table went: which rank, and the index there.
struct Place {
  std::uint32_t rank = kNone, index = kNone;
  std::uint32_t device = kNone;  // streams only: index into Rank::devices
};

class PlaceMap {
 public:
  void Add(std::int64_t id, Place place) {
    ids_.Add(id, static_cast<std::uint32_t>(places_.size()));
    places_.push_back(place);
  }
  // Null: there is no such row.
  const Place* Find(std::int64_t id) const {
    const std::uint32_t at = ids_.Find(id);
    return at == kNone ? nullptr : &places_[at];
  }

 private:
  IdMap ids_;
  std::vector<Place> places_;
};

// How events find what their rows refer to.
class RunDbDictionaries {
 public:
  // Reads the tables into `file`, or, where they serve all its processes, into members.
  Status Read(RunDbRows& rows, RecordedFile& file);

  // The index of a string that a column refers to; kNone: it is NULL, or there is no such row.
  std::uint32_t StringOf(const SqlRow& row, int column) const {
    return row.is_null(column) ? kNone : string_ids.Find(row.int64(column));
  }

  // Without a process column: they serve all processes of the file.
  std::vector<std::string> strings;
  std::vector<KernelShape> shapes;
  std::vector<ApiName> api_names;
  std::vector<GraphNode> graph_nodes;
  std::vector<GemmShape> gemm_shapes;
  std::vector<AttentionShape> attention_shapes;
  std::vector<CodePlace> places;
  std::vector<CodeStack> stacks;

  // PRAGMA user_version: tables that came with a later version are not looked for.
  int schema_version = 0;
  // Whether all tables tell of which process their rows are.
  bool tells_processes_apart() const { return schema_version >= 5; }

  IdMap processes, string_ids, shape_ids, api_name_ids, graph_node_ids, gemm_shape_ids;
  IdMap attention_shape_ids, place_ids, stack_ids;
  PlaceMap threads, streams, domains, communicators, loaders, workers, nccl_setups;

 private:
  class Reader;
};

}  // namespace traceinject
