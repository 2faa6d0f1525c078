#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lets libFuzzer make up inputs for what reads files and messages of others.
set -uo pipefail

usage() {
  cat <<'TEXT'
usage: run.sh [--build FOLDER] [--seconds N | --hours N] [TARGET...]

Builds the targets (preset fuzz) and runs each for N seconds, 20 by default, one after the other. Prints inputs tried, places of code
reached, and what was found: an input that crashes its reader, makes it take too long or too much memory, or makes it report nonsense ends
the target's turn and is kept in FOLDER/findings. What was learned is kept in FOLDER/corpus and built upon next time. Exit code 0 only if
nothing was found.

  --build FOLDER   of a build with TRACEINJECT_FUZZ that is there already, such as build/fuzz
  TARGET           by default all; build/fuzz/bin/fuzz, fuzz_guest and fuzz_viewer list them

Replay a finding with fuzz_replay TARGET FILE (or fuzz_replay_guest, fuzz_replay_viewer) of any other build, or here with FOLDER/bin/fuzz TARGET FILE
(or fuzz_guest, fuzz_viewer). With FUZZ_SHOW=1 in the environment targets that change a database say how.
TEXT
}

seconds=20 build="" targets=()
while (($# > 0)); do
  case $1 in
    --seconds) seconds=$2 && shift ;;
    --hours) seconds=$(($2 * 3600)) && shift ;;
    --build) build=$(realpath "$2") && shift ;;
    -h | --help) usage && exit 0 ;;
    -*) usage >&2 && exit 2 ;;
    *) targets+=("$1") ;;
  esac
  shift
done

# shellcheck source=samples/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../samples/setup.sh"
if [[ -z $build ]]; then
  build=$root/build/fuzz
  configure_and_build fuzz -- fuzz fuzz_guest fuzz_viewer || die "the targets were not built"
fi
declare -A program # of each target
for fuzz in "$build"/bin/fuzz{,_guest,_viewer}; do
  [[ -x $fuzz ]] || die "$fuzz is not there: build the preset fuzz, which run.sh without --build does"
  while read -r target; do
    program[$target]=$fuzz
  done < <("$fuzz")
done
((${#targets[@]} > 0)) || mapfile -t targets < <(printf '%s\n' "${!program[@]}" | sort)
[[ ! -d /dev/shm ]] || export TMPDIR=/dev/shm # files that are read once are not worth a disk
# What was freed need not be kept long: memory is limited.
export ASAN_OPTIONS=quarantine_size_mb=16:${ASAN_OPTIONS:-}
# Else libFuzzer does not learn that the program ends, and keeps no input.
export UBSAN_OPTIONS=abort_on_error=1:print_stacktrace=1:${UBSAN_OPTIONS:-}

# The last number after NAME in the log.
figure() { grep -ao "$1 *[0-9]*" "$log" | tail -n 1 | grep -o '[0-9]*$'; }

found=0
for target in "${targets[@]}"; do
  [[ -n ${program[$target]:-} ]] || die "there is no target $target"
  corpus=$build/corpus/$target findings=$build/findings/$target log=$build/findings/$target.log
  mkdir -p "$corpus" "$findings"
  # An input has a few seconds, an allocation 200 MB, and all of them together what a sanitizer takes beside.
  "${program[$target]}" "$target" -max_total_time="$seconds" -timeout=10 -malloc_limit_mb=200 -rss_limit_mb=800 -max_len=65536 -use_value_profile=0 \
    -print_final_stats=1 -artifact_prefix="$findings/" "$corpus" "$root/tests/fuzz/seeds/$target" &>"$log"
  rc=$?
  echo "$target: $(figure 'number_of_executed_units:') inputs, $(figure 'cov:') places reached, $(figure 'new_units_added:') inputs kept"
  if ((rc != 0)); then
    found=$((found + 1))
    echo "$target: FOUND $(grep -ao 'Test unit written to .*' "$log" | tail -n 1); see $log"
    grep -am 1 -A 5 -E '^wrong:|ERROR:|runtime error|what\(\)' "$log"
  fi
done
echo "${#targets[@]} targets, $found with findings"
exit $((found > 0))
