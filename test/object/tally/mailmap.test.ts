import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Mailmap } from "../../../src/object/tally/mailmap.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import { Random } from "../../harness/random.ts";

/** Git's mapping of people, one a line. */
async function mapByGit(mailmap: string, people: readonly string[]): Promise<string[]> {
  const dir = await makeRepository("mailmap", "--bare");
  await writeFile(join(dir, "mailmap"), mailmap, "latin1");
  await git(dir, "config", "mailmap.file", join(dir, "mailmap"));
  const { stdoutBytes } = await tryGit(dir, ["check-mailmap", "--stdin"], {
    stdin: Buffer.from(`${people.join("\n")}\n`, "latin1"),
  });
  return stdoutBytes.toString("latin1").trimEnd().split("\n");
}

function mapHere(mailmap: string, people: readonly string[]): string[] {
  const map = new Mailmap(mailmap);
  return people.map((person) => {
    const [, name, email] = /^(.*) <(.*)>$/.exec(person)!;
    const mapped = map.map({ name: name!, email: email! });
    return `${mapped.name} <${mapped.email}>`;
  });
}

const FORMS = [
  "# a comment <c@x>",
  "Proper Name <a@x>",
  "<new@x> <b@x>",
  "Both New <both@x> <C@X>",
  "Only Ada <ada@x> ada old <d@x>",
  "Other <other@x> OTHER OLD <d@x>",
  "Anybody <d@x>",
  "<e2@x> <e@x>",
  "E Name <e@x>",
  "First <f@x>",
  "Second <f@x>",
  "  Spaces\t <g@x>  <g2@x> # behind",
  "Nobody <nobody@x> <>",
  "No Email",
  "Open <open@x",
  "<> <h@x>",
  "Empty <> <h@x>",
  "<i@x>",
  "J\xc3\x84 <j@x> J\xc3\xa4 <\xc3\x84@x>",
  "Kept <k@x> Old",
  "A > B <l@x>",
  "M <m@x> <m2@x> <m3@x>",
  "N Name <n@x>\r",
].join("\n");

test("every form of a line means what git says", async () => {
  const names = ["Ada", "ada OLD", "Other Old", "J\xc3\xa4", "J\xc3\x84", "x"];
  const emails = ["a@x", "A@x", "b@x", "c@X", "d@x", "e@x", "f@x", "g@x", "g2@x", "h@x", "i@x"];
  const more = ["j@x", "\xc3\x84@x", "\xc3\xa4@x", "k@x", "l@x", "m@x", "m2@x", "m3@x", "n@x", "nobody@x", "none@x"];
  const people = names.flatMap((name) => [...emails, ...more].map((email) => `${name} <${email}>`));
  expect(mapHere(FORMS, people)).toEqual(await mapByGit(FORMS, people));
});

test("random lines mean what git says", { tags: "sweep" }, async () => {
  const random = new Random(4);
  const pick = (...choices: readonly string[]): string => choices[random.below(choices.length)]!;
  const piece = (): string => pick("a", "A", "b", "<", ">", " ", "\t", "<a>", "<B>", "<b>", "#", "\n", "\n", "a <c>");
  const people = ["a <a>", "A <b>", "b <c>", "a b <a>", "b <A>", "x <x>"];
  const maps = Array.from({ length: 40 }, () => Array.from({ length: 60 }, piece).join(""));
  for (const map of maps) expect(mapHere(map, people)).toEqual(await mapByGit(map, people));
});
