/** Units of time in seconds, the longest first. */
const UNITS = [
  ["year", 365.25 * 86_400],
  ["month", 30.44 * 86_400],
  ["week", 7 * 86_400],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

/** A time in words, with the date as its title.
 * @param iso ISO 8601, with the author's offset from UTC */
export function Ago({ iso, nowMs }: { iso: string; nowMs: number }) {
  return (
    <time dateTime={iso} title={showDate(iso)}>
      {inWords(Date.parse(iso), nowMs)}
    </time>
  );
}

/** Says in words how long ago a time was. */
export function inWords(timeMs: number, nowMs: number): string {
  const seconds = (nowMs - timeMs) / 1000;
  const far = Math.abs(seconds);
  for (const [unit, length] of UNITS) {
    const count = Math.floor(far / length);
    if (count < 1) continue;
    const words = `${count} ${unit}${count === 1 ? "" : "s"}`;
    return seconds < 0 ? `in ${words}` : `${words} ago`;
  }
  return seconds < -1 ? "soon" : "just now";
}

/** Formats a date in its own time zone: `2026-11-23 08:04:35 +01:00`. */
export function showDate(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} ${iso.slice(19)}`;
}

/** Formats a time in UTC for `Ago`. @param timeMs since 1970 */
export function toIso(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19)}+00:00`;
}
