import type { Languages } from "../../../contract/tally.ts";

/** Languages that are named; the others are summed up. */
const MAX_NAMED = 8;

/** What languages without a colour of their own are shown in, and all others together. */
const NO_COLOR = "#8b949e";

/** The languages of a repository, by their share of bytes. */
export function LanguagesBar({ languages }: { languages: Languages["languages"] }) {
  // Prose and data would hide what people look for here.
  const counted = languages.filter(({ type, bytes }) => bytes > 0 && (type === "programming" || type === "markup"));
  const total = counted.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total === 0) return null;
  const named = counted
    .slice(0, MAX_NAMED)
    .map(({ name, color, bytes }) => ({ name, color: color ?? NO_COLOR, bytes }));
  const rest = total - named.reduce((sum, { bytes }) => sum + bytes, 0);
  const shares = (rest > 0 ? [...named, { name: "Other", color: NO_COLOR, bytes: rest }] : named).map((share) => ({
    ...share,
    percent: (100 * share.bytes) / total,
  }));
  let x = 0;
  return (
    <section class="languages">
      <h2>Languages</h2>
      <svg class="share" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        {shares.map(({ color, percent }) => {
          const from = x;
          x += percent;
          return <rect x={from.toFixed(2)} width={percent.toFixed(2)} height="1" fill={color} />;
        })}
      </svg>
      <ul>
        {shares.map(({ name, color, percent }) => (
          <li>
            <svg viewBox="0 0 10 10" aria-hidden="true">
              <circle cx="5" cy="5" r="5" fill={color} />
            </svg>
            {name} <span class="muted">{percent.toFixed(1)}%</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
