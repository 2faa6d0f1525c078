#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds in Release with tests and runs all of them. The last line is "N passed, N failed", with ", N skipped" where tests were skipped.
set -uo pipefail

usage() {
  cat <<'TEXT'
usage: run.sh [--no-install] [--sanitizers] [--aarch64]

Installs the distribution's packages that build and tests need (with sudo when not root), builds in Release, and runs the unit and
end-to-end tests, the checks of scripts, and the formatting check. Exit code 0 only if nothing failed.

  --no-install   leave packages alone
  --sanitizers   also build and test with AddressSanitizer and UndefinedBehaviorSanitizer, and with ThreadSanitizer
  --aarch64      for 64-bit Arm also cross-compile analyze and all of its unit tests, run these under the emulator, which takes
                 half an hour, and compare the reports; without it, only the library is, and what reads recordings
TEXT
}

install=yes presets=(release)
# Unit tests for 64-bit Arm; of analyze's those of what depends on the processor: bytes of files and columns.
arm_tests=(machine_test store_test injector_test traceinject_common_test traceinject_model_test traceinject_import_test) arm_programs=()
for argument in "$@"; do
  case $argument in
    --no-install) install=no ;;
    --sanitizers) presets+=(asan tsan) ;;
    --aarch64)
      arm_programs+=(analyze)
      arm_tests+=(traceinject_{compare,export,metrics,ranks,report,trend,verdict}_test)
      ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
  esac
done

# shellcheck source=samples/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/../samples/setup.sh"
cd "$root" || exit 1
passed=0 failed=0 skipped=0

# Whatever ends this script, its last line tells the count; an early end is a failure.
finished=no
finish() {
  [[ $finished == yes ]] || failed=$((failed + 1))
  local line="$passed passed, $failed failed"
  ((skipped == 0)) || line+=", $skipped skipped"
  echo "$line"
  exit $((failed > 0))
}
trap finish EXIT

# check NAME COMMAND...: one test.
check() {
  local name=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
    say "$name: passed"
  else
    failed=$((failed + 1))
    say "$name: FAILED"
  fi
}

skip() {
  skipped=$((skipped + 1))
  say "$1: skipped, $2"
}

# "passed failed skipped" of a JUnit file as ctest writes it; fails if there is none or no test ran.
count_junit() {
  python3 - "$1" <<'PY'
import sys
import xml.etree.ElementTree as tree

cases = list(tree.parse(sys.argv[1]).getroot().iter("testcase"))
skipped = sum(case.find("skipped") is not None or case.get("status") in ("notrun", "disabled") for case in cases)
failed = sum(case.find("failure") is not None or case.get("status") == "fail" for case in cases)
print(len(cases) - failed - skipped, failed, skipped)
sys.exit(len(cases) == 0)
PY
}

