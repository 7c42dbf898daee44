/** Mirrors of repositories at the tested server. */
import { setTimeout as sleep } from "node:timers/promises";
import { askApi } from "./api.ts";
import type { Server } from "./server.ts";

/** A mirror, as the API shows it. */
export interface Mirror {
  readonly id: string;
  readonly state: "synced" | "pending" | "failing";
  readonly error: string | null;
  readonly failures: number;
  readonly hasAuthorization: boolean;
  readonly maxPackBytes: number | null;
  readonly mirroredRefs: number;
  readonly refusedRefs: number;
  readonly extraRefs: number;
  readonly pushes: number;
  readonly objects: number;
  readonly lfs: {
    readonly objects: number;
    readonly bytes: number;
    readonly missing: number;
    readonly refused: number;
    readonly refusal: string | null;
  } | null;
  readonly underWay: { readonly done: number; readonly total: number } | null;
}

/** A ref of a mirror, as the API shows it. */
export interface MirroredRef {
  readonly name: string;
  readonly state: "synced" | "pending" | "refused";
  readonly here: string | null;
  readonly there: string | null;
  readonly refusal: string | null;
}

/** The mirrors of one repository. */
export class Mirrors {
  readonly #server: Pick<Server, "url">;
  readonly #path: string;

  /** @param name of the repository, with its owner */
  constructor(server: Pick<Server, "url">, name: string) {
    this.#server = server;
    this.#path = `/repos/${name}/mirrors`;
  }

  /** @throws Error when it is refused */
  async create(json: Readonly<Record<string, unknown>>): Promise<Mirror> {
    return this.#ask("POST", "", 201, json);
  }

  read(id: string): Promise<Mirror> {
    return this.#ask("GET", `/${id}`, 200);
  }

  change(id: string, json: Readonly<Record<string, unknown>>): Promise<Mirror> {
    return this.#ask("PATCH", `/${id}`, 200, json);
  }

  sync(id: string): Promise<Mirror> {
    return this.#ask("POST", `/${id}/sync`, 202);
  }

  async delete(id: string): Promise<void> {
    await this.#ask("DELETE", `/${id}`, 204);
  }

  /** What became of each ref.
   * @param limit of each page */
  async refs(id: string, state: "all" | "refused" = "all", limit = 100): Promise<MirroredRef[]> {
    const refs: MirroredRef[] = [];
    for (let cursor = ""; ;) {
      const path = `/${id}/refs?state=${state}&limit=${limit}${cursor}`;
      const page = await this.#ask<{ refs: MirroredRef[]; nextCursor: string | null }>("GET", path, 200);
      for (const ref of page.refs) refs.push(ref);
      if (page.nextCursor === null) return refs;
      cursor = `&cursor=${page.nextCursor}`;
    }
  }

  /** Waits until a mirror is in a state.
   * @throws Error after 30 seconds */
  async settled(id: string, state: Mirror["state"] = "synced"): Promise<Mirror> {
    for (let looks = 0; looks < 1_500; looks++) {
      const found = await this.read(id);
      if (found.state === state) return found;
      await sleep(20);
    }
    throw new Error(`the mirror has not become ${state}: ${JSON.stringify(await this.read(id))}`);
  }

  async #ask<Body = Mirror>(method: string, below: string, wanted: number, json?: unknown): Promise<Body> {
    const init = { method, ...(json !== undefined && { json }) };
    const { status, body } = await askApi<Body>(this.#server, this.#path + below, init);
    if (status !== wanted) throw new Error(`${method} ${below} answered ${status}: ${JSON.stringify(body)}`);
    return body;
  }
}
