#!/usr/bin/env bash
# Puts load on a Holdfast server with nothing but bash, git and curl, and checks what comes back.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/load.sh"

usage() {
  cat <<'TEXT'
Usage: scripts/stress.sh [quick|full] [URL] [OPTIONS]

Pushes repositories of many sizes and lets clients race on each:

  transfers   a push, a clone, a push of one changed file
  branches    writers push to a branch each at once: all must win
  one branch  writers push to one branch at once: exactly one must win
  storm       20 shallow clones at once

Every clone is checked by git fsck and must have the files that were pushed; every push that was
acknowledged must be there at the end. URL is a running server; without it one is started, which
needs Node. If the server needs a token, HOLDFAST_TOKEN must hold one that may administer all that
"stress" owns. What is made there is deleted at the end.

  quick         100 to 10,000 files, 8 writers (the default)
  full          the same with 32 writers, three rounds of each race
  --sizes N,N   numbers of files (default 100,1000,5000,10000)
  --csv FILE    writes every measured time to this file
  --help        this text

Exit status: 0 if nothing was wrong, 1 if something was, 2 if it could not run. npm run stress
checks more; it needs Node.
TEXT
}

owner=stress
sizes=(100 1000 5000 10000)
read_options "$@"
case ${rest[0]:-quick} in
  quick) writers=8 rounds=1 ;;
  full) writers=32 rounds=3 ;;
  *) fail "${rest[0]} is not quick or full; --help tells more" ;;
esac
((${#rest[@]} < 2)) || fail "${rest[1]} is neither a URL nor an option; --help lists them"
open_server

wrong=0

report() {
  printf 'wrong: %s files: %s\n' "$files" "$1"
  wrong=$((wrong + 1))
}

record() { # operation
  note "$files" "$1" "$took"
  columns+=("$took")
}

# Compares a clone with the commit that it must have.
check_clone() { # folder, commit
  git -C "$1" fsck --strict >"$work/fsck" 2>&1 || report "a clone is damaged: $(head -n 3 "$work/fsck")"
  [[ $(git -C "$1" rev-parse HEAD) == "$2" ]] || report "a clone has another commit than $2"
  [[ -z $(git -C "$1" status --porcelain) ]] || report "a clone's files are not those of its commit"
}

# Commits of one file each, on top of the pushed one: one for each writer, in `tips`.
make_tips() {
  local i blob tree
  tips=()
  for ((i = 0; i < writers; i++)); do
    blob=$(echo "writer $i, round $round" | git -C "$copy" hash-object -w --stdin)
    tree=$( (git -C "$copy" ls-tree "$head" && printf '100644 blob %s\twriter\n' "$blob") | git -C "$copy" mktree)
    tips+=("$(git -C "$copy" commit-tree -p "$head" -m "writer $i" "$tree")")
  done
}

# Pushes every tip at once to the ref that a function names for its number. Sets `won` to the
# numbers of those that were acknowledged.
push_tips() { # function
  local i pids=()
  won=()
  for ((i = 0; i < writers; i++)); do
    git -C "$copy" push -q "$remote" "${tips[i]}:$("$1" "$i")" >"$work/push-$i" 2>&1 &
    pids+=($!)
  done
  for ((i = 0; i < writers; i++)); do ! wait "${pids[i]}" || won+=("$i"); done
}

own_branch() { echo "refs/heads/round-$round-$1"; }
one_branch() { echo "refs/heads/race-$round"; }

race() {
  local start i listed
  make_tips
  start=$(now)
  push_tips own_branch
  took=$(($(now) - start))
  note "$files" "pushes to $writers branches" "$took"
  branches_ms=$took
  ((${#won[@]} == writers)) || report "${#won[@]} of $writers pushes to branches of their own won"
  git -C "$copy" push -q "$remote" "$head:$(one_branch)"
  start=$(now)
  push_tips one_branch
  took=$(($(now) - start))
  note "$files" "$writers pushes to one branch" "$took"
  one_ms=$took
  ((${#won[@]} == 1)) || report "${#won[@]} of $writers pushes to one branch from one commit won"
  listed=$(git ls-remote "$remote")
  for ((i = 0; i < writers; i++)); do
    [[ $listed == *"${tips[i]}"$'\t'"$(own_branch "$i")"* ]] || report "the branch of writer $i is lost"
  done
  [[ ${#won[@]} != 1 || $listed == *"${tips[won[0]]}"$'\t'"$(one_branch)"* ]] ||
    report 'the push that won the race is lost'
}

row 'ms, by files' push clone incremental branches 'one branch' storm
for files in "${sizes[@]}"; do
  columns=()
  copy=$work/$files
  make_repository "$copy" "$files"
  name_remote "files-$files"
  take git -C "$copy" push -q "$remote" main
  record push
  take git clone -q "$remote" "$work/clone"
  record clone
  check_clone "$work/clone" "$(git -C "$copy" rev-parse main)"
  echo changed >"$copy/dir-0/changed"
  git -C "$copy" add -A
  git -C "$copy" commit -q -m change
  take git -C "$copy" push -q "$remote" main
  record 'incremental push'
  head=$(git -C "$copy" rev-parse main)
  git -C "$work/clone" pull -q
  check_clone "$work/clone" "$head"
  for ((round = 1; round <= rounds; round++)); do race; done
  columns+=("$branches_ms" "$one_ms")
  take clone_all
  record "$CLONES shallow clones"
  for ((i = 0; i < CLONES; i++)); do check_clone "$work/storm-$i" "$head"; done
  row "$files" "${columns[@]}"
  rm -rf "$work/clone" "$work"/storm-* "$copy"
done

printf '%s wrong\n' "$wrong"
((wrong == 0))
