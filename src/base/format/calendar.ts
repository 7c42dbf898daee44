/** Seconds of a day. */
export const DAY_SECONDS = 86_400;

/** Writes a day as "yyyy-mm-dd".
 * @param day days since 1970, before the year 10,000 */
export function formatDay(day: number): string {
  return new Date(day * DAY_SECONDS * 1_000).toISOString().slice(0, 10);
}

/** Reads "yyyy-mm-dd" as days since 1970. */
export function parseDay(text: string): number {
  return Date.parse(`${text}T00:00:00Z`) / 1_000 / DAY_SECONDS;
}

/** Finds the day of the week: 0 is Monday.
 * @param day days since 1970, which began on a Thursday */
export function weekday(day: number): number {
  return (((day + 3) % 7) + 7) % 7;
}
