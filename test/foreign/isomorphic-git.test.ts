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

/** Of each kind of work, one. */
const FEW = [
  "clone",
  "shallow clone of depth 1",
  "pull of 1, 5, 100 commits",
  "push, also of a new branch and by force",
];
const [few, others] = [true, false].map((isFew) => WORKS.filter(({ name }) => FEW.includes(name) === isFew));

testSome(FEW.length, [...few!, ...others!], "isomorphic-git: $name", async ({ name, run }) => {
  const url = `${server.url}/isomorphic/${name.replaceAll(/[^a-z0-9]+/g, "-")}.git`;
  await expect(run(ISOMORPHIC_GIT, url)).resolves.toBeUndefined();
});
