/** Upload sessions at a server of their own, as programs use them. */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { type Answer, askApi } from "./api.ts";
import { git, tryGit } from "./git.ts";
import { makeHistory } from "./history.ts";
import { type Server, startServer } from "./server.ts";

/** A session, as the API shows it. */
export interface Upload {
  readonly id: string;
  readonly complete: boolean;
  readonly steps: number;
  readonly tips: readonly string[];
  readonly parts: readonly { part: number; sizeBytes: number; checksum: string }[];
  readonly underWay: { readonly title: string; readonly done: number; readonly total: number } | null;
}

type Session = Pick<Upload, "id">;

/** What is there of an answer that is none. */
interface Failure {
  readonly error?: { readonly code: string; readonly message: string };
}

/** Of what one part has here, and may have. */
const PART_BYTES = 20_000;
export const MAX_PART_BYTES = 8_000_000;
/** Of one object. */
export const MAX_FILE_BYTES = 10_000_000;

/** What Node's `fetch` asks for when a body is a stream. */
const HALF_DUPLEX = { duplex: "half" };

/** A server, and a history for it. */
export class UploadBench {
  readonly server: Server;
  readonly dir: string;
  /** Commits of `main`, the oldest first. */
  readonly commits: readonly string[];

  private constructor(server: Server, dir: string, commits: readonly string[]) {
    this.server = server;
    this.dir = dir;
    this.commits = commits;
  }

  /** @param constants of the Worker's code to replace */
  static async open(constants: Readonly<Record<string, number>> = {}): Promise<UploadBench> {
    const limits = { maxPartBytes: MAX_PART_BYTES, maxObjectSizeBytes: MAX_FILE_BYTES, pruneGraceMs: 0 };
    const server = await startServer({ vars: { LIMITS: JSON.stringify(limits) }, constants });
    const dir = await makeHistory({ commits: 60, files: 20 });
    return new UploadBench(server, dir, (await git(dir, "rev-list", "--reverse", "main")).split("\n"));
  }

  close(): Promise<void> {
    return this.server.close();
  }

  async makeRepository(name: string): Promise<void> {
    const [owner, repository] = name.split("/");
    const made = await askApi(this.server, "/repos", { method: "POST", json: { owner, name: repository } });
    expect(made.status).toBe(201);
  }

  async begin(name: string, wanted: Record<string, unknown> = {}): Promise<Upload> {
    const path = `/repos/${name}/uploads`;
    const { status, body } = await askApi<Upload>(this.server, path, { method: "POST", json: wanted });
    expect(status, JSON.stringify(body)).toBe(201);
    return body;
  }

  read(name: string, { id }: Session): Promise<Answer<Upload>> {
    return askApi<Upload>(this.server, `/repos/${name}/uploads/${id}`);
  }

  remove(name: string, { id }: Session): Promise<Answer<unknown>> {
    return askApi(this.server, `/repos/${name}/uploads/${id}`, { method: "DELETE" });
  }

  /** The thin pack of what `tip` has and `base` has not. */
  async makePack(tip: string, base: string | null): Promise<Buffer> {
    const stdin = `${tip}\n${base === null ? "" : `^${base}\n`}`;
    const args = ["pack-objects", "-q", "--thin", "--revs", "--stdout", "--delta-base-offset"];
    return (await tryGit(this.dir, args, { stdin })).stdoutBytes;
  }

  put(name: string, { id }: Session, part: number, bytes: Buffer, sha256 = hashOf(bytes)): Promise<Answer<Failure>> {
    const path = `/repos/${name}/uploads/${id}/parts/${part}?sha256=${sha256}`;
    return askApi<Failure>(this.server, path, {
      method: "PUT",
      body: new Uint8Array(bytes),
      headers: { "Content-Type": "application/octet-stream" },
    });
  }

  /** Sends a pack in parts from a number on, the last first. */
  async putPack(name: string, upload: Session, first: number, pack: Buffer): Promise<number[]> {
    const parts = Array.from({ length: Math.ceil(pack.length / PART_BYTES) }, (_, i) => first + i);
    for (const part of parts.toReversed()) {
      const at = (part - first) * PART_BYTES;
      expect((await this.put(name, upload, part, pack.subarray(at, at + PART_BYTES))).status).toBe(204);
    }
    return parts;
  }

  /** @param parts their numbers */
  index(name: string, { id }: Session, parts: number[], tips: string[]): Promise<Answer<Upload & Failure>> {
    const path = `/repos/${name}/uploads/${id}/steps`;
    return askApi<Upload & Failure>(this.server, path, { method: "POST", json: { parts, tips } });
  }

  /** Sends a pack, or its beginning.
   * @param from the number of the part in which it goes on; null: there is none */
  send(
    name: string,
    { id }: Session,
    body: BodyInit,
    from: number | null,
    tips: string[],
  ): Promise<Answer<Upload & Failure>> {
    const behind = from === null ? "" : `&from=${from}`;
    const path = `/repos/${name}/uploads/${id}/packs?tips=${tips.join(",")}${behind}`;
    const headers = { "Content-Type": "application/octet-stream" };
    return askApi<Upload & Failure>(this.server, path, { method: "POST", body, headers, ...HALF_DUPLEX });
  }

  /** @param refs where each is, and is to be */
  complete(
    name: string,
    { id }: Session,
    refs: Readonly<Record<string, readonly [string | null, string | null]>>,
  ): Promise<Answer<{ refs: { name: string; refused: string | null }[] } & Failure>> {
    const moves = Object.entries(refs).map(([ref, [old, to]]) => ({ name: ref, old, new: to }));
    return askApi(this.server, `/repos/${name}/uploads/${id}/complete`, { method: "POST", json: { refs: moves } });
  }

  /** Sends `main` up to its last commit, in steps. */
  async sendAll(name: string, upload: Session): Promise<void> {
    let base: string | null = null;
    let part = 1;
    for (const tip of [this.commits[20]!, this.commits[40]!, this.commits.at(-1)!]) {
      const parts = await this.putPack(name, upload, part, await this.makePack(tip, base));
      expect((await this.index(name, upload, parts, [tip])).status).toBe(200);
      part += parts.length;
      base = tip;
    }
  }

  async runJobs(name: string): Promise<void> {
    expect((await askApi(this.server, `/repos/${name}/maintenance`, { method: "POST" })).status).toBe(200);
  }

  /** Waits until no R2 object's key has the text. */
  async awaitGone(text: string): Promise<void> {
    // An object that goes while it is read fails the read.
    const count = (): Promise<number> =>
      this.server.readObjects(text).then(
        ({ size }) => size,
        () => Infinity,
      );
    for (let tries = 0; (await count()) > 0; tries++) {
      expect(tries, "R2 objects are still there").toBeLessThan(100);
      await sleep(100);
    }
  }
}

/** SHA-256, hex. */
export function hashOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
