import { concatOids } from "../../../base/format/oid.ts";
import { BLOB_MAX_BYTES, type Sql } from "../sql/sql.ts";

/** One ref of a push: its name (byte string), old and new value in hex, null: absent. */
export type PushedRef = readonly [name: string, old: string | null, new: string | null];

/** A push to record. */
export interface NewPush {
  readonly timeMs: number;
  /** The name of the pusher, byte string; null: unknown.
   * @see nameOf */
  readonly who: string | null;
  /** The refs that moved. */
  readonly refs: readonly PushedRef[];
  /** Size of the received pack, bytes; 0: there was none. */
  readonly packBytes: number;
  /** Number of new objects. */
  readonly objects: number;
}

/** A recorded push; `refs` has at most the first `MAX_LISTED_REFS` of the requested ones. */
export interface Push extends NewPush {
  readonly id: number;
  /** Number of all refs that moved. */
  readonly refCount: number;
}

/** Sums over all pushes, including dropped ones. */
interface PushSums {
  /** Bytes of all packs that contained new objects. */
  readonly totalBytes: number;
  /** Bytes of the refs. */
  readonly logBytes: number;
}

/** A page of pushes. */
interface PushPage {
  readonly pushes: readonly Push[];
  /** `before` of the next page; null: there is none. */
  readonly next: number | null;
}

/** Limit of the refs per push on a page: one push may have moved 150,000. */
export const MAX_LISTED_REFS = 100;

/** Pushes that one page examines. */
const MAX_SEARCHED = 10_000;

/** Characters of JSON in one value: in UTF-8 each takes at most two bytes, and a value has up to
 * `BLOB_MAX_BYTES`. */
const PART_CHARS = BLOB_MAX_BYTES / 2;

/** Fraction of the log that is kept when it is too long, so that not every push must shorten it. */
const KEPT_SHARE = 7 / 8;

const MOVED = `SELECT value FROM json_each(pushes.refs)
  UNION ALL SELECT moved.value FROM pushed_refs CROSS JOIN json_each(pushed_refs.refs) AS moved WHERE push = pushes.id`;

const IS_NAMED = "(?3 IS NULL OR value ->> 0 IN (SELECT value FROM json_each(?3)))";

const LISTED = `SELECT id, time_ms AS timeMs, who, pack_bytes AS packBytes, objects,
    json_array_length(refs) + (SELECT ifnull(sum(json_array_length(refs)), 0) FROM pushed_refs WHERE push = pushes.id) AS refCount,
    (SELECT json_group_array(json(value)) FROM
      (SELECT value FROM (${MOVED}) WHERE ${IS_NAMED} LIMIT ${MAX_LISTED_REFS})) AS refs
  FROM pushes WHERE id >= ?1 AND id < ?2 AND (?3 IS NULL OR EXISTS (SELECT 1 FROM (${MOVED}) WHERE ${IS_NAMED}))`;

/** A push as it is listed. */
type ListedRow = Omit<Push, "refs"> & { refs: string } & Record<string, string | number | null>;

