/** A time as answers tell it: ISO 8601, in UTC.
 * @param ms since 1970; null: never */
export function toTime(ms: number): string;
export function toTime(ms: number | null): string | null;
export function toTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
