// Charts, as SVG. A table holds the same values for readers without images.

/** Height of the bars, and width of one with the gap after it. */
const BARS_HEIGHT = 100;
const BAR_STEP = 10;

/** A bar of a chart. */
interface Bar {
  readonly label: string;
  readonly value: number;
}

/** Bar chart of values. */
export function BarChart({
  bars,
  caption,
  labelTitle,
  valueTitle,
}: {
  bars: readonly Bar[];
  caption: string;
  labelTitle: string;
  valueTitle: string;
}) {
  const highest = bars.reduce((most, { value }) => Math.max(most, value), 1);
  return (
    <>
      <figure class="chart">
        <svg viewBox={`0 0 ${bars.length * BAR_STEP} ${BARS_HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          {bars.map(({ label, value }, i) => {
            const height = (BARS_HEIGHT * value) / highest;
            return (
              <rect
                x={i * BAR_STEP}
                y={(BARS_HEIGHT - height).toFixed(1)}
                width={BAR_STEP - 2}
                height={height.toFixed(1)}
              >
                <title>{`${label}: ${value.toLocaleString("en")}`}</title>
              </rect>
            );
          })}
        </svg>
        <figcaption class="muted">
          {bars[0]?.label} to {bars.at(-1)?.label}; the highest bar is {highest.toLocaleString("en")}.
        </figcaption>
      </figure>
      <details>
        <summary>As a table</summary>
        <table class="figures">
          <caption class="hush">{caption}</caption>
          <thead>
            <tr>
              <th scope="col">{labelTitle}</th>
              <th scope="col">{valueTitle}</th>
            </tr>
          </thead>
          <tbody>
            {bars.map(({ label, value }) => (
              <tr>
                <th scope="row">{label}</th>
                <td>{value.toLocaleString("en")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </>
  );
}

/** Number of shades of a heat chart. */
const SHADES = 4;

/** Heat chart of values by row and hour: a table whose cells are darker for larger values. */
export function HeatChart({
  rows,
  caption,
}: {
  rows: readonly { readonly label: string; readonly values: readonly number[] }[];
  caption: string;
}) {
  const highest = rows.flatMap(({ values }) => values).reduce((most, value) => Math.max(most, value), 1);
  return (
    <div class="wide" tabindex={0} role="region" aria-label={caption}>
      <table class="heat">
        <caption class="hush">{caption}</caption>
        <thead>
          <tr>
            <td />
            {rows[0]?.values.map((_, hour) => (
              <th scope="col">{hour}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ label, values }) => (
            <tr>
              <th scope="row">{label}</th>
              {values.map((value) => (
                <td class={`shade-${Math.ceil((SHADES * value) / highest)}`}>{value === 0 ? "" : value}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Bar of a share, beside its number. @param share 0 to 1 */
export function ShareBar({ share }: { share: number }) {
  return (
    <svg class="share" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
      <rect width={(100 * share).toFixed(1)} height="1" />
    </svg>
  );
}
