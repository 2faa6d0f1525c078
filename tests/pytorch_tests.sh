#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A guest changes nothing: PyTorch's own tests, of the distribution's PyTorch, with and without the library on the processor, where a
# stand-in of CUDA starts the recording (see tests/gpu/harmless/harmless.sh). Their source is the distribution's source package; of it only the
# tests are unpacked, into the build folder.
#
# usage: pytorch_tests.sh fetch          gets them, unless they are there; exit code 1 with a sentence if they cannot be had
#        pytorch_tests.sh run [option]   runs them; options are those of tests/gpu/harmless/harmless.py
set -euo pipefail

# shellcheck source=samples/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/../samples/setup.sh"
python=${TRACEINJECT_TORCH_PYTHON:-/usr/bin/python3}
build=$root/build/release
checkout=$root/build/pytorch_tests
# FILE:MOST=EXPRESSION: a minute or two in all. Tests that alone take seconds are left out.
selections=(
  test_optim.py:30
  test_torch.py:500
  "test_autograd.py:400=not free_deep_graph and not lobpcg and not logging_tensor"
  "test_nn.py:500=not masked_softmax and not precision"
  "test_jit.py:250=not method_overloading and not Transformer"
  "test_dataloader.py:40=not persistent and not spawn and not multi_epochs and not timeout and not shuffler"
)

fetch() {
  [[ -d $checkout/test ]] && return
  command -v apt-get >/dev/null || die "no apt-get here, whose source package of PyTorch has its tests"
  local work=$checkout.part source
  source=$(source_package python3-torch) || die "python3-torch is not installed"
  download_source "$source" "$work"
  mkdir "$work/unpacked"
  tar -xf "$work"/*.orig.tar.* -C "$work/unpacked" --strip-components 1 --wildcards '*/test/*'
  mkdir -p "$checkout"
  mv "$work/unpacked/test" "$checkout/test"
  rm -rf "$work"
}

run() {
  local selection options=()
  for selection in "${selections[@]}"; do options+=(--select "$selection"); done
  exec "$python" "$root/tests/gpu/harmless/harmless.py" check --library "$build/lib/libtraceinject.so" --cuda "$build/fake_gpu/cuda13" \
    --checkout "$checkout" --out "$root/build/pytorch_tests.out" --shards 1 --least 1000 --seconds 400 --repeat-seconds 60 \
    --recorded "recordings=${#selections[@]}" --recorded "python installed=${#selections[@]}" \
    --recorded step_mark=1000 --recorded data_wait=10 "${options[@]}" "$@"
}

case ${1:-} in
  fetch) fetch ;;
  run) shift && run "$@" ;;
  *) awk 'NR > 2 && !/^#/ { exit } NR > 2 { sub(/^# ?/, ""); print }' "$0" && exit 2 ;;
esac
