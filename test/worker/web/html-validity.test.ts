/** Every page is valid HTML. */
import { beforeAll, expect, test } from "vitest";
import { findHtmlFaults } from "../../harness/html-validator.ts";
import { PAGES } from "./pages.ts";
import { serveWalked, type WalkedServers } from "./walked-servers.ts";

let servers: WalkedServers;

beforeAll(async () => {
  servers = await serveWalked();
});

test.each(PAGES)("$name: $path", async (page) => {
  const response = await fetch(servers.urlOf(page), { headers: { Accept: "text/html" } });
  expect(response.status).toBe(page.status ?? 200);
  expect(await findHtmlFaults(await response.text())).toEqual([]);
});
