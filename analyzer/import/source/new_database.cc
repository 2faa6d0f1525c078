// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/source/new_database.h"

namespace traceinject {
namespace {

// Nobody else knows the file, and nothing is left of it unless it is finished: no journal, and the
// disk need not keep up.
constexpr char kSetup[] =
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
    "PRAGMA page_size = 4096; PRAGMA cache_size = -65536;";

}  // namespace

Result<NewDatabase> NewDatabase::In(Result<TemporaryFile> file, const std::string& name,
                                    std::string_view schema) {
  if (!file.ok()) return Error{file.error()};
  auto database = Database::Open(file.value().path(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                                 nullptr, name);
  if (!database.ok()) return Error{database.error()};
  const Status made =
      database.value().Execute(std::string(kSetup) + "BEGIN;" + std::string(schema));
  if (!made.ok()) return Error{made.error()};
  return NewDatabase(std::move(file).value(), std::move(database).value());
}

Status NewDatabase::Commit() {
  const Status committed = database().Execute("COMMIT");
  if (committed.ok()) database_.reset();
  return committed;
}

}  // namespace traceinject
