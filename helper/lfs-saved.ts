import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { git } from "./git.ts";
import { lock } from "./lock.ts";

/** The upload of one file that is under way: its id, in `$GIT_DIR/holdfast/lfs/<hash>`. */
export class SavedLfsUpload {
  readonly #path: string;
  /** Whether another process sends the same file, and this one has an upload of its own. */
  readonly #isSpare: boolean;

  private constructor(path: string, isSpare: boolean) {
    this.#path = path;
    this.#isSpare = isSpare;
  }

  /** @param href where uploads of the file begin */
  static async open(href: string): Promise<SavedLfsUpload> {
    const gitDir = (await git(["rev-parse", "--git-common-dir"])).trimEnd();
    const dir = join(gitDir, "holdfast", "lfs");
    mkdirSync(dir, { recursive: true });
    const path = join(dir, createHash("sha256").update(href).digest("hex").slice(0, 16));
    return new SavedLfsUpload(path, !lock(`${path}.lock`));
  }

  /** The id of the upload that was cut; null: there is none. */
  read(): string | null {
    if (this.#isSpare) return null;
    try {
      return readFileSync(this.#path, "utf8");
    } catch {
      return null;
    }
  }

  /** Notes the upload that is under way. */
  write(id: string): void {
    if (this.#isSpare) return;
    writeFileSync(`${this.#path}.new`, id);
    renameSync(`${this.#path}.new`, this.#path);
  }

  /** Forgets it. */
  clear(): void {
    if (!this.#isSpare) rmSync(this.#path, { force: true });
  }

  /** Lets others go on with it. */
  close(): void {
    if (!this.#isSpare) rmSync(`${this.#path}.lock`, { force: true });
  }
}
