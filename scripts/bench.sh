#!/usr/bin/env bash
# Measures a Holdfast server with nothing but bash, git and curl.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/load.sh"

usage() {
  cat <<'TEXT'
Usage: scripts/bench.sh [URL] [OPTIONS]

Measures a server: push, clone, push of one changed file, and reads by the API, for repositories of
100, 1,000, 5,000 and 10,000 files of 8 KB; then 20 shallow clones of the largest at once. URL is a
running server; without it one is started, which needs Node. If the server needs a token,
HOLDFAST_TOKEN must hold one that may administer all that "bench" owns. What is made there is
deleted at the end. Times are milliseconds as the client waits; of reads, the median of ten.

  --sizes N,N   numbers of files (default 100,1000,5000,10000)
  --csv FILE    writes every measured time to this file
  --help        this text

npm run bench measures more, beside native git; it needs Node.
TEXT
}

owner=bench
sizes=(100 1000 5000 10000)
read_options "$@"
((${#rest[@]} == 0)) || fail "${rest[0]} is neither a URL nor an option; --help lists them"
open_server

READS=10

# Reads of the API: a name, and a path below the repository's.
routes=("repository|" "branches|/branches" "log|/log" "files|/files" "all files|/files/all" "stats|/stats" "contributors|/contributors")

declare -A times

record() { # operation
  note "$files" "$1" "$took"
  times[$1,$files]=$took
}

read_route() { # operation, path
  local i all=()
  for ((i = 0; i < READS; i++)); do
    take api "$2"
    note "$files" "$1" "$took"
    all+=("$took")
  done
  times[$1,$files]=$(printf '%s\n' "${all[@]}" | sort -n | sed -n "$((READS / 2))p")
}

for files in "${sizes[@]}"; do
  printf 'measuring %s files\n' "$files" >&2
  local_copy=$work/$files
  make_repository "$local_copy" "$files"
  name_remote "files-$files"
  take git -C "$local_copy" push -q "$remote" main
  record push
  take git clone -q "$remote" "$work/clone"
  record clone
  rm -rf "$work/clone"
  echo changed >"$local_copy/dir-0/changed"
  git -C "$local_copy" add -A
  git -C "$local_copy" commit -q -m change
  take git -C "$local_copy" push -q "$remote" main
  record 'incremental push'
  read_route 'repositories' "/repos/$owner"
  for route in "${routes[@]}"; do read_route "${route%%|*}" "/repos/$owner/$name${route#*|}"; done
done

printf 'measuring %s shallow clones at once\n' "$CLONES" >&2
take clone_all
record "$CLONES shallow clones"

row 'ms, by files' "${sizes[@]}"
for operation in push clone 'incremental push' repositories "${routes[@]%%|*}" "$CLONES shallow clones"; do
  columns=()
  for files in "${sizes[@]}"; do columns+=("${times[$operation,$files]:--}"); done
  row "$operation" "${columns[@]}"
done
