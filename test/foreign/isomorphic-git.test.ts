import { beforeAll, expect } from "vitest";
import type { Server } from "../harness/server.ts";
import { shareServer } from "../harness/shared-server.ts";
import { ISOMORPHIC_GIT } from "./isomorphic-git.ts";
import { WORKS } from "./works.ts";
import { testSome } from "../harness/sweep.ts";

let server: Pick<Server, "url">;
beforeAll(async () => {
  server = await shareServer("isomorphic");
});

/** It takes the least, and has both sides agree on what is sent. */
const FEW = "shallow clone of depth 1";
const works = WORKS.toSorted((a, b) => Number(b.name === FEW) - Number(a.name === FEW));

testSome(1, works, "isomorphic-git: $name", async ({ name, run }) => {
  const url = `${server.url}/isomorphic/${name.replaceAll(/[^a-z0-9]+/g, "-")}.git`;
  await expect(run(ISOMORPHIC_GIT, url)).resolves.toBeUndefined();
});
