// Runs one command of test/foreign/program.ts with go-git.
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
)

func main() {
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(command string, args []string) error {
	switch command {
	case "clone":
		depth, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		_, err = git.PlainClone(args[1], false, &git.CloneOptions{URL: args[0], Depth: depth, Tags: git.AllTags})
		return err
	case "deepen":
		depth, err := strconv.Atoi(args[1])
		if err != nil {
			return err
		}
		repository, err := git.PlainOpen(args[0])
		if err != nil {
			return err
		}
		return repository.Fetch(&git.FetchOptions{Depth: depth})
	case "pull":
		repository, err := git.PlainOpen(args[0])
		if err != nil {
			return err
		}
		worktree, err := repository.Worktree()
		if err != nil {
			return err
		}
		return worktree.Pull(&git.PullOptions{})
	case "push":
		repository, err := git.PlainOpen(args[0])
		if err != nil {
			return err
		}
		refspecs := make([]config.RefSpec, 0, len(args)-1)
		for _, refspec := range args[1:] {
			refspecs = append(refspecs, config.RefSpec(refspec))
		}
		return repository.Push(&git.PushOptions{RefSpecs: refspecs})
	}
	return errors.New("unknown command " + command)
}
