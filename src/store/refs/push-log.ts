import { concatOids } from "../../format/oid.ts";
import { BLOB_MAX_BYTES, type Sql } from "../sql/sql.ts";

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

/** Sums over all pushes, those that are forgotten too. */
interface PushSums {
  /** Bytes of the packs that brought objects. */
  readonly totalBytes: number;
  /** Bytes of the refs. */
  readonly logBytes: number;
}

/** Some of the pushes. */
export interface PushPage {
  readonly pushes: readonly Push[];
  /** `before` of the next page, null: there is none. */
  readonly next: number | null;
}

/** Refs of a push that a page shows: one push may have moved 150,000. */
const MAX_LISTED_REFS = 100;

/** Pushes that a page looks at. */
const MAX_SEARCHED = 10_000;

/** Characters of JSON in one value: as UTF-8 each takes two bytes at the most, and a value has `BLOB_MAX_BYTES`. */
const PART_CHARS = BLOB_MAX_BYTES / 2;

/** What is left when the log has grown too long: room for more, so that not each push has to make some. */
const KEPT_SHARE = 7 / 8;

const MOVED = `SELECT value FROM json_each(pushes.refs)
  UNION ALL SELECT moved.value FROM pushed_refs CROSS JOIN json_each(pushed_refs.refs) AS moved WHERE push = pushes.id`;

const IS_NAMED = "(?3 IS NULL OR value ->> 0 IN (SELECT value FROM json_each(?3)))";

const PAGE = `SELECT id, time_ms AS timeMs, who, pack_bytes AS packBytes, objects,
    json_array_length(refs) + (SELECT ifnull(sum(json_array_length(refs)), 0) FROM pushed_refs WHERE push = pushes.id) AS refCount,
    (SELECT json_group_array(json(value)) FROM
      (SELECT value FROM (${MOVED}) WHERE ${IS_NAMED} LIMIT ${MAX_LISTED_REFS})) AS refs
  FROM pushes WHERE id >= ?1 AND id < ?2 AND (?3 IS NULL OR EXISTS (SELECT 1 FROM (${MOVED}) WHERE ${IS_NAMED}))
  ORDER BY id DESC LIMIT ?4`;

/** Bytes of a push's refs as they are stored: told by the rows' headers. */
const BYTES = `octet_length(refs) + (SELECT ifnull(sum(octet_length(refs)), 0) FROM pushed_refs WHERE push = pushes.id)`;

/** The repository's reflog: tables `pushes` and `pushed_refs`. */
export class PushLog {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Records a push. @see appendAll */
  append(push: NewPush, maxBytes = Infinity): number {
    return this.appendAll([push], maxBytes)[0]!;
  }

  /** Records pushes, at least one, and forgets the oldest when the log is too long with them; belongs in a transaction.
   * @param maxBytes of the refs of all pushes, unless the last of these alone has more
   * @returns their ids, which count up from 1 */
  appendAll(pushes: readonly NewPush[], maxBytes: number): number[] {
    let sums = this.#newest();
    const ids: number[] = [];
    for (const push of pushes) {
      const { id, ...now } = this.#insert(push, sums);
      ids.push(id);
      sums = now;
    }
    this.#shorten(ids.at(-1)!, maxBytes);
    return ids;
  }

  /** @param before sums over all pushes so far
   * @returns the same with this one, and its id */
  #insert(push: NewPush, before: PushSums): PushSums & { id: number } {
    const [first, ...more] = inParts(push.refs);
    const totalBytes = before.totalBytes + (push.objects > 0 ? push.packBytes : 0);
    const { id, logBytes } = this.#sql
      .exec<{ id: number; logBytes: number }>(
        `INSERT INTO pushes (time_ms, who, refs, pack_bytes, objects, total_bytes, log_bytes)
          VALUES (?, ?, ?, ?, ?, ?, ? + octet_length(?3)) RETURNING id, log_bytes AS logBytes`,
        push.timeMs,
        push.who,
        first!,
        push.packBytes,
        push.objects,
        totalBytes,
        before.logBytes,
      )
      .one();
    for (const [i, refs] of more.entries()) {
      this.#sql.exec("INSERT INTO pushed_refs (push, part, refs) VALUES (?, ?, ?)", id, i + 1, refs);
      this.#sql.exec("UPDATE pushes SET log_bytes = log_bytes + octet_length(?) WHERE id = ?", refs, id);
    }
    return { id, totalBytes, logBytes: more.length === 0 ? logBytes : this.#newest().logBytes };
  }

