/** storm.csv: many clients that clone at the same time. */
import type { TopLevelSpec } from "vega-lite";
import type { Sample } from "../../figures/sample.ts";
import { drawBars } from "../charts/bars.ts";
import { compareToNative, selectSamples } from "../compare.ts";
import { formatComparison } from "../markdown.ts";
import { HOW_TO_READ, type Chart, type Part } from "./part.ts";

/** These count bytes by a proxy, others do not. */
const BYTES = ["fetch MB", "bundle MB"];

export const STORM: Part = {
  name: "storm",
  tables: {
    storm: (samples) => tabulate(selectStorms(samples), ["wall s", "server CPU s", "first byte s"]),
    "storm-bundle": (samples) => tabulate(selectBundles(samples), ["wall s", "server CPU s", ...BYTES]),
  },
  charts: [
    chart("storm-wall", "wall s", "until the last client has everything"),
    chart("storm-cpu", "server CPU s", "of the server and all that it starts"),
    {
      name: "storm-bundle",
      alt: "Bars: megabytes that the server makes and sends to all clients, and megabytes of files that caches may keep, without and with bundle-uri",
      draw: drawBundles,
    },
  ],
};

/** Whether a work was measured with its bytes. */
function hasBytes(samples: readonly Sample[]): (sample: Sample) => boolean {
  const works = new Set(selectSamples(samples, {}, BYTES).map(({ work }) => JSON.stringify(work)));
  return ({ work }) => works.has(JSON.stringify(work));
}

function selectBundles(samples: readonly Sample[]): Sample[] {
  return samples.filter(hasBytes(samples));
}

function selectStorms(samples: readonly Sample[]): Sample[] {
  const isBundle = hasBytes(samples);
  return samples.filter((sample) => !isBundle(sample));
}

function chart(name: string, measure: string, meaning: string): Chart {
  return {
    name,
    alt: `Bars: ${measure} ${meaning}, for each kind of clone, with Holdfast's cache off, cold and warm, native git beside Holdfast`,
    draw(samples) {
      const storms = selectSamples(selectStorms(samples), {}, [measure]);
      const isVaried = (column: string): boolean => new Set(storms.map(({ work }) => work[column])).size > 1;
      const named = ["repository", "clients"].filter(isVaried);
      const bars = compareToNative(storms).map((one) => {
        const { storm, client, cache } = one.work;
        const panel = [`${storm}, ${client} client`, ...named.map((column) => `${one.work[column]} ${column}`)];
        return { ...one, panel: panel.join(", "), place: String(cache) };
      });
      if (bars.length === 0) return null;
      const clients = new Set(storms.map(({ work }) => work["clients"]));
      const title = `${[...clients].join(", ")} clones at the same time: ${measure}, ${meaning}`;
      return drawBars(bars, { title, subtitle: HOW_TO_READ, across: "cache of Holdfast", up: measure }, 3);
    },
  };
}

function drawBundles(samples: readonly Sample[]): TopLevelSpec | null {
  const bars = compareToNative(selectSamples(samples, {}, BYTES)).map((one) => ({
    ...one,
    panel: one.measure === BYTES[0] ? "made and sent by the server" : "files that a cache may keep",
    place: String(one.work["storm"]),
  }));
  if (bars.length === 0) return null;
  const subtitle = "of all clients together; medians; lines: spread";
  return drawBars(bars, { title: "Bytes of whole clones without and with bundle-uri", subtitle, across: "", up: "MB" });
}

function tabulate(samples: readonly Sample[], measures: readonly string[]): string {
  return samples.length === 0 ? "" : formatComparison(samples, { measures });
}
