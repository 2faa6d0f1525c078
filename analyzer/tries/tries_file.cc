// SPDX-License-Identifier: Apache-2.0
#include "analyzer/tries/tries_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "analyzer/common/median.h"
#include "analyzer/common/sqlite.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

constexpr char kSchema[] =
    "PRAGMA user_version = 1;"
    "CREATE TABLE IF NOT EXISTS tried("
    " unix_s INTEGER NOT NULL,"  // when it was measured
    " command TEXT NOT NULL,"
    " tried TEXT NOT NULL,"    // as in TRACEINJECT_TRY
    " label TEXT NOT NULL,"    // that it is about; empty: asked for by the user
    " outcome TEXT NOT NULL,"  // as TriedFix.outcome
    " runs INTEGER NOT NULL,"  // of the lever that were measured
    " step_ns INTEGER,"        // as it is
    " predicted_ns INTEGER, predicted_low_ns INTEGER, predicted_high_ns INTEGER,"
    " measured_ns INTEGER, measured_low_ns INTEGER, measured_high_ns INTEGER)";

void BindIf(Statement& row, int parameter, bool is_known, std::int64_t value) {
  if (is_known)
    row.Bind(parameter, value);
  else
    row.BindNull(parameter);
}

Status Append(const Database& file, const proto::Tries& tries, std::int64_t unix_s) {
  auto row = file.Prepare("INSERT INTO tried VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  if (!row.ok()) return Error{row.error()};
  const std::string command = fmt::format("{}", fmt::join(tries.command(), " "));
  for (const proto::TriedFix& fix : tries.fixes()) {
    Statement& to = row.value();
    to.Bind(1, unix_s);
    to.Bind(2, command);
    to.Bind(3, fix.tried());
    to.Bind(4, fix.label());
    to.Bind(5, fix.outcome());
    to.Bind(6, std::int64_t{fix.run().runs()});
    BindIf(to, 7, tries.as_is().has_step_ns(), tries.as_is().step_ns());
    BindIf(to, 8, fix.has_predicted_ns(), fix.predicted_ns());
    BindIf(to, 9, fix.has_predicted_low_ns(), fix.predicted_low_ns());
    BindIf(to, 10, fix.has_predicted_high_ns(), fix.predicted_high_ns());
    BindIf(to, 11, fix.has_saved_ns(), fix.saved_ns());
    BindIf(to, 12, fix.has_saved_low_ns(), fix.saved_low_ns());
    BindIf(to, 13, fix.has_saved_high_ns(), fix.saved_high_ns());
    const auto stepped = to.Step();
    if (!stepped.ok()) return Error{stepped.error()};
    to.Reset();
  }
  return Done{};
}

Status ReadFile(const std::string& path, std::vector<ScoredTry>& to) {
  const auto file = Database::Open(path, SQLITE_OPEN_READONLY, nullptr, path);
  if (!file.ok()) return Error{file.error()};
  auto rows = file.value().Prepare(
      "SELECT command, tried, label, step_ns, predicted_ns, predicted_low_ns, predicted_high_ns, "
      "measured_ns, measured_low_ns, measured_high_ns FROM tried WHERE outcome = 'measured' AND "
      "predicted_ns IS NOT NULL AND measured_ns IS NOT NULL AND step_ns > 0 ORDER BY rowid");
  if (!rows.ok())
    return Error{fmt::format("{}: not a file that analyze try wrote ({})", path, rows.error())};
  for (;;) {
    const auto is_there = rows.value().Step();
    if (!is_there.ok()) return Error{is_there.error()};
    if (!is_there.value()) return Done{};
    const Statement& row = rows.value();
    ScoredTry one;
    one.file = path;
    one.command = row.text(0);
    one.tried = row.text(1);
    one.label = row.text(2);
    one.step_ns = row.int64(3);
    one.predicted_ns = row.int64(4);
    one.predicted_low_ns = row.optional_int64(5);
    one.predicted_high_ns = row.optional_int64(6);
    one.measured_ns = row.int64(7);
    one.measured_low_ns = row.optional_int64(8);
    one.measured_high_ns = row.optional_int64(9);
    to.push_back(std::move(one));
  }
}

std::vector<std::string> FilesIn(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::string> files;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator entry(path, options, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename() == kTriesFile) files.push_back(entry->path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

double ScoredTry::error() const {
  return std::abs(static_cast<double>(predicted_ns - measured_ns)) / static_cast<double>(step_ns);
}

bool ScoredTry::agrees() const {
  const std::int64_t low = predicted_low_ns.value_or(predicted_ns),
                     high = predicted_high_ns.value_or(predicted_ns);
  return measured_high_ns.value_or(measured_ns) >= low &&
         measured_low_ns.value_or(measured_ns) <= high;
}

bool ScoredTry::holds() const {
  return predicted_low_ns && predicted_high_ns && measured_ns >= *predicted_low_ns &&
         measured_ns <= *predicted_high_ns;
}

Status AppendTries(const std::string& path, const proto::Tries& tries, std::int64_t unix_s) {
  const auto file = Database::Open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr, path);
  if (!file.ok()) return Error{file.error()};
  if (Status made = file.value().Execute(kSchema); !made.ok()) return made;
  if (Status begun = file.value().Execute("BEGIN IMMEDIATE"); !begun.ok()) return begun;
  if (Status appended = Append(file.value(), tries, unix_s); !appended.ok()) return appended;
  return file.value().Execute("COMMIT");
}

Result<std::vector<ScoredTry>> ReadTries(const std::string& path) {
  std::vector<ScoredTry> tries;
  for (const std::string& file : FilesIn(path)) {
    if (Status read = ReadFile(file, tries); !read.ok()) return Error{read.error()};
  }
  return tries;
}

double MiddleError(const std::vector<ScoredTry>& tries) {
  std::vector<double> errors;
  for (const ScoredTry& one : tries) errors.push_back(one.error());
  return errors.empty() ? 0 : Median(errors);
}

}  // namespace traceinject
