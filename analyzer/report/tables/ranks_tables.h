// SPDX-License-Identifier: Apache-2.0
// The tables of what ranks tell of each other.
#pragma once

#include <string>
#include <vector>

#include "analyzer/report/tables/table.h"
#include "schemas/ranks.pb.h"

namespace traceinject {

// "rank 3"; "rank 3 GPU 1" where it has several; its file's name without a rank.
std::string RankLabel(const proto::Ranks& ranks, int row);

// What is said where nothing was found between ranks: that all is well only where it was compared.
std::string NoRankFindingText(const proto::Ranks& ranks);

// Every GPU of every rank.
Table RankTable(const proto::Ranks& ranks);

// What the links between ranks carry.
Table LinkTable(const proto::Ranks& ranks);

// Operations matched across ranks: those that the message holds.
std::vector<TableColumn> CollectiveColumns();
Table CollectiveTable(const proto::Ranks& ranks);

}  // namespace traceinject
