import { ExpiringMap } from "./expiring-map.ts";

/** Wrong tokens that an address may show within `WINDOW_MS`. */
export const MAX_FAILURES = 30;
const WINDOW_MS = 60_000;

/** Addresses remembered: some 100 bytes each. */
const MAX_ADDRESSES = 10_000;

/** Counts wrong tokens by the address that they come from, in one isolate. A right token is never counted nor held up, wherever it comes
 * from: a token is looked at first, and only who shows a wrong one is told to wait. */
export class FailedLogins {
  readonly #windows = new ExpiringMap<{ count: number; readonly endMs: number }>(MAX_ADDRESSES);

  /** Counts a wrong token.
   * @returns how long its sender is to wait (ms), null: it may try again */
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
