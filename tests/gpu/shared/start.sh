# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: Apache-2.0
# How a hardware script starts; sourced, not run. Sets here, the folder of the script, and shared, this one. A script tells its usage by
# the comment at its head, and that without a GPU; need_gpu then sets what environment.sh says.

here=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)
shared=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

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

# Finds library, analyze, Python and GPUs, or ends the script with a sentence.
need_gpu() {
  # shellcheck source=tests/gpu/shared/environment.sh
  source "$shared/environment.sh"
}
