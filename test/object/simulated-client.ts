/** A client whose every step the test chooses, with a repository on disk that git itself keeps. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ObjectFilter } from "../../src/base/format/filter.ts";
import { toHex } from "../../src/base/format/oid.ts";
import type { Deepen } from "../../src/contract/fetch.ts";
import { git, makeRepository, tryGit } from "../harness/git.ts";
import { findEarlyDeltas } from "../harness/pack-reader.ts";
import { CLONE_REQUEST, plannedPack } from "./clone-request.ts";
import type { PushedRepository } from "./pushing.ts";
import { fromHex } from "./stored-repository.ts";

/** Parents of every commit. */
export type Parents = ReadonlyMap<string, readonly string[]>;

/** The request of one fetch; ids in hex. */
export interface SimulatedFetch {
  readonly wants: readonly string[];
  readonly haves: readonly string[];
  readonly deepen: Deepen | null;
  readonly includeTag: boolean;
  /** Whether deltas may have bases that the client has. */
  readonly thinPack: boolean;
  /** Whether deltas may name their base by its distance. */
  readonly ofsDelta: boolean;
}

/** Reads the commits of a repository. */
export async function readParents(dir: string): Promise<Parents> {
  const lines = (await git(dir, "log", "--all", "--format=%H %P")).split("\n");
  return new Map(lines.map((line) => line.trim().split(" ")).map(([oid, ...parents]) => [oid!, parents]));
}

/** A bare repository that receives packs as `git fetch` would: it keeps its refs, its shallow
 * commits and its filter. */
export class SimulatedClient {
  readonly dir: string;
  readonly #filter: ObjectFilter | null;
  readonly #parents: Parents;
  /** What its refs name: commits, and tags with what they point to. */
  readonly tips = new Set<string>();
  readonly shallow = new Set<string>();

  private constructor(dir: string, filter: ObjectFilter | null, parents: Parents) {
    this.dir = dir;
    this.#filter = filter;
    this.#parents = parents;
  }

  /** @param filter what is fetched only when needed; null: no filter */
  static async make(filter: ObjectFilter | null, parents: Parents): Promise<SimulatedClient> {
    const dir = await makeRepository("client.git", "--bare");
    if (filter !== null) {
      const config = "[core]\n\trepositoryFormatVersion = 1\n\tbare = true\n[extensions]\n\tpartialClone = origin\n";
      // No server answers at this URL, so relying on an object that the client lacks fails.
      writeFileSync(
        join(dir, "config"),
        `${config}[remote "origin"]\n\turl = ${join(dir, "nowhere")}\n\tpromisor = true\n`,
      );
    }
    return new SimulatedClient(dir, filter, parents);
  }

  /** The commits that it can say it has: everything its refs reach, down to the shallow
   * boundary. */
  listCommits(): string[] {
    const reached = new Set([...this.tips].filter((oid) => this.#parents.has(oid)));
    for (const oid of reached) {
      if (this.shallow.has(oid)) continue;
      for (const parent of this.#parents.get(oid)!) reached.add(parent);
    }
    return [...reached];
  }

  /** Fetches, and stores what comes.
   * @returns how many objects came; null: the fetch was refused */
  async fetch(server: PushedRepository, { wants, haves, ...options }: SimulatedFetch): Promise<number | null> {
    const outcome = await server.repository.fetch({
      ...CLONE_REQUEST,
      wants: fromHex(wants.join("")),
      haves: fromHex(haves.join("")),
      shallows: fromHex([...this.shallow].join("")),
      ...options,
      filter: this.#filter,
    });
    if (outcome.kind === "refused") return null;
    const pack = await server.stream(plannedPack(outcome));
    if (outcome.kind === "negotiated" && outcome.shallowUpdate !== null) {
      for (const oid of listIds(outcome.shallowUpdate.shallow)) this.shallow.add(oid);
      for (const oid of listIds(outcome.shallowUpdate.unshallow)) this.shallow.delete(oid);
    }
    for (const oid of wants) this.tips.add(oid);
    this.#writeRefs();
    const count = pack.readUInt32BE(8);
    if (count > 0) await this.#index(pack);
    return count;
  }

  /** Deletes the refs that name an object; what they reached stays. */
  forget(oid: string): void {
    this.tips.delete(oid);
    this.#writeRefs();
  }

  /** What git reports as missing in the repository: empty when complete. */
  async findHoles(): Promise<string> {
    const { code, stdout, stderr } = await tryGit(this.dir, ["fsck", "--connectivity-only", "--no-dangling"]);
    return code === 0 && stdout === "" ? "" : `exit code ${code}\n${stdout}${stderr}`;
  }

  #writeRefs(): void {
    const lines = [...this.tips].map((oid) => `${oid} refs/got/${oid}\n`);
    writeFileSync(join(this.dir, "packed-refs"), lines.join(""));
    if (this.shallow.size > 0 || existsSync(join(this.dir, "shallow"))) {
      writeFileSync(join(this.dir, "shallow"), [...this.shallow].map((oid) => `${oid}\n`).join(""));
    }
  }

  /** @throws Error when a delta's base is missing, or follows the delta */
  async #index(pack: Buffer): Promise<void> {
    const promisor = this.#filter === null ? [] : ["--promisor"];
    const args = ["index-pack", "--stdin", "--fix-thin", "--threads=1", ...promisor];
    const { code, stdout, stderr } = await tryGit(this.dir, args, { stdin: pack });
    if (code !== 0) throw new Error(`git index-pack ended with ${code}: ${stderr}`);
    const index = readFileSync(join(this.dir, "objects/pack", `pack-${stdout.trim().split("\t")[1]!}.idx`));
    const entries = (await tryGit(this.dir, ["show-index"], { stdin: index })).stdout.trim().split("\n");
    const offsets = entries.map((line) => line.split(" ")).map(([offset, oid]) => [oid!, Number(offset)] as const);
    const early = findEarlyDeltas(pack, new Map(offsets));
    if (early.length > 0) throw new Error(`deltas before their bases: ${early.join(" ")}`);
  }
}

function listIds(oids: Uint8Array): string[] {
  return Array.from({ length: oids.length / 20 }, (_, i) => toHex(oids, i * 20));
}
