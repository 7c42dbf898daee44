import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { lock } from "./lock.ts";
import type { Part } from "./packs.ts";
import type { Step } from "./plan.ts";

/** A packed step that the server has not indexed yet. */
export interface PackedStep extends Step {
  readonly parts: readonly Part[];
}

/** An upload session in progress. */
export interface SavedUpload {
  /** Id of the session on the server. */
  readonly id: string;
  /** Push options of the session. */
  readonly options: readonly string[];
  /** The number of the next part. */
  nextPart: number;
  /** In order. */
  steps: PackedStep[];
}

/** Saved state of the push to one URL: `$GIT_DIR/holdfast/<hash>/`. */
export class Saved {
  readonly #dir: string;
  /** Whether another push uses the folder of this URL. Then this one has a folder that no later
   * push would find. */
  readonly #isSpare: boolean;

  private constructor(dir: string, isSpare: boolean) {
    this.#dir = dir;
    this.#isSpare = isSpare;
  }

  /** Opens the folder of a URL, or another one while a push from here to the same URL uses it. */
  static open(url: string): Saved {
    const gitDir = resolve(process.env["GIT_DIR"] ?? ".git");
    const name = createHash("sha256").update(url).digest("hex").slice(0, 16);
    for (const candidate of [name, `${name}-${process.pid}`]) {
      const dir = join(gitDir, "holdfast", candidate);
      mkdirSync(dir, { recursive: true });
      if (lock(join(dir, "lock"))) return new Saved(dir, candidate !== name);
    }
    throw new Error("the folder holdfast in the repository's directory cannot be locked");
  }

  /** Reads the upload that was interrupted; null: none. */
  read(): SavedUpload | null {
    try {
      return JSON.parse(readFileSync(join(this.#dir, "upload.json"), "utf8")) as SavedUpload;
    } catch {
      // There is none, or a crash of the machine has damaged it: then the push begins again.
      return null;
    }
  }

  /** Saves the upload in progress. */
  write(upload: SavedUpload): void {
    const path = join(this.#dir, "upload.json");
    writeFileSync(`${path}.new`, JSON.stringify(upload));
    renameSync(`${path}.new`, path);
  }

  pathOf(part: number): string {
    return join(this.#dir, `${part}.part`);
  }

  /** Removes the files of parts. */
  drop(parts: readonly Part[]): void {
    for (const { number } of parts) rmSync(this.pathOf(number), { force: true });
  }

  /** Removes the files of all parts, including those of an unfinished pack. */
  dropAll(): void {
    for (const name of readdirSync(this.#dir)) if (name.endsWith(".part")) rmSync(join(this.#dir, name));
  }

  /** Removes the folder. */
  clear(): void {
    rmSync(this.#dir, { recursive: true, force: true });
  }

  /** Lets others use the folder. */
  close(): void {
    if (this.#isSpare) this.clear();
    else rmSync(join(this.#dir, "lock"), { force: true });
  }
}
