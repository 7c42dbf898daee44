# Shared by bench.sh and stress.sh: a server by its URL, repositories on it, times of commands.
# Sourced by bash 5 with `set -euo pipefail`. Needs git and curl; a server of its own needs Node.

LC_ALL=C
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
url='' csv='' owner='' server_pid='' sizes=()
made=()

fail() {
  printf '%s: %s\n' "${0##*/}" "$1" >&2
  exit "${2:-2}"
}

# Milliseconds since 1970.
now() {
  local micros=${EPOCHREALTIME/./}
  echo $((micros / 1000))
}

# Requests a path of the API. Further arguments are curl's. The token is not in the process list.
api() {
  local path=$1
  shift
  local -a config=()
  [[ -z ${HOLDFAST_TOKEN:-} ]] || config=(--config "$work/curl")
  curl -sS --fail-with-body --max-time 600 "${config[@]}" "$@" "$url/api$path"
}

# Uses the server at `url`, or starts one that ends with this script.
open_server() {
  export GIT_TERMINAL_PROMPT=0 GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
  export GIT_AUTHOR_NAME=Load GIT_AUTHOR_EMAIL=load@example.com
  export GIT_COMMITTER_NAME=Load GIT_COMMITTER_EMAIL=load@example.com
  if [[ -n ${HOLDFAST_TOKEN:-} ]]; then
    (umask 077 && printf 'header = "Authorization: Bearer %s"\n' "$HOLDFAST_TOKEN" >"$work/curl")
    export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=http.extraHeader
    export GIT_CONFIG_VALUE_0="Authorization: Bearer $HOLDFAST_TOKEN"
  fi
  if [[ -z $url ]]; then
    local node=$root/node_modules/.bin/node
    [[ -x $node ]] || fail 'a server of its own needs "npm ci" first; or give the URL of a running one'
    "$node" "$root/scripts/start.ts" --port 0 --persist-to "$work/data" >"$work/server" 2>&1 &
    server_pid=$!
    until url=$(sed -n 's/^Holdfast serves at //p' "$work/server") && [[ -n $url ]]; do
      kill -0 "$server_pid" 2>/dev/null || fail "the server did not start: $(cat "$work/server")" 1
      sleep 0.05
    done
  fi
  url=${url%/}
  # Whoever may create a repository may do all that follows.
  name_remote probe
  api /repos -H 'Content-Type: application/json' -d "{\"owner\":\"$owner\",\"name\":\"$name\"}" \
    >"$work/answer" 2>&1 || refuse_server
}

# Says why a server cannot be used.
refuse_server() {
  local reason
  reason=$(tr '\n' ' ' <"$work/answer")
  made=()
  [[ $reason != *' 40'[13]* ]] ||
    reason+="Set HOLDFAST_TOKEN to a token that may administer all that \"$owner\" owns."
  fail "$url cannot be used: $reason"
}

# Deletes what was made on the server, and ends a server of its own.
close_server() {
  local name
  for name in "${made[@]}"; do api "/repos/$owner/$name" -X DELETE >/dev/null || true; done
  [[ -z $server_pid ]] || { kill "$server_pid" && wait "$server_pid" || true; } 2>/dev/null
  rm -rf "$work"
}

# Makes a local repository: files of 8 KB of base64 noise, 100 a directory, one commit.
make_repository() { # folder, files
  git init -q -b main "$1"
  head -c $(($2 * 6144)) /dev/urandom | base64 -w 0 | split -b 8192 -a 6 -d - "$1/file-"
  local all=("$1"/file-*) from
  for ((from = 0; from < $2; from += 100)); do
    mkdir "$1/dir-$((from / 100))"
    mv "${all[@]:from:100}" "$1/dir-$((from / 100))"
  done
  git -C "$1" add -A
  git -C "$1" commit -q -m "$2 files"
}

# Names a new repository on the server, which this script deletes at its end. Sets `remote`, `name`.
name_remote() { # what it is for
  name=$1-$$-$RANDOM
  made+=("$name")
  remote=$url/$owner/$name.git
}

# Runs a command and sets `took` to its milliseconds. Its output is kept for a failure's message.
take() { # command…
  local start
  start=$(now)
  "$@" >"$work/output" 2>&1 || fail "$* failed: $(tail -n 5 "$work/output")" 1
  took=$(($(now) - start))
}

# Shallow clones of `remote` at once.
CLONES=20

# Makes these clones, each in a folder `storm-N` of `work`. Fails if one of them does.
clone_all() {
  local i pids=() pid failed=0
  for ((i = 0; i < CLONES; i++)); do
    git clone -q --depth 1 "$remote" "$work/storm-$i" &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
  return "$failed"
}

# Notes a time: a row of the CSV file.
note() { # files, operation, milliseconds
  [[ -z $csv ]] || printf '%s,%s,%s\n' "$1" "$2" "$3" >>"$csv"
}

# Prints a row of the table: a title, and a column for each further argument.
row() {
  printf '%-26s' "$1"
  shift
  (($# == 0)) || printf '%12s' "$@"
  printf '\n'
}

trap close_server EXIT
trap 'exit 130' INT TERM

# Reads the options that both scripts have. Sets `url`, `csv`, `sizes`, and `rest` to other words.
read_options() {
  rest=()
  while (($# > 0)); do
    case $1 in
      --help | -h) usage && exit 0 ;;
      --csv) csv=${2:?"--csv needs a file"} && shift ;;
      --sizes)
        [[ ${2:-} =~ ^[1-9][0-9]*(,[1-9][0-9]*)*$ ]] || fail "--sizes ${2:-}: not numbers of files, as 100,1000"
        IFS=, read -ra sizes <<<"$2" && shift
        ;;
      http://* | https://*) url=$1 ;;
      -*) fail "$1 is no option; --help lists them" ;;
      *) rest+=("$1") ;;
    esac
    shift
  done
  [[ -z $csv ]] || printf 'files,operation,ms\n' >"$csv"
}
