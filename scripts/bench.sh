#!/bin/sh
# `scripts/bench.sh [URL] [OPTIONS]`: the quick benchmark; --help tells what it measures.
case ${1-} in
'' | -*) ;;
*)
  url=$1
  shift
  set -- --url "$url" "$@"
  ;;
esac
bench=$(dirname "$0")/bench
node=$bench/../../node_modules/.bin/node
[ -x "$node" ] || {
  echo "Node is missing: run npm ci first" >&2
  exit 1
}
exec "$node" "$bench/quick.ts" "$@"
