"""Runs one command of test/foreign/program.ts with dulwich."""

import sys

from dulwich import porcelain


def clone(url, dir, depth):
    porcelain.clone(url, dir, depth=int(depth) or None)


def deepen(dir, depth):
    porcelain.fetch(dir, "origin", depth=int(depth))


def pull(dir):
    porcelain.pull(dir, "origin", "refs/heads/main")


def push(dir, *refspecs):
    porcelain.push(dir, "origin", list(refspecs), force=refspecs[0].startswith("+"))


{"clone": clone, "deepen": deepen, "pull": pull, "push": push}[sys.argv[1]](*sys.argv[2:])
