import { afterAll, beforeAll, expect, test } from "vitest";
import { type Server, startServer } from "../harness/server.ts";
import { ISOMORPHIC_GIT } from "./isomorphic-git.ts";
import { WORKS } from "./works.ts";

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

test.each(WORKS)("isomorphic-git: $name", async ({ name, run }) => {
  const url = `${server.url}/me/${name.replaceAll(/[^a-z0-9]+/g, "-")}.git`;
  await expect(run(ISOMORPHIC_GIT, url)).resolves.toBeUndefined();
});
