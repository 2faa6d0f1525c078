# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: Apache-2.0
# What samples/demo.sh, tests/run.sh, and scripts that need the source of a package share; sourced, not run.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Debian 12 packages. This is the only list of them.
build_packages=(
  cmake ninja-build g++ pkg-config python3 binutils
  libsqlite3-dev libfmt-dev libcli11-dev libboost-dev libsimdjson-dev protobuf-compiler libprotobuf-dev libzstd-dev zlib1g-dev
  libpng-dev libimgui-dev libglfw3-dev libegl-dev libgl-dev libopengl-dev libegl1 libgl1-mesa-dri fonts-dejavu-core
  sqlite3 zstd
)
test_packages=(
  libgtest-dev libgmock-dev libbenchmark-dev clang-format clang-tidy libclang-rt-dev ccache shellcheck xvfb xdotool chromium chromium-driver
  dpkg-dev man-db zsh fish python3-torch python3-pytest python3-pandas python3-pip python3-venv python3-yaml python3-ipykernel
  libopenmpi-dev openmpi-bin
)
# With those above, for the preset aarch64. Debian has archives of all but fmt and simdjson, whose headers are those above.
aarch64_packages=(
  g++-aarch64-linux-gnu qemu-user-static
  libprotobuf-dev:arm64 libsqlite3-dev:arm64 libzstd-dev:arm64 zlib1g-dev:arm64 libpng-dev:arm64 libgtest-dev:arm64 libgmock-dev:arm64
  libimgui-dev:arm64 libglfw3-dev:arm64 libegl-dev:arm64 libgl-dev:arm64 libopengl-dev:arm64
)

say() { echo "== $*"; }

# minutes_since SECONDS: "4 min 07 s" from that value of $SECONDS to now.
minutes_since() { printf '%d min %02d s' $(((SECONDS - $1) / 60)) $(((SECONDS - $1) % 60)); }

die() {
  echo "$(basename "$0"): $*" >&2
  exit 1
}

as_root() {
  if [[ $(id -u) -eq 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "this needs root, and sudo is not installed; run as root: $*"
  fi
}

# is_installed NAME[:ARCHITECTURE]: of this machine's architecture unless another is named.
is_installed() {
  local name=${1%%:*} architecture=${1#*:}
  [[ $1 == *:* ]] || architecture=$(dpkg --print-architecture)
  dpkg-query -W -f '${db:Status-Status} ${Architecture}\n' "$name" 2>/dev/null | grep -qxE "installed (all|$architecture)"
}

# install_packages NAME...: those that are not installed yet, with apt-get. Elsewhere than on Debian it only says what is needed.
install_packages() {
  local name missing=()
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    say "no apt-get found: nothing was installed. Install the equivalents of these Debian packages: $*"
    return
  fi
  for name in "$@"; do
    is_installed "$name" || missing+=("$name")
  done
  if ((${#missing[@]} == 0)); then
    say "packages: all ${#} are installed"
    return
  fi
  say "installing packages: ${missing[*]}"
  as_root apt-get update -q
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# As apt-get installs them once it knows the other architecture.
install_aarch64_packages() {
  [[ $(dpkg --print-foreign-architectures) == *arm64* ]] || as_root dpkg --add-architecture arm64 || return
  install_packages "${aarch64_packages[@]}"
}

# source_package NAME: the source that an installed package is of, "name=version"; fails where it is not installed.
source_package() {
  local source
  source=$(dpkg-query -W -f '${source:Package}=${source:Version}\n' "$1" 2>/dev/null) || return
  head -n 1 <<<"$source" # one a line for each architecture that it is installed for
}

# A configuration of apt's in WORK with the sources of where the binary packages come from, and lists of its own.
make_apt_configuration() {
  local work=$1
  mkdir -p "$work"/lists/partial "$work"/cache/archives/partial
  # shellcheck disable=SC2016  # apt's own variables
  apt-get indextargets --format 'deb-src $(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
    sort -u >"$work/sources.list"
  [[ -s $work/sources.list ]] || return 1
  cat >"$work/apt.conf" <<CONFIGURATION
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::Lists "$work/lists";
Dir::Cache "$work/cache";
APT::Sandbox::User "root";
Acquire::Retries "3";
CONFIGURATION
}

# download_source NAME=VERSION WORK: the archive of a source package into the folder, which is made anew.
download_source() {
  local source=$1 work
  rm -rf "$2"
  mkdir -p "$2"
  work=$(realpath "$2")
  command -v apt-get >/dev/null || die "the source package $source cannot be had: there is no apt-get"
  make_apt_configuration "$work" || die "the source package $source cannot be had: apt knows no source of packages"
  (cd "$work" && export APT_CONFIG=$work/apt.conf && apt-get update -q >&2 && apt-get source -q --download-only --tar-only "$source" >&2) ||
    die "the source package $source cannot be had"
}

# configure_and_build PRESET [cmake options] [-- targets]: incremental, through ccache where it is installed.
configure_and_build() {
  local preset=$1 launcher=() options=() targets=()
  shift
  while (($# > 0)) && [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  (($# < 2)) || targets=(--target "${@:2}")
  if command -v ccache >/dev/null; then
    launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
    export CCACHE_SLOPPINESS=pch_defines,time_macros # else nothing that uses headers compiled ahead is kept
    export CCACHE_BASEDIR=$root # else no build folder finds what another one kept of sources that lie in them
  fi
  say "building preset $preset in build/$preset"
  local began=$SECONDS
  (cd "$root" && cmake --preset "$preset" "${launcher[@]}" "${options[@]}" && cmake --build --preset "$preset" "${targets[@]}") || return
  say "built preset $preset in $(minutes_since "$began")"
}
