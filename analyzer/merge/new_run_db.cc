// SPDX-License-Identifier: Apache-2.0
#include "analyzer/merge/new_run_db.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "analyzer/import/open/run_paths.h"
#include "schemas/run_db_sql.h"
#include "schemas/views_sql.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

bool IsThere(const std::string& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

}  // namespace

Status ExpectFree(const std::string& output, bool replace, const std::vector<std::string>& inputs) {
  std::error_code error;
  if (fs::is_directory(output, error))
    return Error{fmt::format("{}: this is a folder; name the file to write", output)};
  const auto named = ResolveRunPaths(inputs);
  for (const std::string& path : named.ok() ? named.value().files : std::vector<std::string>()) {
    if (fs::equivalent(path, output, error))
      return Error{fmt::format("{}: this is one of the input files; name another file", output)};
  }
  for (const char* suffix : {"-wal", "-journal"}) {
    if (IsThere(output + suffix))
      return Error{fmt::format(
          "{}: there is a {}{} next to it from another recording of that name; name another file",
          output, output, suffix)};
  }
  if (!replace && IsThere(output))
    return Error{fmt::format(
        "{}: the file already exists; name another one, or overwrite it with --force", output)};
  return Done{};
}

Result<NewRunDb> NewRunDb::Create(const std::string& path) {
  return CreateIn(TemporaryFile::CreateBeside(path), path);
}

Result<NewRunDb> NewRunDb::CreateTemporary() {
  auto file = TemporaryFile::Create();
  const std::string name = file.ok() ? file.value().path() : "";
  return CreateIn(std::move(file), name);
}

Result<NewRunDb> NewRunDb::CreateIn(Result<TemporaryFile> file, const std::string& name) {
  auto made =
      NewDatabase::In(std::move(file), name, std::string(k_run_db_sql) + std::string(k_views_sql));
  if (!made.ok()) return Error{made.error()};
  return NewRunDb(std::move(made).value());
}

Status NewRunDb::WriteMeta(std::int64_t base_ns, std::string_view tool_version,
                           std::string_view run_id) {
  auto insert = database().Prepare(
      "INSERT INTO meta VALUES('base_ns', ?), ('tool_version', ?), ('run_id', ?), ('closed', 1)");
  if (!insert.ok()) return Error{insert.error()};
  insert.value().Bind(1, base_ns);
  insert.value().Bind(2, tool_version);
  insert.value().Bind(3, run_id);
  const auto inserted = insert.value().Step();
  return inserted.ok() ? Status(Done{}) : Error{inserted.error()};
}

}  // namespace traceinject
