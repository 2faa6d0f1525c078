#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The sources of libraries that Debian has no archives of, in the versions whose headers are installed.
#
# usage: sources.sh FOLDER   unpacks fmtlib and simdjson there, unless they are there
set -euo pipefail

# shellcheck source=samples/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../samples/setup.sh"
folder=$1

# NAME=PACKAGE: a source, and the package with its headers.
for pair in fmtlib=libfmt-dev simdjson=libsimdjson-dev; do
  name=${pair%%=*}
  [[ ! -d $folder/$name ]] || continue
  source=$(source_package "${pair#*=}") || die "${pair#*=} is not installed"
  download_source "$source" "$folder/$name.part"
  mkdir "$folder/$name.part/unpacked"
  tar -xf "$folder/$name.part"/*.orig.tar.* -C "$folder/$name.part/unpacked" --strip-components 1
  mv "$folder/$name.part/unpacked" "$folder/$name"
  rm -r "$folder/$name.part"
done
