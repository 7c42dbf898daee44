/** A repository in which everything has a name that some page could trip over. */
import { git, makeRepository, tryGit } from "../../harness/git.ts";

const RTL = "\u202e";
const LONG = "l".repeat(200);

/** Names of files: all that git takes, as bytes. */
const NAMES: readonly (string | Uint8Array)[] = [
  "<script>alert(1)<\u2215script>",
  `"><img src=x onerror=alert(1)>`,
  `'quoted' "twice" \`thrice\``,
  "&lt;&amp;entity;",
  "a b",
  " before and after ",
  "trailing.",
  "..before",
  "after..",
  "...",
  "new\nline",
  "tab\there",
  "\u0001\u0007\u007f",
  `${RTL}cod.exe`,
  "\u2066hidden\u2069\u200b",
  "%2f",
  "%2e%2e",
  "%252F%",
  "?q=1&plain=1",
  "#fragment",
  "back\\slash",
  "javascript:alert(1)",
  "colon: and; semi",
  "@{u}^~[x]{{y}}",
  "-dash",
  "+plus+",
  "\u00e9 e\u0301 \ud83d\ude80",
  "\u05e9\u05dc\u05d5\u05dd.txt",
  "n\u0303".repeat(60),
  new Uint8Array([0xff, 0xfe, 0x2e, 0x6d, 0x64]),
  new Uint8Array([0x61, 0xc3, 0x28, 0x80]),
  LONG,
];

const DIRECTORIES = [
  "<b>bold<\u2215b>",
  "a#b",
  "a?b",
  "%2F",
  "..x",
  "x..",
  "new\ndirectory",
  "trailing. ",
  "tree",
  "blob",
];

/** Names of branches and tags: git refuses spaces, `..`, `~^:?*[\` and control characters there. */
export const BRANCHES: readonly string[] = [
  "<script>alert(1)</script>",
  `"quoted'&amp;`,
  "#hash",
  "%2f",
  "%2e%2e/x",
  "a;b,c=d+e",
  `x${RTL}y`,
  "\u05e9\u05dc\u05d5\u05dd",
  "tree/main",
  "{{x}}$(y)",
  LONG,
];

const README = `# <script>alert(1)</script>

[one](a%20b) [two](<new%0Aline>) [three](%3Cscript%3E) [four](javascript:alert(1)) [five](../../../../etc/passwd)
[six](//evil.example/x) [seven](?x) [eight](#%22%3E%3Cb%3E) [nine](data:text/html,x) [ten](\\\\evil.example)
[eleven](/absolute) [twelve](%2e%2e/%2e%2e/x) [thirteen](%00) [fourteen](http://[::1) [fifteen](%FF%FE.md)

![x](x" onerror="alert(1)) <img src=x onerror=alert(1)> <svg><script>alert(1)</script></svg>
<a href="vbscript:x" onclick="alert(1)" style="color:red" id="content" name="location">x</a>
<details ontoggle=alert(1) open><summary>s</summary><style>*{display:none}</style></details>
<base href="//evil.example/"><meta http-equiv="refresh" content="0;url=//evil.example/"><iframe srcdoc="x"></iframe>
<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></mtext></math>

\`\`\`js" onmouseover="alert(1)
const x = "<script>";
\`\`\`
`;

/** Makes it.
 * @returns its directory, and the paths of its files, as bytes */
export async function makeHostileRepository(): Promise<{ dir: string; paths: readonly Buffer[] }> {
  const dir = await makeRepository("hostile.git", "--bare");
  const deep = Array.from({ length: 20 }, (_, i) => `${i}${LONG}`).join("/");
  const paths = [
    ...NAMES.map((name) => Buffer.from(name as string)),
    ...DIRECTORIES.flatMap((directory) => [`${directory}/${NAMES[0] as string}`, `${directory}/README.md`]).map(
      (path) => Buffer.from(path),
    ),
    Buffer.from(`${deep}/end`),
    Buffer.from("README.md"),
  ];
  const parts: (string | Buffer)[] = [];
  const data = (text: string): void => void parts.push(`data ${Buffer.byteLength(text)}\n`, text, "\n");
  const messages = [
    `<script>alert(1)</script> "'&amp; ${RTL}\n\n<b>body</b>\n${"long ".repeat(2_000)}`,
    "\u0001\t\u001b[31m",
    `${"w".repeat(5_000)}`,
  ];
  const authors = [`</title><script>alert(1)</script>`, `"'&amp;${RTL} \u200b`, "\u0007"];
  messages.forEach((message, i) => {
    parts.push(`commit refs/heads/main\nmark :${i + 1}\n`);
    // Angle brackets end a name in git: it takes them only where they are encoded.
    const name = authors[i]!.replaceAll(/[<>]/g, "\u2039");
    parts.push(`author ${name} <"&'@x> ${1_700_000_000 + i} +0000\ncommitter ${name} <x> ${1_700_000_000 + i} -1200\n`);
    data(message);
    const changed = i === 0 ? paths : paths.slice(0, 3);
    for (const path of changed) {
      parts.push("M 100644 inline ", quote(path), "\n");
      data(path.toString("latin1").endsWith(".md") ? README : `<script>alert(${i})</script>\nsame\n`);
    }
  });
  parts.push(`tag <i>annotated\nfrom :3\ntagger ${authors[1]} <x> 1700000009 +0000\n`);
  data(`<script>alert(1)</script>\n`);
  const { code, stderr } = await tryGit(dir, ["fast-import", "--quiet"], {
    stdin: Buffer.concat(parts.map((part) => Buffer.from(part))),
  });
  if (code !== 0) throw new Error(`git fast-import ended with ${code}:\n${stderr}`);
  await git(dir, "symbolic-ref", "HEAD", "refs/heads/main");
  for (const name of BRANCHES) await git(dir, "branch", name, "main");
  for (const name of BRANCHES.slice(0, 3)) await git(dir, "tag", name, "main~1");
  return { dir, paths };
}

/** A path as fast-import reads it. */
function quote(path: Buffer): string {
  return `"${[...path].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("")}"`;
}
