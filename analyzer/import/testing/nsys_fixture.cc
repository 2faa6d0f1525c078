// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/testing/nsys_fixture.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace traceinject {
namespace {

constexpr char kTables[] = R"sql(
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000, '', '');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL,
  deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER,
  streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, registersPerThread INTEGER,
  gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,
  staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, localMemoryPerThread INTEGER,
  graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL,
  eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL,
  returnValue INTEGER NOT NULL, callchainId INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER NOT NULL,
  rangeId INTEGER, category INTEGER, color INTEGER, text TEXT, globalTid INTEGER,
  endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
)sql";

void CheckNsys(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.error());
}

Database Open(const std::string& path) {
  auto database = Database::Open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr, path);
  if (!database.ok()) throw std::runtime_error(database.error());
  return std::move(database).value();
}

}  // namespace

NsysFixture::NsysFixture(const std::string& path) : database_(Open(path)) {
  Execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF");
  Execute(kTables);
}

void NsysFixture::Execute(const std::string& sql) { CheckNsys(database_.Execute(sql)); }

std::int64_t NsysFixture::AddString(const std::string& text) {
  auto insert = database_.Prepare("INSERT INTO StringIds (value) VALUES (?)");
  if (!insert.ok()) throw std::runtime_error(insert.error());
  insert.value().Bind(1, text);
  if (!insert.value().Step().ok()) throw std::runtime_error("a text was not stored");
  return sqlite3_last_insert_rowid(database_.handle());
}

void NsysFixture::AddApi(std::int64_t start_ns, std::int64_t end_ns, const std::string& name,
                         std::int64_t correlation, std::int64_t pid, std::int64_t tid) {
  Execute(
      fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ({}, {}, 0, {}, {}, {}, 0, NULL)",
                  start_ns, end_ns, GlobalId(pid, tid), correlation, AddString(name)));
}

void NsysFixture::AddKernel(std::int64_t start_ns, std::int64_t end_ns, const std::string& name,
                            std::int64_t correlation, std::int64_t pid) {
  const std::int64_t id = AddString(name);
  Execute(
      fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({}, {}, 0, 1, NULL, 7, {}, {}, "
                  "{}, {}, 32, 1, 2, 3, 128, 1, 1, 0, 1024, 0, NULL)",
                  start_ns, end_ns, correlation, GlobalId(pid), id, id));
}

void NsysFixture::AddRange(std::int64_t start_ns, std::int64_t end_ns, const std::string& text,
                           std::int64_t pid, std::int64_t tid) {
  Execute(
      fmt::format("INSERT INTO NVTX_EVENTS (start, end, eventType, textId, globalTid, domainId) "
                  "VALUES ({}, {}, 59, {}, {}, 0)",
                  start_ns, end_ns, AddString(text), GlobalId(pid, tid)));
}

}  // namespace traceinject