/** Stored bytes of a push's refs, which SQLite reads from the rows' headers. */
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

  /** Id of the next recorded push. Reads one row. */
  nextId(): number {
    return this.#sql.exec<{ id: number }>("SELECT ifnull(max(id), 0) + 1 AS id FROM pushes").one().id;
  }

  /** Records pushes, at least one, and drops the oldest when the log becomes too long; must run in
   * a transaction.
   * @param maxBytes limit for the refs of all pushes; the newest push is kept even if it alone
   *   exceeds it
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

  /** Inserts a push.
   * @param before sums over all earlier pushes
   * @returns the sums including this one, and its id */
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

  /** Bytes of all packs that contained new objects: the growth of the repository. Reads one row. */
  totalBytes(): number {
    return this.#newest().totalBytes;
  }

  /** Bytes of the refs of all pushes in the log. Reads two rows. */
  sizeBytes(): number {
    // At least 0: after a downgrade, the older release has not counted the bytes.
    return Math.max(0, this.#newest().logBytes - this.#forgottenBytes());
  }

  /** Time of the newest push; null: there was none. */
  newestMs(): number | null {
    const query = "SELECT time_ms AS timeMs FROM pushes ORDER BY id DESC LIMIT 1";
    return this.#sql.exec<{ timeMs: number }>(query).toArray()[0]?.timeMs ?? null;
  }

  /** Time of the newest push that was dropped for lack of space; null: there is none that would not
   * have expired by now. */
  forgottenMs(): number | null {
    const query = "SELECT before_ms AS timeMs FROM pushes ORDER BY id LIMIT 1";
    return this.#sql.exec<{ timeMs: number | null }>(query).toArray()[0]?.timeMs ?? null;
  }

  /** Sums over the pushes after a time: the number of their objects, and the packed ids from and to
   * which they moved refs. Does not cover pushes that were dropped early (`forgottenMs`). */
  since(timeMs: number): { objects: number; oids: Uint8Array } {
    const { objects } = this.#sql
      .exec<{ objects: number }>("SELECT ifnull(sum(objects), 0) AS objects FROM pushes WHERE time_ms > ?", timeMs)
      .one();
    const parts = this.#sql.exec<{ refs: string }>(
      `SELECT refs FROM pushes WHERE time_ms > ?1
        UNION ALL SELECT pushed_refs.refs FROM pushed_refs JOIN pushes ON pushes.id = push WHERE time_ms > ?1`,
      timeMs,
    );
    // Parses part by part, since all names at once would exceed the memory.
    const oids = Array.from(parts, ({ refs }) => {
      const hex = (JSON.parse(refs) as PushedRef[]).map(([, from, to]) => (from ?? "") + (to ?? ""));
      return Uint8Array.fromHex(hex.join(""));
    });
    return { objects, oids: concatOids(oids) };
  }

  /** Time of the oldest push, unless it is also the newest; null: none. */
  oldestMs(): number | null {
    const query = "SELECT time_ms AS timeMs FROM pushes WHERE id < (SELECT max(id) FROM pushes) ORDER BY id LIMIT 1";
    return this.#sql.exec<{ timeMs: number }>(query).toArray()[0]?.timeMs ?? null;
  }

  /** Drops the oldest pushes, those before a time, but never the newest, whose row has the sums.
   * @param most maximum number at once
   * @returns number of dropped pushes */
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

  /** Lists pushes, newest first. One page examines at most `MAX_SEARCHED` pushes, and so may be
   * empty.
   * @param before only pushes with a lower id; null: from the newest
   * @param names only pushes that moved one of these refs, and only these of their refs; null:
   *   all */
  page(before: number | null, limit: number, names: readonly string[] | null = null): PushPage {
    const { first, last } = this.#sql
      .exec<{ first: number; last: number }>(
        "SELECT ifnull(min(id), 1) AS first, ifnull(max(id), 0) AS last FROM pushes",
      )
      .one();
    const end = Math.min(before ?? Infinity, last + 1);
    const start = Math.max(end - MAX_SEARCHED, first);
    const query = `${LISTED} ORDER BY id DESC LIMIT ?4`;
    const rows = this.#sql
      .exec<ListedRow>(query, start, end, names === null ? null : JSON.stringify(names), limit + 1)
      .toArray();
    const pushes = rows.slice(0, limit).map(toPush);
    const next = rows.length > limit ? pushes.at(-1)!.id : start;
    return { pushes, next: next > first ? next : null };
  }

  /** Lists the pushes after another one, oldest first.
   * @param after id of that push; 0: from the oldest kept push */
  after(after: number, limit: number): Push[] {
    const query = `${LISTED} ORDER BY id LIMIT ?4`;
    return this.#sql
      .exec<ListedRow>(query, after + 1, Number.MAX_SAFE_INTEGER, null, limit)
      .toArray()
      .map(toPush);
  }

  /** Lists some refs of a push, in their order.
   * @param from number of refs to skip
   * @returns an empty list if the push is unknown, or has no more refs */
  refs(id: number, from: number): PushedRef[] {
    const query = `SELECT (SELECT json_group_array(json(value)) FROM
      (SELECT value FROM (${MOVED}) LIMIT ${MAX_LISTED_REFS} OFFSET ?2)) AS refs FROM pushes WHERE id = ?1`;
    const [row] = this.#sql.exec<{ refs: string }>(query, id, from).toArray();
    return row === undefined ? [] : (JSON.parse(row.refs) as PushedRef[]);
  }

  /** Ids of the oldest kept push and of the newest; 0: there is none. */
  ends(): { oldest: number; newest: number } {
    const query = "SELECT ifnull(min(id), 0) AS oldest, ifnull(max(id), 0) AS newest FROM pushes";
    return this.#sql.exec<{ oldest: number; newest: number }>(query).one();
  }

  /** Id of the newest push before a time; 0: none is known. Reads a row for each later push. */
  newestBefore(timeMs: number): number {
    const query = "SELECT id FROM pushes WHERE time_ms < ? ORDER BY id DESC LIMIT 1";
    return this.#sql.exec<{ id: number }>(query, timeMs).toArray()[0]?.id ?? 0;
  }

  #newest(): PushSums {
    const query = "SELECT total_bytes AS totalBytes, log_bytes AS logBytes FROM pushes ORDER BY id DESC LIMIT 1";
    const [row] = this.#sql.exec<{ totalBytes: number; logBytes: number }>(query).toArray();
    return row ?? { totalBytes: 0, logBytes: 0 };
  }

  /** Bytes of the refs of dropped pushes. */
  #forgottenBytes(): number {
    const query = `SELECT log_bytes - (${BYTES}) AS bytes FROM pushes ORDER BY id LIMIT 1`;
    return this.#sql.exec<{ bytes: number }>(query).toArray()[0]?.bytes ?? 0;
  }

  /** Drops the oldest pushes, never the newest, when their refs take too much space.
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

function toPush(row: ListedRow): Push {
  return { ...row, refs: JSON.parse(row.refs) as PushedRef[] };
}

/** Splits refs into JSON arrays, each short enough for one value; without refs, one empty array. */
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
