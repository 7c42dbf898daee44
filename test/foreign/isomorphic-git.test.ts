import { beforeAll, expect, test } from "vitest";
import type { Server } from "../harness/server.ts";
import { shareServer } from "../harness/shared-server.ts";
import { ISOMORPHIC_GIT } from "./isomorphic-git.ts";
import { WORKS } from "./works.ts";

let server: Pick<Server, "url">;
beforeAll(async () => {
  server = await shareServer("isomorphic");
});

test.each(WORKS)("isomorphic-git: $name", async ({ name, run }) => {
  const url = `${server.url}/isomorphic/${name.replaceAll(/[^a-z0-9]+/g, "-")}.git`;
  await expect(run(ISOMORPHIC_GIT, url)).resolves.toBeUndefined();
});
