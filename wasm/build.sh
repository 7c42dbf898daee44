#!/usr/bin/env bash
# Builds the WebAssembly module. It needs python3 for the Zig compiler, which PyPI carries, and cargo for the C sources,
# which two crates ship.
set -euo pipefail

usage="Usage: wasm/build.sh [FILE]

Builds the WebAssembly module from its sources (default: src/base/codec/holdfast.wasm), byte for byte the same on every machine.
Needs python3 and cargo, and the network for what they fetch: npm run build:wasm also records what it was built from.

  --help    this text
"
case ${1-} in
-h | --help)
  printf %s "$usage"
  exit
  ;;
-*)
  echo "$1 is no option (--help tells what there is)" >&2
  exit 2
  ;;
esac
if [ $# -gt 1 ]; then
  echo "$2: one file is written (--help tells what there is)" >&2
  exit 2
fi

cd "$(dirname "$0")"
out=$(realpath -m "${1:-../src/base/codec/holdfast.wasm}")

if [ ! -x .toolchain/bin/python ]; then python3 -m venv .toolchain; fi
.toolchain/bin/python -m pip install --quiet --disable-pip-version-check ziglang==0.16.0

# Cargo.lock holds the checksums; vendoring again undoes what was changed below.
cargo vendor --quiet --locked --manifest-path sources/Cargo.toml .sources >/dev/null

# libdeflate takes size_t for the machine's word. A wasm32 machine has 32-bit addresses but 64-bit registers, and a
# 64-bit bit buffer is refilled half as often: 7 to 10 % faster. Two more lines leave out what nothing calls: the
# levels above git's 9, and functions that are kept only because they are exported.
libdeflate=.sources/libdeflate-sys/libdeflate
edit() {
  grep -q "$1" "$3" || { echo "$3 has no line '$1'" >&2; exit 1; }
  sed -i "s/$1/$2/" "$3"
}
edit '^typedef size_t machine_word_t;$' 'typedef uint64_t machine_word_t;' $libdeflate/common_defs.h
edit '^#define SUPPORT_NEAR_OPTIMAL_PARSING.1$' '#define SUPPORT_NEAR_OPTIMAL_PARSING 0' $libdeflate/lib/deflate_compress.c
edit 'visibility("default")' 'visibility("hidden")' $libdeflate/lib/lib_common.h

ZIG_GLOBAL_CACHE_DIR=$PWD/.toolchain/cache .toolchain/bin/python -m ziglang build \
  --cache-dir .toolchain/cache --prefix .toolchain/out
install -m 644 .toolchain/out/bin/holdfast.wasm "$out"
