#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How much of each reader the fuzz targets' inputs run through.
set -uo pipefail

usage() {
  cat <<'TEXT'
usage: coverage.sh [CORPUS]

Builds the programs that replay inputs so that they count lines (in build/coverage; the first time that takes minutes), replays the seeds
and what is in CORPUS, build/fuzz/corpus by default, where run.sh keeps what it found, and prints for each reader how many of its lines
these ran through. Exit code 1 if it is less than 80 % of one.
TEXT
}

case ${1:-} in
  -h | --help) usage && exit 0 ;;
  -*) usage >&2 && exit 2 ;;
esac

# shellcheck source=samples/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../samples/setup.sh"
cd "$root" || exit 1
corpus=${1:-build/fuzz/corpus} build=build/coverage replays=(fuzz_replay fuzz_replay_guest fuzz_replay_viewer)
install_packages gcovr || die "gcovr is needed"
cmake --preset debug -B "$build" -DTRACEINJECT_TESTS=ON -DCMAKE_CXX_FLAGS="--coverage -Og" >/dev/null || die "cmake failed"
cmake --build "$build" --target "${replays[@]}" || die "the programs were not built"

find "$build" -name '*.gcda' -delete
for replay in "${replays[@]}"; do
  "$build/bin/$replay" tests/fuzz/seeds 2>/dev/null || die "$replay: a seed is a finding; see $build/bin/$replay tests/fuzz/seeds"
  while read -r target; do
    [[ -d $corpus/$target ]] || continue
    find "$corpus/$target" -type f -print0 | xargs -0 -r "$build/bin/$replay" "$target" 2>/dev/null ||
      die "an input of $corpus/$target is a finding; see $build/bin/$replay $target FILE"
  done < <("$build/bin/$replay" 2>&1 | awk 'NR > 1 { print $1 }')
done

gcovr --root . --object-directory "$build" --gcov-ignore-parse-errors --json-summary-pretty "$build" >"$build/lines.json" || die "gcovr failed"
python3 tests/fuzz/coverage.py "$build/lines.json"
