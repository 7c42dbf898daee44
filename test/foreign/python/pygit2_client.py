"""Runs one command of test/foreign/program.ts with libgit2, through pygit2."""

import sys

import pygit2


class Report(pygit2.RemoteCallbacks):
    """Raises an error for a refused ref."""

    def push_update_reference(self, refname, message):
        if message is not None:
            raise RuntimeError(f"{refname}: {message}")


def clone(url, dir, depth):
    pygit2.clone_repository(url, dir, depth=int(depth))


def deepen(dir, depth):
    pygit2.Repository(dir).remotes["origin"].fetch(depth=int(depth))


def pull(dir):
    """Fetches, and moves `main` to the remote's commit."""
    repository = pygit2.Repository(dir)
    repository.remotes["origin"].fetch()
    tip = repository.references["refs/remotes/origin/main"].target
    repository.checkout_tree(repository[tip])
    repository.references["refs/heads/main"].set_target(tip)


def push(dir, *refspecs):
    pygit2.Repository(dir).remotes["origin"].push(list(refspecs), callbacks=Report())


{"clone": clone, "deepen": deepen, "pull": pull, "push": push}[sys.argv[1]](*sys.argv[2:])
