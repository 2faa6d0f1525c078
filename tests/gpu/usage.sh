# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# How a hardware script tells its usage: the comment at its head. Sourced, not run, before environment.sh, which needs a GPU.

# out_first ARGUMENT...: unless a folder comes first, prints that comment and ends the script.
out_first() {
  (($# > 0)) && [[ $1 != -* ]] && return
  awk 'NR > 2 && !/^#/ { exit } NR > 2 { sub(/^# ?/, ""); print }' "$0"
  [[ ${1:-} == -h || ${1:-} == --help ]] && exit 0
  exit 2
}

# out_only ARGUMENT...: the same unless it is all there is.
out_only() {
  (($# <= 1)) || set --
  out_first "$@"
}
