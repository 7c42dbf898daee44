import { expect, test } from "vitest";
import { GitServer } from "../../../src/object/remotes/git-server.ts";

const DISCOVERY = "/info/refs?service=git-upload-pack";

/** A server at git.example.com that redirects the first question, and answers any other one. */
function open(location: string): { server: GitServer; asked: string[] } {
  const asked: string[] = [];
  const fetch = async (url: string): Promise<Response> => {
    asked.push(url);
    if (asked.length === 1) return new Response(null, { status: 302, headers: { Location: location } });
    return new Response("0000", { headers: { "Content-Type": "application/x-git-upload-pack-advertisement" } });
  };
  const server = new GitServer({
    role: "upstream",
    service: "git-upload-pack",
    url: "https://git.example.com/ada/engine",
    authorization: null,
    signal: new AbortController().signal,
    outside: { fetch, allowsPrivate: false, secretsKey: null },
  });
  return { server, asked };
}

test.each([
  "https://127.0.0.1/ada/engine",
  "https://2130706433/ada/engine",
  "https://0x7f.1/ada/engine",
  "https://169.254.169.254/latest/meta-data",
  "https://10.0.0.1/ada/engine",
  "https://192.168.1.1:8443/ada/engine",
  "https://[::1]/ada/engine",
  "https://[::ffff:127.0.0.1]/ada/engine",
  "https://[fe80::1]/ada/engine",
  "https://[fd00::1]/ada/engine",
  "https://localhost/ada/engine",
  "https://git.internal/ada/engine",
  "//127.0.0.1/ada/engine",
])("a redirect to %s is refused, and not asked", async (address) => {
  const { server, asked } = open(address + DISCOVERY);
  await expect(server.discover(true)).rejects.toMatchObject({
    code: "invalid",
    message: expect.stringContaining("is no public address"),
  });
  expect(asked).toEqual([`https://git.example.com/ada/engine${DISCOVERY}`]);
});

test("a redirect to a public address is followed, and what comes after asks there", async () => {
  const { server, asked } = open(`https://elsewhere.example.com/ada/engine.git${DISCOVERY}`);
  await server.discover(true);
  expect(asked[1]).toBe(`https://elsewhere.example.com/ada/engine.git${DISCOVERY}`);
  expect(server.base).toBe("https://elsewhere.example.com/ada/engine.git");
});

test("no redirect leads from https to http, or to something that is no repository", async () => {
  await expect(open(`http://git.example.com/ada/engine${DISCOVERY}`).server.discover(true)).rejects.toThrow(
    "https: to http:",
  );
  await expect(open("https://git.example.com/sign-in").server.discover(true)).rejects.toThrow("no repository");
});
