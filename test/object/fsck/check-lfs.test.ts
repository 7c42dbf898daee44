import { expect, test } from "vitest";
import { newLfsKey } from "../../../src/object/store/lfs/lfs-table.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { objectOf } from "../../harness/lfs.ts";
import { PushedRepository } from "../pushing.ts";
import { check } from "./checked-repository.ts";

test("LFS objects that are missing, cut or changed are found, in one call or in many", async () => {
  const chunks = new MemoryChunkStore();
  const repository = new PushedRepository({ chunks });
  await repository.repository.create("main");
  const { lfs } = repository.tables;
  lfs.begin(0);
  const keyOf = new Map<string, string>();
  for (const text of ["whole", "", "missing", "cut", "changed"]) {
    const { oid, size, bytes } = objectOf(text);
    const key = newLfsKey(repository.repository.state.key, oid);
    keyOf.set(text, key);
    await chunks.put(key, bytes);
    lfs.add({ oid, sizeBytes: size, key }, Date.now());
  }
  expect((await check(repository)).problems).toEqual([]);

  await chunks.delete(["missing", "cut", "changed"].map((text) => keyOf.get(text)!));
  await chunks.put(keyOf.get("cut")!, Buffer.from("cu"));
  await chunks.put(keyOf.get("changed")!, Buffer.from("Changed"));
  const problem = (text: string, detail: string) => ({
    kind: "lfs-object",
    key: keyOf.get(text),
    detail: expect.stringContaining(detail),
  });
  for (const options of [{}, { budgetSteps: 0 }]) {
    const { problems } = await check(repository, options);
    expect(problems).toHaveLength(3);
    expect(problems).toEqual(
      expect.arrayContaining([
        problem("missing", "is missing"),
        problem("cut", "2 bytes instead of 3"),
        problem("changed", "SHA-256"),
      ]),
    );
  }
});
