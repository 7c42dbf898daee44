#!/bin/sh
# Stresses a Holdfast server; scripts/stress.sh --help tells how.
root=$(dirname "$0")/..
node=$root/node_modules/.bin/node
if [ ! -x "$node" ]; then
  echo "$node is missing: run npm ci first" >&2
  exit 2
fi
exec "$node" "$root/scripts/stress.ts" "$@"
