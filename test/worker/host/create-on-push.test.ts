/** Whether a push creates the repository that it names. */
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { askApi } from "../../harness/api.ts";
import { git, tryGit } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import { type Server, startServer } from "../../harness/server.ts";
import { ADMIN_TOKEN, shareServer, WITH_TOKENS } from "../../harness/shared-server.ts";
import { describeSome } from "../../harness/sweep.ts";

const ADVICE =
  "remote: the repository was not found: pushes do not create repositories here: create it with POST /api/repos first";

let history: string;
beforeAll(async () => {
  history = await makeHistory({ commits: 2, files: 2 });
});

const urlOf = ({ url }: Pick<Server, "url">, name: string, token: string): string =>
  `${url.replace("://", `://git:${token}@`)}/${name}`;

const push = (server: Pick<Server, "url">, name: string, token: string) =>
  tryGit(history, ["push", urlOf(server, name, token), "HEAD:refs/heads/main"]);

async function makeToken(server: Pick<Server, "url">, wanted: object): Promise<string> {
  const json = { owner: "created", name: "t", right: "write", ...wanted };
  const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` };
  return (await askApi<{ token: string }>(server, "/tokens", { method: "POST", json, headers })).body.token;
}

async function listNames(server: Pick<Server, "url">): Promise<string[]> {
  const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` };
  const { body } = await askApi<{ repositories: { name: string }[] }>(server, "/repos/created", { headers });
  return body.repositories.map(({ name }) => name);
}

describe("unless it is said otherwise", () => {
  let server: Pick<Server, "url">;
  beforeAll(async () => {
    server = await shareServer("created", WITH_TOKENS);
  });

  test("who may write whatever the owner has creates by a push, and nobody else", async () => {
    expect((await push(server, "created/first", ADMIN_TOKEN)).code).toBe(0);
    expect((await push(server, "created/second", await makeToken(server, {}))).code).toBe(0);
    for (const wanted of [
      { repository: "first", right: "admin" },
      { right: "read" },
      { owner: "you", right: "admin" },
    ]) {
      const { code, stderr } = await push(server, "created/third", await makeToken(server, wanted));
      expect(code).not.toBe(0);
      expect(stderr).not.toContain("POST /api/repos");
    }
    expect(await listNames(server)).toEqual(["first", "second"]);
  });
});

describeSome(1, ["token", "open"], "with access by %s, where it is off", (access) => {
  let server: Server;
  beforeAll(async () => {
    server = await startServer({ vars: { ACCESS: access, ADMIN_TOKEN, CREATE_ON_PUSH: "off" } });
  });
  afterAll(() => server.close());

  test("where pushes create nothing, git is told how a repository is made", async () => {
    const refused = await push(server, "created/nmae", ADMIN_TOKEN);
    expect(refused).toMatchObject({ code: 128, stderr: expect.stringContaining(ADVICE) as string });
    // A push without the usual first request is refused too, and reserves no name.
    const headers = {
      Authorization: `Bearer ${ADMIN_TOKEN}`,
      "Content-Type": "application/x-git-receive-pack-request",
    };
    const body = "0000";
    const response = await fetch(`${server.url}/created/nmae/git-receive-pack`, { method: "POST", headers, body });
    expect([response.status, await response.text()]).toEqual([404, `${ADVICE.slice("remote: ".length)}\n`]);
    const json = { owner: "created", name: "nmae" };
    expect(
      (await askApi(server, "/repos", { method: "POST", json, headers: { Authorization: headers.Authorization } }))
        .status,
    ).toBe(201);
    expect((await push(server, "created/nmae", ADMIN_TOKEN)).code).toBe(0);
    expect(await listNames(server)).toEqual(["nmae"]);
  });

  test("a backup makes the repository that it is restored as", async () => {
    await git(history, "bundle", "create", "all.bundle", "--all");
    const headers = { Authorization: `Bearer ${ADMIN_TOKEN}`, "Content-Type": "application/x-git-bundle" };
    const body = await readFile(`${history}/all.bundle`);
    const restored = await fetch(`${server.url}/api/repos/created/restored/backup.bundle`, {
      method: "PUT",
      headers,
      body,
    });
    expect(restored.status).toBe(201);
  });

  if (access === "token") {
    test("who may not read there is not told more than before", async () => {
      const { stderr } = await push(
        server,
        "created/unknown",
        await makeToken(server, { owner: "you", right: "admin" }),
      );
      expect(stderr).toContain("remote: the repository was not found");
      expect(stderr).not.toContain("POST");
    });
  }
});