  /** Bytes of all packs that brought objects: how much the repository has grown. Reads one row. */
  totalBytes(): number {
    return this.#newest().totalBytes;
  }

  /** Bytes of the refs of all pushes that are there. Reads two rows. */
  sizeBytes(): number {
    // An older release that was gone back to counted nothing.
    return Math.max(0, this.#newest().logBytes - this.#forgottenBytes());
  }

  /** When the newest push was; null: there was none. */
  newestMs(): number | null {
    const query = "SELECT time_ms AS timeMs FROM pushes ORDER BY id DESC LIMIT 1";
    return this.#sql.exec<{ timeMs: number }>(query).toArray()[0]?.timeMs ?? null;
  }

  /** When the newest of the pushes was that went to make room for others; null: none had to, of those that would still be there. */
  forgottenMs(): number | null {
    const query = "SELECT before_ms AS timeMs FROM pushes ORDER BY id LIMIT 1";
    return this.#sql.exec<{ timeMs: number | null }>(query).toArray()[0]?.timeMs ?? null;
  }

  /** What pushes later than a time did, all in all: how many objects they brought, and the ids, packed, from and to which they moved refs.
   * Of those that went before their time nothing is known (`forgottenMs`). */
  since(timeMs: number): { objects: number; oids: Uint8Array } {
    const { objects } = this.#sql
      .exec<{ objects: number }>("SELECT ifnull(sum(objects), 0) AS objects FROM pushes WHERE time_ms > ?", timeMs)
      .one();
    const parts = this.#sql.exec<{ refs: string }>(
      `SELECT refs FROM pushes WHERE time_ms > ?1
        UNION ALL SELECT pushed_refs.refs FROM pushed_refs JOIN pushes ON pushes.id = push WHERE time_ms > ?1`,
      timeMs,
    );
    // Part by part: all names at once would take more memory than there is.
    const oids = Array.from(parts, ({ refs }) => {
      const hex = (JSON.parse(refs) as PushedRef[]).map(([, from, to]) => (from ?? "") + (to ?? ""));
      return Uint8Array.fromHex(hex.join(""));
    });
    return { objects, oids: concatOids(oids) };
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
    const { length } = removed.toArray();
    this.#removeParts();
    return length;
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

  #newest(): PushSums {
    const query = "SELECT total_bytes AS totalBytes, log_bytes AS logBytes FROM pushes ORDER BY id DESC LIMIT 1";
    const [row] = this.#sql.exec<{ totalBytes: number; logBytes: number }>(query).toArray();
    return row ?? { totalBytes: 0, logBytes: 0 };
  }

  /** Bytes of the refs of those that are no longer there. */
  #forgottenBytes(): number {
    const query = `SELECT log_bytes - (${BYTES}) AS bytes FROM pushes ORDER BY id LIMIT 1`;
    return this.#sql.exec<{ bytes: number }>(query).toArray()[0]?.bytes ?? 0;
  }

  /** Forgets the oldest pushes, never the newest, when their refs take too much.
   * @param newest the newest push's id */
  #shorten(newest: number, maxBytes: number): void {
    const sizeBytes = this.sizeBytes();
    if (sizeBytes <= maxBytes) return;
    const untilBytes = this.#forgottenBytes() + sizeBytes - maxBytes * KEPT_SHARE;
    const last = this.#sql.exec<{ id: number; timeMs: number }>(
      `SELECT id, time_ms AS timeMs FROM pushes
        WHERE id < ?1 AND id <= (SELECT id FROM pushes WHERE log_bytes >= ?2 ORDER BY id LIMIT 1) ORDER BY id DESC LIMIT 1`,
      newest,
      untilBytes,
    );
    for (const { id, timeMs } of last.toArray()) {
      this.#sql.exec("DELETE FROM pushes WHERE id <= ?", id);
      this.#sql.exec("UPDATE pushes SET before_ms = ? WHERE id = (SELECT min(id) FROM pushes)", timeMs);
      this.#removeParts();
    }
  }

  #removeParts(): void {
    this.#sql.exec("DELETE FROM pushed_refs WHERE push < (SELECT min(id) FROM pushes)");
  }
}

/** Writes refs as JSON arrays, each short enough for one value; of none as an empty one. */
function inParts(refs: readonly PushedRef[]): string[] {
  const parts: string[] = [];
  let open = "";
  for (const ref of refs) {
    const json = JSON.stringify(ref);
    if (open !== "" && open.length + json.length + 3 > PART_CHARS) {
      parts.push(`[${open}]`);
      open = "";
    }
    open += open === "" ? json : `,${json}`;
  }
  parts.push(`[${open}]`);
  return parts;
}
