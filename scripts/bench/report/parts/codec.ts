/** codec.csv: the codec inside the runtime beside native git and others. */
import { drawBars } from "../charts/bars.ts";
import { compareToNative, selectSamples } from "../compare.ts";
import { formatSides, nameSide } from "../markdown.ts";
import type { Part } from "./part.ts";

const SPEED = "MB/s";

export const CODEC: Part = {
  name: "codec",
  tables: {
    codec: (samples) => (selectSamples(samples, {}, [SPEED]).length === 0 ? "" : formatSides(samples, SPEED)),
  },
  charts: [
    {
      name: "codec",
      alt: "Bars: megabytes a second of indexing, inflating, deflating and hashing, by native git, Holdfast's module and JavaScript libraries",
      draw(samples) {
        const bars = compareToNative(selectSamples(samples, {}, [SPEED])).map((one) => ({
          ...one,
          panel: Object.values(one.work).join(", "),
          place: nameSide(one.side),
        }));
        if (bars.length === 0) return null;
        const subtitle = "more is better; lines: spread; above: ratio to native, where it does the same";
        return drawBars(bars, { title: "Codec inside the runtime", subtitle, across: "", up: SPEED });
      },
    },
  ],
};
