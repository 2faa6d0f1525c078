// SPDX-License-Identifier: Apache-2.0
// What the readers of the tables of an Nsight Systems export share.
#pragma once

#include <cstdint>
#include <string_view>

#include "analyzer/import/foreign/foreign_reader.h"

namespace traceinject {

// Threads and processes carry one number: bits 0 to 23 are the thread, 24 to 47 the process, those
// above the machine it ran on.
constexpr std::uint64_t NsysProcessKey(std::int64_t global_id) {
  return static_cast<std::uint64_t>(global_id) >> 24;
}
constexpr std::int64_t NsysPid(std::uint64_t process_key) {
  return static_cast<std::int64_t>(process_key & 0xFFFFFF);
}
constexpr std::int64_t NsysTid(std::int64_t global_id) { return global_id & 0xFFFFFF; }

// ENUM_CUDA_MEM_KIND counts from pageable, CUpti_ActivityMemoryKind from unknown.
std::uint8_t NsysMemoryKind(const SqlRow& row, int column);

class NsysReader : public ForeignReader {
 public:
  using ForeignReader::ForeignReader;

  Status ReadStrings() { return ReadStringTable("StringIds", "value", strings_); }

  // By NsysProcessKey.
  ForeignProcess* Process(std::string_view table, std::uint64_t key) {
    return ForeignReader::Process(table, key, NsysPid(key));
  }
  // Of a globalPid or globalTid; null, and counted, where that is missing. Old versions do not
  // report whose an operation is, which matters only where there are several.
  ForeignProcess* ProcessOf(std::string_view table, const SqlRow& row, int column);
};

}  // namespace traceinject
