// Deltas on large bases. `large-deltas.sweep.test.ts` has large files that git sends as deltas.
import { expect, test } from "vitest";
import {
  assemblePack,
  copy,
  encodeDelta,
  insert,
  makeCommit,
  makeObject,
  makeTree,
  refDelta,
} from "../harness/pack-builder.ts";
import { encodeEntry } from "../harness/raw.ts";
import { sendPush } from "../harness/raw-push.ts";
import { startServer } from "../harness/server.ts";

const MIB = 1024 * 1024;

test(
  "a bomb of deltas ends at the limit of a push's work, and others are served meanwhile",
  { tags: "sweep" },
  async () => {
    const server = await startServer({ vars: { LIMITS: JSON.stringify({ maxPushWorkBytes: 2_000_000_000 }) } });
    try {
      const base = makeObject("blob", Buffer.alloc(MIB, "noise of a bomb"));
      // 128 MiB each, from 40 bytes.
      const grow = (text: string) => {
        const size = 128 * MIB + text.length;
        return refDelta(
          base.oid,
          encodeDelta(MIB, size, ...Array.from({ length: 128 }, () => copy(0, MIB)), insert(text)),
        );
      };
      const tree = makeTree(["100644", "base", base]);
      const commit = makeCommit(tree);
      const bombs = Array.from({ length: 200 }, (_, i) => encodeEntry(grow(`${i}`)));
      const pack = assemblePack([...[base, tree, commit].map((object) => encodeEntry(object)), ...bombs]);
      expect(pack.length).toBeLessThan(60_000);
      let isDone = false;
      const url = `${server.url}/me/bomb.git`;
      const sent = sendPush(url, { commands: [{ name: "refs/heads/main", new: commit.oid }], pack }).finally(() => {
        isDone = true;
      });
      const waits: number[] = [];
      const sentMs = performance.now();
      while (!isDone) {
        const start = performance.now();
        await (await fetch(`${server.url}/api/repos/me/bomb`)).arrayBuffer();
        await (await fetch(`${url}/info/refs?service=git-upload-pack`)).arrayBuffer();
        waits.push(performance.now() - start);
      }
      expect((await sent).unpack).toMatch(/work of the push .* exceeds the limit of 2000000000/);
      expect(waits.length).toBeGreaterThan(5);
      // A median, so that a busy machine does not distort the seconds that the bomb takes.
      const median = waits.toSorted((a, b) => a - b).at(Math.floor(waits.length / 2));
      expect(median).toBeLessThan(Math.max(1_000, (performance.now() - sentMs) / 5));
    } finally {
      await server.close();
    }
  },
);
