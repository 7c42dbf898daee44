import type { Sql } from "./sql.ts";

/** One ref of a push: its name (byte string), old and new value in hex, null: absent. */
export type PushedRef = readonly [name: string, old: string | null, new: string | null];

/** What a push did. */
export interface NewPush {
  readonly timeMs: number;
  /** Who pushed, as a byte string; null: nobody said. @see nameOf */
  readonly who: string | null;
  /** The refs that moved. */
  readonly refs: readonly PushedRef[];
  /** Bytes of the pack as it came, 0 without one. */
  readonly packBytes: number;
  /** How many objects it added. */
  readonly objects: number;
}

/** A push as it was recorded; `refs` has the first `MAX_LISTED_REFS` of those asked for. */
export interface Push extends NewPush {
  readonly id: number;
  /** How many refs moved in all. */
  readonly refCount: number;
}

/** Some of the pushes. */
export interface PushPage {
  readonly pushes: readonly Push[];
  /** `before` of the next page, null: there is none. */
  readonly next: number | null;
}

/** Refs of a push that a page shows: one push may have moved 50,000. */
const MAX_LISTED_REFS = 100;

/** Pushes that a page looks at. */
const MAX_SEARCHED = 10_000;

const IS_NAMED = "(?3 IS NULL OR value ->> 0 IN (SELECT value FROM json_each(?3)))";

const PAGE = `SELECT id, time_ms AS timeMs, who, pack_bytes AS packBytes, objects, json_array_length(refs) AS refCount,
    (SELECT json_group_array(json(value)) FROM
      (SELECT value FROM json_each(pushes.refs) WHERE ${IS_NAMED} LIMIT ${MAX_LISTED_REFS})) AS refs
  FROM pushes WHERE id >= ?1 AND id < ?2 AND (?3 IS NULL OR EXISTS (SELECT 1 FROM json_each(pushes.refs) WHERE ${IS_NAMED}))
  ORDER BY id DESC LIMIT ?4`;

/** The repository's reflog: table `pushes`. */
export class PushLog {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Records a push.
   * @returns its id, which counts up from 1 */
  append(push: NewPush): number {
    return this.#sql
      .exec<{ id: number }>(
        `INSERT INTO pushes (time_ms, who, refs, pack_bytes, objects, total_bytes) VALUES (?, ?, ?, ?, ?, ?)
          RETURNING id`,
        push.timeMs,
        push.who,
        JSON.stringify(push.refs),
        push.packBytes,
        push.objects,
        this.totalBytes() + (push.objects > 0 ? push.packBytes : 0),
      )
      .one().id;
  }

  /** Bytes of all packs that brought objects: how much the repository has grown. Reads one row. */
  totalBytes(): number {
    const [row] = this.#sql
      .exec<{ bytes: number }>("SELECT total_bytes AS bytes FROM pushes ORDER BY id DESC LIMIT 1")
      .toArray();
    return row?.bytes ?? 0;
  }

  /** When the newest push was; null: there was none. */
  newestMs(): number | null {
    const query = "SELECT time_ms AS timeMs FROM pushes ORDER BY id DESC LIMIT 1";
    return this.#sql.exec<{ timeMs: number }>(query).toArray()[0]?.timeMs ?? null;
  }

  /** What pushes later than a time did, all in all: how many objects they brought, and the ids, packed, from and to which they moved refs. */
  since(timeMs: number): { objects: number; oids: Uint8Array } {
    const rows = this.#sql
      .exec<{ refs: string; objects: number }>("SELECT refs, objects FROM pushes WHERE time_ms > ?", timeMs)
      .toArray();
    const hex = rows.flatMap(({ refs }) => (JSON.parse(refs) as PushedRef[]).flatMap(([, from, to]) => [from, to]));
    return {
      objects: rows.reduce((sum, { objects }) => sum + objects, 0),
      oids: Uint8Array.fromHex(hex.filter((oid) => oid !== null).join("")),
    };
  }

  /** When the oldest push was that is not the newest too; null: there is none. */
  oldestMs(): number | null {
    const query = "SELECT time_ms AS timeMs FROM pushes WHERE id < (SELECT max(id) FROM pushes) ORDER BY id LIMIT 1";
    return this.#sql.exec<{ timeMs: number }>(query).toArray()[0]?.timeMs ?? null;
  }

  /** Forgets the oldest pushes, those before a time, but never the newest: what has been pushed in all is counted there.
   * @param most how many at once
   * @returns how many */
  removeBefore(timeMs: number, most: number): number {
    const removed = this.#sql.exec(
      `DELETE FROM pushes WHERE id IN (SELECT id FROM pushes WHERE id < (SELECT max(id) FROM pushes) ORDER BY id LIMIT ?)
        AND time_ms < ? RETURNING id`,
      most,
      timeMs,
    );
    return removed.toArray().length;
  }

  /** The newest pushes first. One page looks at `MAX_SEARCHED` pushes at the most, and may so have none.
   * @param before only those with a lower id, null: from the newest
   * @param names only those that moved one of these refs, and of what they moved only these; null: all */
  page(before: number | null, limit: number, names: readonly string[] | null = null): PushPage {
    const { first, last } = this.#sql
      .exec<{ first: number; last: number }>(
        "SELECT ifnull(min(id), 1) AS first, ifnull(max(id), 0) AS last FROM pushes",
      )
      .one();
    const end = Math.min(before ?? Infinity, last + 1);
    const start = Math.max(end - MAX_SEARCHED, first);
    const rows = this.#sql
      .exec<{
        id: number;
        timeMs: number;
        who: string | null;
        refs: string;
        refCount: number;
        packBytes: number;
        objects: number;
      }>(PAGE, start, end, names === null ? null : JSON.stringify(names), limit + 1)
      .toArray();
    const pushes = rows.slice(0, limit).map((row) => ({ ...row, refs: JSON.parse(row.refs) as PushedRef[] }));
    const next = rows.length > limit ? pushes.at(-1)!.id : start;
    return { pushes, next: next > first ? next : null };
  }
}
