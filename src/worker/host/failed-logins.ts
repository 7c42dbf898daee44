import { ExpiringMap } from "./expiring-map.ts";

/** Invalid tokens that an address may send within `WINDOW_MS`. */
export const MAX_FAILURES = 30;
const WINDOW_MS = 60_000;

/** Maximum number of addresses, some 100 bytes each. */
const MAX_ADDRESSES = 10_000;

/** Counts invalid tokens by client address, in one isolate. A valid token is never counted or
 * delayed, whatever its address: the token is checked first, and only senders of invalid ones must
 * wait. */
export class FailedLogins {
  readonly #windows = new ExpiringMap<{ count: number; readonly endMs: number }>(MAX_ADDRESSES);

  /** Counts an invalid token.
   * @returns how long its sender must wait (ms); null: it may try again */
  note(address: string, nowMs: number): number | null {
    let window = this.#windows.get(address, nowMs);
    if (window === undefined) {
      window = { count: 0, endMs: nowMs + WINDOW_MS };
      this.#windows.set(address, window, window.endMs);
    }
    window.count += 1;
    return window.count > MAX_FAILURES ? window.endMs - nowMs : null;
  }
}