# Tests labeled by_the_clock that failed, once more and alone; fails if others failed, too, or if one fails again. What then passes is
# named: a test that shows up here time and again wants mending.
repeat_by_the_clock() {
  local preset=$1 junit=$2 failed_tests by_the_clock again=${2%.xml}_again.xml
  failed_tests=$(python3 -c 'import sys, xml.etree.ElementTree as tree
print(*sorted(case.get("name") for case in tree.parse(sys.argv[1]).getroot().iter("testcase") if case.find("failure") is not None))' "$junit")
  by_the_clock=$(ctest --preset "$preset" -N -L by_the_clock | sed -n 's/^ *Test *#[0-9]*: //p')
  local name
  for name in $failed_tests; do
    grep -qxF "$name" <<<"$by_the_clock" || return 1
  done
  [[ -n $failed_tests ]] || return 1
  say "repeating alone: $failed_tests"
  ctest --preset "$preset" -R "^(${failed_tests// /|})\$" --output-junit "$again" || return 1
  say "passed only when repeated alone: $failed_tests"
}

run_preset() {
  local preset=$1 junit=$root/build/$1/ctest.xml counts rc
  if ! configure_and_build "$preset" -DTRACEINJECT_TESTS=ON; then
    failed=$((failed + 1))
    say "build of preset $preset: FAILED"
    return
  fi
  rm -f "$junit"
  say "testing preset $preset"
  # Three tests for two processors: many wait most of the time.
  ctest --preset "$preset" -j "$(($(nproc) * 3 / 2))" --output-junit "$junit"
  rc=$?
  if counts=$(count_junit "$junit"); then
    local p f s
    read -r p f s <<<"$counts"
    if ((f > 0)) && repeat_by_the_clock "$preset" "$junit"; then
      p=$((p + f)) f=0 rc=0
    fi
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    # ctest knows failures that its file words differently, such as a test program that could not be listed.
    ((rc == 0 || f > 0)) || failed=$((failed + 1))
  else
    failed=$((failed + 1))
    say "ctest of preset $preset ran no test: FAILED"
  fi
  if grep -q 'TRACEINJECT_CUPTI_INCLUDE:PATH=.*NOTFOUND' "build/$preset/CMakeCache.txt"; then
    skip "tests of libtraceinject.so ($preset)" "the CUDA headers are not on this machine; install the CUDA toolkit or set CUDA_HOME"
  fi
}

# The programs for older glibcs, held against that, and the wheel of them, in each Python that is here. Nearly all that is compiled
# for them was compiled before, and is in the compiler's cache.
portable_wheel() {
  configure_and_build portable -- portable wheel || return
  TRACEINJECT_WHEEL=$(echo build/portable/wheel/*manylinux*.whl) python3 -B tests/end_to_end/wheel_test.py
}

# What is built for 64-bit Arm, under an emulator: unit tests, recordings on the fake GPU, and that they are read here.
aarch64_programs() {
  local emulator=qemu-aarch64-static name left_out
  # The emulator has no process_vm_readv, tells its own state in /proc/self, limits no memory, is slow, and may fail itself where a signal
  # comes to several threads; native stacks are for x86-64.
  left_out='MemoryBlocksTest.*:FrameWalkTest.*:OldFrameWalkTest.*:NativeStacksTest.*:LoadedCodeTest.*:ObjectFileTest.*:UnwindRowTest.*'
  left_out+=':ProcFiles.StatOfThisProcess:BufferPoolTest.AllocatesABufferLater*:RingSetDeathTest.*:*KeptFile*:*GoesWhenever*'
  # Minutes of reading what is the same on each processor.
  ((${#arm_programs[@]} > 0)) || left_out+=':*Hostile*:*Damaged*:*Public*'
  configure_and_build aarch64 -DTRACEINJECT_TESTS=ON -- traceinject fake_gpu "${arm_tests[@]}" "${arm_programs[@]}" || return
  for name in "${arm_tests[@]}"; do
    "$emulator" "build/aarch64/bin/$name" --gtest_brief=1 "--gtest_filter=-$left_out" || return
  done
  for name in aarch64 recording; do
    # What an emulator is too slow to take in is lost, and counted: the tests say so, and have one more try.
    emulated_test "$name" "$emulator" || { say "once more: ${name}_test.py" && emulated_test "$name" "$emulator"; } || return
  done
}

emulated_test() {
  TRACEINJECT_BUILD=build/aarch64 TRACEINJECT_NATIVE=build/release TRACEINJECT_EMULATOR=$2 python3 -B "tests/end_to_end/$1_test.py"
}

# tracked PATTERN...: our files of these names, in a checkout or in an unpacked archive.
tracked() {
  local pattern
  git ls-files --cached --others --exclude-standard -- "$@" 2>/dev/null && return
  for pattern in "$@"; do
    find . -path ./build -prune -o -path "./$pattern" -type f -print
  done
}

shell_scripts_parse() {
  local path result=0
  while read -r path; do
    bash -n "$path" || result=1
  done < <(tracked '*.sh' .ci/run)
  return $result
}

python_compiles() {
  tracked '*.py' | python3 -c '
import ast, sys
for path in sys.stdin.read().splitlines():
    ast.parse(open(path, encoding="utf-8").read(), path)'
}

cpp_is_formatted() {
  local complaints
  complaints=$(tracked '*.cc' '*.h' '*.c' '*.cpp' | xargs -r clang-format --dry-run -Werror 2>&1) && return
  echo "to be formatted with clang-format -i (file, places):"
  grep -o '^[^ ]*: error:' <<<"$complaints" | cut -d: -f1 | sort | uniq -c | awk '{ print "  " $2, $1 }'
  return 1
}

pytorchs_own_tests() {
  local name="PyTorch's own tests, with and without the library"
  if [[ ! -f build/release/lib/libtraceinject.so ]]; then
    skip "$name" "libtraceinject.so was not built"
  elif ! "$python" -c 'import pytest, torch' 2>/dev/null; then
    skip "$name" "$python has no PyTorch or no pytest"
  elif ! tests/pytorch_tests.sh fetch; then
    skip "$name" "the distribution's source package cannot be had"
  else
    check "$name" tests/pytorch_tests.sh run
  fi
}

if [[ $install == yes ]]; then
  if ! (install_packages "${build_packages[@]}" "${test_packages[@]}"); then
    say "installing packages failed; trying with what is here"
  fi
fi

for preset in "${presets[@]}"; do
  run_preset "$preset"
done
check "shell scripts parse" shell_scripts_parse
check "Python scripts parse" python_compiles
check "folders include as declared" python3 -B tests/include_directions.py build/release/parts.txt
if [[ -f build/release/lib/libtraceinject.so && -f build/release/bin/traceview ]]; then
  check "every function is used" python3 -B tests/dead_functions.py build/release
else
  skip "whether every function is used" "libtraceinject.so or traceview was not built"
fi
# The distribution's Python, whose PyTorch was installed; another may come first in the path.
python=$([[ -x /usr/bin/python3 ]] && echo /usr/bin/python3 || echo python3)
check "checkers of the hardware scripts" "$python" tests/gpu/checkers_test.py
check "comparing of outcomes" "$python" tests/gpu/harmless/harmless_test.py
check "scoring of verdicts" python3 tests/gpu/analysis/verdict_test.py
check "scoring of findings across ranks" python3 tests/gpu/ranks/ranks_test.py
check "scoring of verdicts across ranks" python3 tests/gpu/ranks/rank_verdicts_test.py
pytorchs_own_tests
if [[ -f build/release/lib/libtraceinject.so ]]; then
  check "portable programs and their wheel" portable_wheel
else
  skip "portable programs and their wheel" "libtraceinject.so was not built"
fi
if [[ ! -f build/release/lib/libtraceinject.so ]]; then
  skip "programs for 64-bit Arm" "libtraceinject.so was not built"
elif [[ $install == yes ]] && ! (install_aarch64_packages); then
  skip "programs for 64-bit Arm" "the distribution's packages of the other architecture cannot be had"
elif ! is_installed g++-aarch64-linux-gnu || ! is_installed libprotobuf-dev:arm64; then
  skip "programs for 64-bit Arm" "the cross-compiler is not installed; tests/run.sh without --no-install installs it"
else
  check "programs for 64-bit Arm, emulated" aarch64_programs
fi
if [[ $(clang-format --version 2>/dev/null) == *"version 14."* ]]; then
  check "C++ is formatted as .clang-format says" cpp_is_formatted
else
  skip "formatting of C++" "clang-format 14 is not here, and other versions format differently"
fi
if [[ $(clang-tidy --version 2>/dev/null) == *"version 14."* ]]; then
  check "C++ holds against .clang-tidy" python3 -B tests/tidy.py --changed build/release
else
  skip "clang-tidy" "clang-tidy 14 is not here, and other versions find other things"
fi
finished=yes
