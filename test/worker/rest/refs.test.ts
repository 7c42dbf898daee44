import { join } from "node:path";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { type Answer, askApi } from "../../harness/api.ts";
import { git, makeRepository } from "../../harness/git.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer } from "../../harness/shared-server.ts";
import { makeTempDir } from "../../harness/temp-dir.ts";

const ADA = { name: "Ada Example", email: "ada@example.com", date: "2023-11-14T23:13:20+01:00" };

let server: Pick<Server, "url">;
let source: string;
let count = 0;
let url: string;
let path: string;

beforeAll(async () => {
  server = await shareServer("refs");
  source = await makeRepository("source");
  const commit = (message: string) => git(source, "commit", "-q", "--allow-empty", "-m", message);
  for (const message of ["one", "two", "three"]) await commit(message);
  await git(source, "checkout", "-q", "-b", "topic/side", "HEAD~1");
  for (const message of ["side", "more"]) await commit(message);
  await git(source, "checkout", "-q", "main");
  await git(source, "tag", "light", "main~1");
  await git(source, "tag", "-a", "-m", "Version 1", "v1", "main~2");
  await git(source, "tag", "-a", "-m", "Again", "v1-again", "v1");
  await git(source, "tag", "-a", "-m", "A tree", "of-tree", "main^{tree}");
});

beforeEach(async () => {
  const name = `repo-${count++}`;
  url = `${server.url}/refs/${name}.git`;
  path = `/repos/refs/${name}`;
  await git(source, "push", "-q", url, "--mirror");
});

const ask = (method: string, below: string, json?: unknown): Promise<Answer> =>
  askApi(server, `${path}${below}`, { method, ...(json === undefined ? {} : { json }) });

const parse = (revision: string): Promise<string> => git(source, "rev-parse", "--verify", revision);

/** The value of a ref on the server. */
async function remote(name: string): Promise<string> {
  return (await git(source, "ls-remote", url, name)).split("\t")[0]!;
}

const refused = (status: number, code: string, further = {}) => ({ status, body: { error: { code, ...further } } });

test("branches are listed in pages, and told how far they are from the default branch", async () => {
  for (const name of ["a", "b/c", "zz"]) await git(source, "push", "-q", url, `main~2:refs/heads/${name}`);
  const names: string[] = [];
  for (let cursor = ""; ;) {
    const { body } = await askApi<{ branches: { name: string }[]; nextCursor: string | null }>(
      server,
      `${path}/branches?limit=2${cursor}`,
    );
    names.push(...body.branches.map(({ name }) => name));
    if (body.nextCursor === null) break;
    expect(body.branches).toHaveLength(2);
    cursor = `&cursor=${body.nextCursor}`;
  }
  expect(names).toEqual(["a", "b/c", "main", "topic/side", "zz"]);
  expect(await ask("GET", "/branches/topic%2Fside")).toMatchObject({
    status: 200,
    body: {
      name: "topic/side",
      commit: await parse("topic/side"),
      committed: "2023-11-14T22:13:20+00:00",
      isDefault: false,
      ahead: 2,
      behind: 1,
    },
  });
  expect(await ask("GET", "/branches/main")).toMatchObject({ body: { isDefault: true, ahead: 0, behind: 0 } });
  expect(await ask("GET", "/branches/none")).toMatchObject(refused(404, "not-found"));
  expect(await ask("GET", "/branches/a..b")).toMatchObject(refused(422, "invalid", { field: "name" }));
});

