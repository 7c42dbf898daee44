/** What commits lead to, exactly: sets that can be subtracted. */
import { git } from "../../test/harness/git.ts";

/** Everything that each of a number of commits leads to, trees and blobs included. */
export class Closures {
  /** Each object's number. */
  readonly #numbers = new Map<string, number>();
  readonly #oids: string[] = [];
  /** By commit: one bit an object. */
  readonly #sets = new Map<string, Uint8Array>();

  private constructor(oids: readonly string[]) {
    for (const oid of oids) this.#numbers.set(oid, this.#oids.push(oid) - 1);
  }

  /** Reads the closures of commits. What a commit leads to is itself, its tree's entries, and what its parents lead to; git lists
   * each of the three without heuristics (`rev-list A ^B` knows only the trees at the border).
   * @param dir a repository that has every object
   * @param commits with each commit before its descendants; parents that are not among them cost a walk of the history each */
  static async read(dir: string, commits: readonly string[]): Promise<Closures> {
    const all = await git(dir, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)");
    const closures = new Closures(all.split("\n"));
    for (const commit of commits) await closures.#add(dir, commit);
    return closures;
  }

  /** Objects that `to` leads to and `from` does not. */
  difference(to: string, from: string): Set<string> {
    const [wanted, had] = [this.#sets.get(to)!, this.#sets.get(from)!];
    const oids = new Set<string>();
    for (let byte = 0; byte < wanted.length; byte++) {
      const bits = wanted[byte]! & ~had[byte]!;
      for (let bit = 0; bits >> bit > 0; bit++) if ((bits >> bit) & 1) oids.add(this.#oids[8 * byte + bit]!);
    }
    return oids;
  }

  /** Whether `commit` leads to an object. */
  has(commit: string, oid: string): boolean {
    const number = this.#numbers.get(oid)!;
    return ((this.#sets.get(commit)![number >> 3]! >> (number & 7)) & 1) === 1;
  }

  async #add(dir: string, commit: string): Promise<void> {
    const [tree, parents = ""] = (await git(dir, "log", "-1", "--format=%T%n%P", commit)).split("\n");
    const set = new Uint8Array(Math.ceil(this.#oids.length / 8));
    for (const parent of parents.split(" ").filter(Boolean)) {
      if (!this.#sets.has(parent)) this.#sets.set(parent, await this.#walk(dir, parent));
      for (const [byte, bits] of this.#sets.get(parent)!.entries()) set[byte]! |= bits;
    }
    const listed = await git(dir, "ls-tree", "-r", "-t", "--format=%(objecttype) %(objectname)", commit);
    // A submodule's commit is in another repository.
    const entries = listed.split("\n").filter((line) => line !== "" && !line.startsWith("commit "));
    for (const oid of [commit, tree!, ...entries.map((line) => line.slice(5))]) this.#mark(set, oid);
    this.#sets.set(commit, set);
  }

  async #walk(dir: string, commit: string): Promise<Uint8Array> {
    const set = new Uint8Array(Math.ceil(this.#oids.length / 8));
    const listed = await git(dir, "rev-list", "--objects", "--no-object-names", commit);
    for (const oid of listed.split("\n")) this.#mark(set, oid);
    return set;
  }

  #mark(set: Uint8Array, oid: string): void {
    const number = this.#numbers.get(oid)!;
    set[number >> 3]! |= 1 << (number & 7);
  }
}
