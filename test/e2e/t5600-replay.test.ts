import { test } from "vitest";
import { shareServer } from "../harness/shared-server.ts";
import { expectReplayed } from "./replayed-history.ts";

// These commits include five merges and ten that rename or replace directories.
test("the end of a history pushed commit by commit: no fetch brings an object twice", { tags: "sweep" }, async () => {
  await expectReplayed(`${(await shareServer("replays")).url}/replays/history.git`, 10);
});