test("branches are created, moved, renamed and deleted", async () => {
  expect(await ask("POST", "/branches", { name: "new/one", startPoint: "v1-again" })).toMatchObject({
    status: 201,
    body: { name: "new/one", commit: await parse("main~2"), ahead: 0, behind: 2 },
  });
  expect(await remote("refs/heads/new/one")).toBe(await parse("main~2"));
  expect(await ask("POST", "/branches", { name: "new/one", startPoint: "main" })).toMatchObject(
    refused(409, "conflict"),
  );
  expect(await ask("POST", "/branches", { name: "new", startPoint: "main" })).toMatchObject(refused(409, "conflict"));
  expect(await ask("POST", "/branches", { name: "tree", startPoint: "of-tree" })).toMatchObject(
    refused(422, "wrong-type"),
  );
  expect(await ask("POST", "/branches", { name: "x", startPoint: "none" })).toMatchObject(refused(404, "not-found"));

  const change = (json: object) => ask("PATCH", "/branches/new%2Fone", json);
  expect(await change({ target: "main" })).toMatchObject({ status: 200, body: { commit: await parse("main") } });
  expect(await change({ target: "topic/side" })).toMatchObject(refused(409, "conflict"));
  expect(await change({ target: "topic/side", force: true, expected: await parse("main~1") })).toMatchObject(
    refused(409, "stale", { actual: await parse("main") }),
  );
  expect(await change({ target: "topic/side", force: true, expected: await parse("main") })).toMatchObject({
    status: 200,
  });
  expect(await change({ target: "main", newName: "x" })).toMatchObject(refused(422, "invalid"));
  expect(await change({})).toMatchObject(refused(422, "invalid"));

  expect(await change({ newName: "main" })).toMatchObject(refused(409, "conflict"));
  expect(await change({ newName: "new" })).toMatchObject({ status: 200, body: { name: "new" } });
  expect(await remote("refs/heads/new/one")).toBe("");
  expect(await ask("DELETE", `/branches/new?expected=${await parse("main")}`)).toMatchObject(refused(409, "stale"));
  expect(await ask("DELETE", `/branches/new?expected=${await parse("topic/side")}`)).toMatchObject({ status: 204 });
  expect(await ask("DELETE", "/branches/new")).toMatchObject(refused(404, "not-found"));
  expect(await remote("refs/heads/new")).toBe("");
});

test("the default branch is not deleted, and stays it under another name", async () => {
  expect(await ask("DELETE", "/branches/main")).toMatchObject(refused(409, "conflict"));
  expect(await ask("DELETE", "/refs/heads/main")).toMatchObject(refused(409, "conflict"));
  expect(await ask("PATCH", "/branches/main", { newName: "main/trunk" })).toMatchObject({
    status: 200,
    body: { name: "main/trunk", isDefault: true },
  });
  const dir = join(makeTempDir("clone"), "clone");
  await git(".", "clone", "-q", url, dir);
  expect(await git(dir, "branch", "--show-current")).toBe("main/trunk");
});

test("tags are listed with what they say, and lead to", async () => {
  const { body } = await ask("GET", "/tags");
  const tagger = { name: "Ada Example", email: "ada@example.com", date: "2023-11-14T23:13:20+01:00" };
  const commit = async (revision: string) => ({ oid: await parse(revision), type: "commit" });
  expect(body).toEqual({
    tags: [
      {
        name: "light",
        oid: await parse("light"),
        isAnnotated: false,
        target: await commit("light"),
        message: null,
        tagger: null,
      },
      {
        name: "of-tree",
        oid: await parse("of-tree"),
        isAnnotated: true,
        target: { oid: await parse("main^{tree}"), type: "tree" },
        message: "A tree\n",
        tagger,
      },
      {
        name: "v1",
        oid: await parse("v1"),
        isAnnotated: true,
        target: await commit("main~2"),
        message: "Version 1\n",
        tagger,
      },
      {
        name: "v1-again",
        oid: await parse("v1-again"),
        isAnnotated: true,
        target: await commit("main~2"),
        message: "Again\n",
        tagger,
      },
    ],
    nextCursor: null,
  });
});

test("tags are created as git does, moved by force only, renamed and deleted", async () => {
  await git(source, "-c", "user.name=x", "tag", "-a", "-m", "Version 2", "v2", "main");
  const made = await ask("POST", "/tags", { name: "v2", target: "main", message: "Version 2", tagger: ADA });
  expect(made).toMatchObject({ status: 201, body: { oid: await parse("v2"), isAnnotated: true } });
  expect(await ask("POST", "/tags", { name: "v2", target: "main" })).toMatchObject(refused(409, "conflict"));
  expect(await ask("POST", "/tags", { name: "v3", target: "main", message: "x" })).toMatchObject(
    refused(422, "invalid", { field: "tagger" }),
  );
  expect(await ask("POST", "/tags", { name: "v3", target: "HEAD^{tree}" })).toMatchObject({
    status: 201,
    body: { isAnnotated: false, target: { type: "tree" } },
  });
  expect(await ask("PATCH", "/tags/v2", { target: "main~1" })).toMatchObject(refused(409, "conflict"));
  const moved = await ask("PATCH", "/tags/v2", { target: "main~1", message: "Moved", tagger: ADA, force: true });
  expect(moved).toMatchObject({ status: 200, body: { target: { oid: await parse("main~1") }, message: "Moved\n" } });
  expect(await ask("PATCH", "/tags/v2", { newName: "v2/final" })).toMatchObject({
    status: 200,
    body: { name: "v2/final" },
  });
  expect(await ask("DELETE", "/tags/v2%2Ffinal")).toMatchObject({ status: 204 });
  expect(await ask("GET", "/tags/v2%2Ffinal")).toMatchObject(refused(404, "not-found"));
  const dir = join(makeTempDir("clone"), "clone");
  await git(".", "clone", "-q", "--mirror", url, dir);
  await git(dir, "fsck", "--strict");
});

