# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: Apache-2.0
# How a hardware script starts; sourced, not run. Sets here, the folder of the script, and shared, this one. A script tells its usage by
# the comment at its head or by a function `usage` of its own, and that without a GPU; need_gpu then sets what environment.sh says.

here=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)
shared=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

declare -F usage >/dev/null || usage() {
  awk 'NR > 2 && !/^#/ { exit } NR > 2 { sub(/^# ?/, ""); print }' "$0"
}

asks_for_help() {
  [[ ${1:-} == -h || ${1:-} == --help ]]
}

# out_first ARGUMENT...: unless a folder comes first, prints the usage and ends the script.
out_first() {
  (($# > 0)) && [[ $1 != -* ]] && return
  usage
  asks_for_help "$@" && exit 0
  exit 2
}

# out_only ARGUMENT...: the same unless it is all there is.
out_only() {
  asks_for_help "$@" || (($# <= 1)) || set --
  out_first "$@"
}

# out_and_options_of SCRIPT ARGUMENT...: as out_first; --help also prints the help of the Python script beside this one.
out_and_options_of() {
  local script=$1
  shift
  if asks_for_help "$@"; then
    usage
    exec "${PYTHON:-python3}" "$here/$script" --help
  fi
  out_first "$@"
}

# Finds library, analyze, Python and GPUs, or ends the script with a sentence.
need_gpu() {
  # shellcheck source=tests/gpu/shared/environment.sh
  source "$shared/environment.sh"
}
