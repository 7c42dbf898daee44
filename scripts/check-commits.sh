#!/usr/bin/env bash
# Checks the subjects of all commits since this check was added: "area: imperative subject" in 72
# characters, as CONTRIBUTING.md has it. Exit status: 0 if all are right, 1 otherwise.
set -euo pipefail
cd "$(dirname "$0")/.."

[[ $(git rev-parse --is-shallow-repository) == false ]] || {
  echo "the commits cannot be checked in a shallow clone; git fetch --unshallow makes it whole" >&2
  exit 1
}
since=$(git log --diff-filter=A --format=%H -- scripts/check-commits.sh | tail -n 1)
wrong=$(git log --no-merges --format='%h %s' "$since.." | while read -r id subject; do
  [[ $subject =~ ^[a-z0-9./-]+:\ [a-z0-9.\`\"] && ${#subject} -le 72 ]] || echo "$id $subject"
done)
[[ -z $wrong ]] || {
  printf 'These subjects are not "area: imperative subject" within 72 characters:\n%s\n' "$wrong" >&2
  exit 1
}
