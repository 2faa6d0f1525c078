#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the portable build with the C libraries of other distributions, by hand.
set -uo pipefail

usage() {
  cat <<'TEXT'
usage: distributions.sh [--build FOLDER] [--root FOLDER]...

Makes root file systems of Debian 11 and 13 (mmdebstrap, from the mirror that apt is configured with; two minutes for both, 210 MB each,
kept in FOLDER/distributions) and runs the portable programs in them: reports, errors, threads, exceptions, a recording on the fake GPU,
and the wheel that pip installs. What they print has to be what they print here. Exit code 0 only if it is. Needs root.

  --build FOLDER   the build (default: build/portable), with TRACEINJECT_PORTABLE and TRACEINJECT_TESTS
  --root FOLDER    also a root file system that is there already, such as that of an unpacked container image; it needs a shell and
                   python3 with pip
TEXT
}

# shellcheck source=samples/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/../samples/setup.sh"
build=$root/build/portable roots=()
while (($# > 0)); do
  case $1 in
    --build) build=$(realpath "$2") && shift 2 ;;
    --root) roots+=("$(realpath "$2")") && shift 2 ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
  esac
done
work=$build/distributions
files=$work/files
failed=0

# NAME|EXIT CODE|COMMAND, in a folder with what copy_files puts there.
checks=(
  "version|0|portable/analyze --version"
  "report|0|portable/analyze recordings/slow_numpy_h100.db.zst"
  "ranks|0|portable/analyze recordings/straggler_gemm_h200 --format json"
  "html|0|portable/analyze html recordings/transformer_h200.db.zst -o -"
  "missing|3|portable/analyze nothing.db"
  "corrupt|3|portable/analyze corrupt.db.zst"
  "doctor|0|portable/analyze doctor > /dev/null"
  "viewer|0|portable/traceview --version"
  "glibc|0|./newer_glibc_test > /dev/null"
  "throw|0|LD_PRELOAD=\$PWD/libthrowing_twin.so portable/analyze --version"
  "record|0|$(tr '\n' ' ' <<'SH'
      out=$(mktemp -d) && export TRACEINJECT_OUTPUT=$out/run.db;
      LD_PRELOAD=$PWD/portable/libtraceinject.so fake_gpu/fake_train --nvtx --nccl new --steps 20 &&
      portable/analyze sql $out/run.db "SELECT count(*), (SELECT count(*) FROM nvtx), (SELECT count(*) FROM collective) FROM kernel" &&
      portable/analyze $out/run.db > /dev/null; code=$?; rm -r $out; exit $code
SH
)"
  "python|0|LD_BIND_NOW=1 LD_PRELOAD=\$PWD/portable/libtraceinject.so python3 -c 'import threading
threads = [threading.Thread(target=sum, args=([i],)) for i in range(8)]
[t.start() for t in threads], [t.join() for t in threads]
print(threading.active_count())'"
  "wheel|0|$(tr '\n' ' ' <<'SH'
      out=$(mktemp -d) && python3 -m pip install --quiet --no-index --target $out/wheel traceinject-*.whl 2> /dev/null &&
      export PYTHONPATH=$out/wheel TRACEINJECT_OUTPUT=$out/run.db &&
      python3 -m traceinject record -- fake_gpu/fake_train --steps 20 2> $out/said && grep -c ^verdict: $out/said &&
      python3 -c 'import os, traceinject; print(len(traceinject.open(os.environ["TRACEINJECT_OUTPUT"]).kernels()))' &&
      python3 -m traceinject view $out/run.db --check > /dev/null; code=$?; rm -r $out; exit $code
SH
)"
)

copy_files() {
  local path
  rm -rf "$files"
  mkdir -p "$files"
  for path in portable wheel bin/newer_glibc_test lib/libthrowing_twin.so fake_gpu/portable; do
    [[ -e $build/$path ]] || die "$build/$path is not there:" \
      "cmake --preset portable -DTRACEINJECT_TESTS=ON && cmake --build --preset portable --target portable wheel newer_glibc_test throwing_twin fake_gpu"
    [[ $path == wheel ]] || cp -a "$build/$path" "$files/"
  done
  mv "$files/portable" "$files/fake_gpu"
  cp -a "$build/portable" "$build"/wheel/*manylinux*.whl "$root/samples/recordings" "$files/"
  head -c 3000 "$root/samples/recordings/slow_numpy_h100.db.zst" >"$files/corrupt.db.zst"
}

# The mirror that packages of this machine's release come from.
mirror() {
  # shellcheck disable=SC2016  # apt's own variables
  apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 2>/dev/null |
    awk '$1 !~ /-/ { print $2; exit }'
}

# Adds the root file system of a release to the list, or says why not.
add_release() {
  local release=$1 folder=$work/$1 from
  if [[ ! -d $folder ]]; then
    command -v mmdebstrap >/dev/null || { say "$release: skipped, mmdebstrap is not installed (apt install mmdebstrap)" && return; }
    from=$(mirror)
    [[ -n $from ]] || { say "$release: skipped, apt knows no mirror of Debian" && return; }
    say "making $folder"
    if ! mmdebstrap --quiet --variant=minbase --include=python3-pip "$release" "$folder.part.tar" "$from"; then
      say "$release: skipped, it cannot be had from $from"
      return
    fi
    mkdir -p "$folder.part"
    tar -xf "$folder.part.tar" -C "$folder.part" --exclude './dev/*'
    rm "$folder.part.tar"
    mv "$folder.part" "$folder"
  fi
  roots+=("$folder")
}

# inside ROOT COMMAND: in the root file system, with the files at /mnt.
inside() {
  # shellcheck disable=SC2016  # of the inner shell
  unshare -m sh -c 'mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" && mount --bind "$2" "$1/mnt" || exit 1
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 HOME=/tmp chroot "$1" sh -c "cd /mnt && $3"' sh "$1" "$files" "$2"
}

here() {
  (cd "$files" && env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 HOME=/tmp sh -c "$1")
}

# Of one root file system: a line of the table.
try_root() {
  local folder=$1 name glibc check code command expected printed line
  # shellcheck source=/dev/null
  name=$(. "$folder/etc/os-release" && echo "$PRETTY_NAME")
  glibc=$(inside "$folder" 'ldd --version 2>/dev/null' | awk 'NR == 1 { print $NF }')
  line=$(printf '%-32s %-6s' "$name" "$glibc")
  for check in "${checks[@]}"; do
    IFS='|' read -r -d '' check code command <<<"$check"
    expected=$(here "$command" 2>&1; echo "exit code $?")
    printed=$(inside "$folder" "$command" 2>&1; echo "exit code $?")
    if [[ $printed == "$expected" && $printed == *"exit code $code" ]]; then
      line+=$(printf ' %-8s' ok)
    else
      failed=$((failed + 1))
      line+=$(printf ' %-8s' FAILED)
      diff <(echo "$expected") <(echo "$printed") | head -n 20 | sed "s/^/$check: /" >&2
    fi
  done
  table+=$line$'\n'
}

if [[ $(id -u) -ne 0 ]]; then
  say "skipped: another root file system takes root"
  exit 0
fi
copy_files
add_release bullseye
add_release trixie
((${#roots[@]} > 0)) || exit 0
table=$(printf '%-32s %-6s' distribution glibc && for check in "${checks[@]}"; do printf ' %-8s' "${check%%|*}"; done)$'\n'
for folder in "${roots[@]}"; do
  try_root "$folder"
done
printf '%s' "$table"
exit $((failed > 0))
