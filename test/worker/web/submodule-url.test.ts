import { expect, test } from "vitest";
import { submoduleUrl } from "../../../src/worker/web/parts/submodule-url.ts";

const OID = "ab".repeat(20);
const ORIGIN = "https://git.example.com";
const place = { owner: "org", name: "sup" };

test.each([
  ["../b.git", "/org/b/tree/"],
  ["../b", "/org/b/tree/"],
  ["../../other/b.git/", "/other/b/tree/"],
  ["./../b.git", "/org/b/tree/"],
  [".././../other//b", "/other/b/tree/"],
  [`${ORIGIN}/x/y.git`, "/x/y/tree/"],
  ["https://user@git.example.com/x/y", "/x/y/tree/"],
  ["https://github.com/a/b.git", "https://github.com/a/b/tree/"],
  ["git@github.com:a/b.git", "https://github.com/a/b/tree/"],
  ["ssh://git@github.com:22/a/b", "https://github.com/a/b/tree/"],
  ["git://github.com/a/b", "https://github.com/a/b/tree/"],
  ["https://gitlab.com/a/group/b.git", "https://gitlab.com/a/group/b/-/tree/"],
  ["https://codeberg.org/a/b", "https://codeberg.org/a/b/src/commit/"],
  ["https://bitbucket.org/a/b.git", "https://bitbucket.org/a/b/src/"],
])("%s leads to %s", (url, page) => {
  expect(submoduleUrl(place, url, OID, ORIGIN)).toBe(page + OID);
});

test.each([
  "",
  "./b.git",
  "./",
  ".",
  "../sup.git",
  `${ORIGIN}/org/sup`,
  "..",
  "../..",
  "../../../../b",
  "../../../x/b",
  "../../../../x/b.git",
  "../../x/../y/b",
  "../x/./b",
  "../b/c",
  "../b c",
  "../api/../../api/b",
  "../..\\evil.example",
  "javascript:alert(1)",
  "javascript://github.com/a/b",
  "data:text/html,x",
  "file:///etc/passwd",
  "/org/b.git",
  "//github.com/a/b",
  "https://example.com/a/b",
  "https://github.com.example.com/a/b",
  "https://github.com@example.com/a/b",
  "https://example.com/github.com/a/b",
  "https://github.com/a/b/c",
  "https://github.com/a",
  'https://github.com/a/b"onclick=x',
  "https://github.com/a/%2e%2e%2fx",
  "git@github.com:a/b:c",
  "-u./payload:x",
  "\u0001javascript:alert(1)",
])("%j leads nowhere", (url) => {
  expect(submoduleUrl(place, url, OID, ORIGIN)).toBe(null);
});