test("any ref is put where it is wanted, if it is what is expected", async () => {
  const [main, side] = [await parse("main"), await parse("topic/side")];
  const put = (name: string, json: object) => ask("PUT", `/refs/${name}`, json);
  expect(await put("heads/main", { target: side })).toMatchObject(refused(409, "conflict"));
  expect(await put("heads%2Fmain", { target: side, force: true, expected: side })).toMatchObject(
    refused(409, "stale", { actual: main }),
  );
  expect(await put("heads%2Fmain", { target: side, force: true, expected: main })).toMatchObject({
    status: 200,
    body: { name: "refs/heads/main", oid: side, type: "commit" },
  });
  expect(await put("notes/x", { target: "main:", expected: null })).toMatchObject({
    status: 200,
    body: { type: "tree" },
  });
  expect(await put("notes/x", { target: "main:", expected: null })).toMatchObject(refused(409, "stale"));
  expect(await put("heads/x", { target: "of-tree" })).toMatchObject(refused(422, "wrong-type"));
  expect(await put("heads/x", { target: "0".repeat(40) })).toMatchObject(refused(404, "not-found"));
  expect(await put("heads/x", { target: main, expected: "123" })).toMatchObject(
    refused(422, "invalid", { field: "expected" }),
  );
  expect(await put("HEAD", { target: main })).toMatchObject(refused(422, "invalid", { field: "name" }));
  expect(await put("heads/a..b", { target: main })).toMatchObject(refused(422, "invalid", { field: "name" }));
  expect(await put("heads/x.lock", { target: main })).toMatchObject(refused(422, "invalid", { field: "name" }));
  expect(await ask("DELETE", `/refs/notes/x?expected=${main}`)).toMatchObject(refused(409, "stale"));
  expect(await ask("DELETE", "/refs/notes/x")).toMatchObject({ status: 204 });
  expect(await git(source, "ls-remote", url, "refs/notes/*")).toBe("");
});

test("slashes of a name are taken as they are, or encoded, wherever a path has one", async () => {
  const side = await parse("topic/side");
  for (const name of ["topic/side", "topic%2Fside", "topic%2fside"]) {
    expect(await ask("GET", `/branches/${name}`)).toMatchObject({ status: 200, body: { name: "topic/side" } });
    expect(await ask("GET", `/commits/${name}`)).toMatchObject({ status: 200, body: { oid: side } });
    expect(await ask("GET", `/commits/refs/heads/${name}~1?limit=1`)).toMatchObject({ status: 200 });
    expect(await ask("GET", `/commits/${name}/statuses`)).toMatchObject({ status: 200, body: { oid: side } });
    const status = await ask("POST", `/commits/${name}/statuses`, { state: "success" });
    expect(status).toMatchObject({ status: 201, body: { oid: side } });
    expect(await ask("GET", `/compare/main...${name}`)).toMatchObject({ status: 200, body: { head: side } });
    expect(await ask("PATCH", `/branches/${name}`, { newName: "a/b/c" })).toMatchObject({ status: 200 });
    expect(await ask("PATCH", "/branches/a/b/c", { newName: "topic/side" })).toMatchObject({ status: 200 });
    expect(await ask("PUT", `/refs/tags/${name}`, { target: "main" })).toMatchObject({ status: 200 });
    expect(await ask("GET", `/tags/${name}`)).toMatchObject({ status: 200, body: { name: "topic/side" } });
    expect(await ask("PATCH", `/tags/${name}`, { newName: "x/y" })).toMatchObject({ status: 200 });
    expect(await ask("DELETE", "/tags/x/y")).toMatchObject({ status: 204 });
  }
  await git(source, "push", "-q", url, "main:refs/heads/topic/statuses");
  expect(await ask("GET", "/commits/topic%2Fstatuses")).toMatchObject({ body: { oid: await parse("main") } });
  expect(await ask("DELETE", "/branches/topic/statuses")).toMatchObject({ status: 204 });
  expect(await remote("refs/heads/topic/statuses")).toBe("");
  expect(await ask("GET", "/branches/")).toMatchObject({ status: 404 });
  expect(await ask("PUT", "/branches/topic/side", {})).toMatchObject({ status: 405 });
});
