/** Markdown as HTML: GitHub's extensions work, and nothing in it acts. */
import { expect, test } from "vitest";
import { renderMarkdown } from "../../../src/worker/web/parts/markdown.ts";
import { testSome } from "../../harness/sweep.ts";

const place = { owner: "me", name: "repo", visibility: "public", right: "read" } as const;
let count = 0;

/** @param directory that holds the text */
function render(text: string, directory = ""): string {
  // Another id each time, since what is rendered is kept.
  const html = renderMarkdown(`${count++}`, text, { place, rev: "main", directory });
  return String(html).trim();
}

test.each([
  ["<script>alert(1)</script>after", "after"],
  ["<style>* { display: none }</style>\n\nafter", "* { display: none }\n<p>after</p>"],
  ["<iframe src=x></iframe>\n\nafter", "<p>after</p>"],
  ["<object data=x></object><embed src=x>\n\nafter", "<p></p>\n<p>after</p>"],
  ["<form action=x><button>b</button></form>", "b"],
  ["<base href=//evil.example><meta http-equiv=refresh content=0>\n\nafter", "<p>after</p>"],
  ["<svg onload=alert(1)><circle/></svg>after", "<p>after</p>"],
  ["<p onclick=alert(1) style=color:red>text</p>", "<p>text</p>"],
  ['<img src="/x" onerror=alert(1)>', '<img src="/me/repo/raw/main/x" alt="" loading="lazy">'],
  ["<a href=javascript:alert(1)>x</a>", "<p><a>x</a></p>"],
  ["[x](vbscript:x)", "<p>[x](vbscript:x)</p>"],
  ["[x](data:text/html,x)", "<p>[x](data:text/html,x)</p>"],
  ["<p align=center>x</p><p align=x>y</p>", '<p class="to-center">x</p><p>y</p>'],
  ["<b tabindex=5 accesskey=s>x</b>", "<p><b>x</b></p>"],
  ["<div id=content class=skip>x</div>", '<div id="user-content-content">x</div>'],
  [
    "<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>after",
    "<p>&#x3C;img src=x onerror=alert(1)>after</p>",
  ],
])("%j is %j", (text, html) => {
  expect(render(text)).toBe(html);
});

test.each([
  ["a.md", "/me/repo/blob/main/docs/a.md"],
  ["./a%20b.md#part", "/me/repo/blob/main/docs/a%20b.md#part"],
  ["../src/", "/me/repo/tree/main/src"],
  ["/top", "/me/repo/blob/main/top"],
  ["../../../../etc", "/me/repo/blob/main/etc"],
  ["#part", "#user-content-part"],
  ["https://example.com/?a=b&c", "https://example.com/?a=b&amp;c"],
  ["mailto:a@example.com", "mailto:a@example.com"],
])("a link to %s leads to %s", (address, href) => {
  expect(render(`[x](${address})`, "docs").replaceAll("&#x26;", "&amp;")).toContain(`href="${href}"`);
});

test("an image of the repository is its bytes; one of another site is a link, and is not loaded", () => {
  expect(render("![one](a.png?raw=true)", "docs")).toContain('src="/me/repo/raw/main/docs/a.png"');
  const html = render("![two](https://example.com/a.png) [![three](//example.com/b.png)](c.md)");
  expect(html).not.toContain("<img");
  expect(html).toContain('<a href="https://example.com/a.png" rel="nofollow noopener">two</a>');
  expect(html).toContain('<a href="/me/repo/blob/main/c.md" rel="nofollow noopener">three</a>');
});

test("headings are below those of the page, none is skipped, and each can be linked to", () => {
  const html = render("# One, *two*!\n\n#### Three\n\n## One two\n\n## One two");
  expect([...html.matchAll(/<(h\d) id="([^"]*)"/g)].map(([, tag, id]) => `${tag} ${id}`)).toEqual([
    "h3 user-content-one-two",
    "h4 user-content-three",
    "h4 user-content-one-two-1",
    "h4 user-content-one-two-2",
  ]);
});

test("tables, tasks, remarks, struck text and bare addresses", () => {
  expect(render("| a | b |\n|---|--:|\n| 1 | 2 |")).toMatch(/<table>[^]*<th>a<\/th>[^]*<td[^>]*>2<\/td>/);
  const tasks = render("- [ ] one\n- [x] two");
  expect(tasks).toContain('<li class="task"><input type="checkbox" disabled aria-label="Task">one');
  expect(tasks).toContain('<li class="task"><input type="checkbox" disabled checked aria-label="Task">two');
  for (const kind of ["note", "tip", "important", "warning", "caution"])
    expect(render(`> [!${kind.toUpperCase()}]\n> Mind.`)).toMatch(
      new RegExp(`<blockquote class="remark remark-${kind}"><p><strong>${kind}</strong></p>\\s*<p>Mind.`, "i"),
    );
  expect(render("> [!OTHER]\n> x")).not.toContain("remark");
  expect(render("~~gone~~ https://example.com/x")).toMatch(/<(?:s|del)>gone<.*href="https:\/\/example.com\/x"/);
  expect(render("see example.md")).toBe("<p>see example.md</p>");
});

test("blocks of code are in the colours of their language, as text", () => {
  const html = render("```js\nconst a = '<b>';\n```\n\n```nothing\n<i>\n```");
  expect(html).toContain('<span class="hk">const</span>');
  expect(html).not.toMatch(/<b>|<i>/);
});

test("what is hidden in a text is shown", () => {
  expect(render("a\u202eb `c\u200bd`")).toBe("<p>a[U+202E]b <code>c[U+200B]d</code></p>");
});

test("a text of too many elements, or of too many in each other, is not shown as HTML", { tags: "sweep" }, () => {
  const where = { place, rev: "main", directory: "" };
  expect(renderMarkdown("deep", "<div>".repeat(20_000), where)).toBeNull();
  expect(renderMarkdown("templates", "<template>".repeat(10_000), where)).toBeNull();
  expect(String(renderMarkdown("quoted", "> ".repeat(5_000), where))).toContain("<blockquote>");
  const open = Array.from({ length: 1_000 }, (_, i) => `<b id=${i}>`).join("");
  // Each paragraph would have all of them again: five million elements.
  expect(renderMarkdown("open", `<p>${open}</p>${"<p>x</p>".repeat(5_000)}`, where)).toBeNull();
});

test("a text is kept by what it is, and its links lead to the revision that is looked at", () => {
  const text = `[a](b.md) ![c](d.png) [e](../f/) <a title="&#0;">g</a>\n${"<http://a.b>\n".repeat(2_000)}`;
  const start = process.cpuUsage().user;
  const first = String(renderMarkdown("kept", text, { place, rev: "v0", directory: "docs" }));
  const once = process.cpuUsage().user - start;
  expect(first).toContain('href="/me/repo/blob/v0/docs/b.md"');
  for (let i = 1; i <= 20; i++) {
    const html = String(renderMarkdown("kept", text, { place, rev: `"$&/\xff${i}`, directory: "docs" }));
    expect(html).toBe(first.replaceAll("/v0/", () => `/%22$%26/%FF${i}/`));
  }
  expect(process.cpuUsage().user - start - once).toBeLessThan(5 * once);
  const other = String(renderMarkdown("kept", text, { place, rev: "v0", directory: "" }));
  expect(other).toContain('href="/me/repo/blob/v0/b.md"');
});

const MIB = 1024 * 1024;

/** Texts that took seconds, or became many megabytes, when only their sizes were bounded. */
const BOMBS: readonly [name: string, text: string][] = [
  ["addresses without an end", "//a.b/".repeat(21_000)],
  ["addresses in addresses", "https://a.b/".repeat(MIB / 12)],
  ["a long address, and many references to it", `[a]: ${"x".repeat(60_000)}\n\n${"[a]".repeat(20_000)}`],
  ["a long title, and many references to it", `[a]: b '${"x".repeat(60_000)}'\n\n${"![a]".repeat(15_000)}`],
  ["a paragraph in many quotations", "> ".repeat(95) + "a\n".repeat(MIB / 2 - 95)],
  ["brackets", "[".repeat(MIB)],
  ["images in brackets", "[![".repeat(MIB / 3)],
  ["emphasis that may open and close", "a*".repeat(MIB / 2)],
  ["emphasis of all kinds", "_a*b~~c".repeat(MIB / 7)],
  ["items", "* a\n".repeat(MIB / 4)],
  ["tables", "a|b\n-|-\n".repeat(MIB / 8)],
  ["wide rows that are filled up", `|${"a|".repeat(250)}\n|${"-|".repeat(250)}\n${"|\n".repeat(MIB / 4)}`],
  ["blocks of code", "```perl\n${~${~${~${~\n```\n".repeat(MIB / 25)],
  [
    "blocks of code in many languages",
    ["js", "yaml", "swift", "go"].map((name) => `\`\`\`${name}\n${"-> `".repeat(120)}\n\`\`\`\n`.repeat(500)).join(""),
  ],
  ["footnotes", Array.from({ length: 60_000 }, (_, i) => `[^${i}]: x\n`).join("")],
  ["definitions, each used", "[a]: /x\n\n[a]\n".repeat(MIB / 13)],
  ["entities", "&#x1F600;".repeat(MIB / 9)],
  ["addresses of mail", "a@b.co ".repeat(MIB / 7)],
  ["elements that stay open", `${"<b>".repeat(20_000)}${"</x>".repeat(200_000)}`],
  ["paragraphs below elements that stay open", `${"<span>".repeat(20_000)}${"<div>".repeat(150_000)}`],
  ["attributes", `<a ${Array.from({ length: 100_000 }, (_, i) => `a${i}`).join(" ")}>`],
  ["a line", "a".repeat(MIB)],
  ["hidden characters", "\u200b".repeat(MIB / 3)],
];

testSome(6, BOMBS, "%s: the work on a text has a bound, and so has its HTML", ([name, text]) => {
  const start = process.cpuUsage().user;
  const html = renderMarkdown(name, text, { place, rev: "main", directory: "" });
  // What a text may cost is about a second; some of these took minutes.
  expect((process.cpuUsage().user - start) / 1_000).toBeLessThan(3_000);
  expect(html?.length ?? 0).toBeLessThan(8 * MIB);
});

test("a long text of ordinary Markdown is shown as such", () => {
  const section =
    "## Version 1.2\n\n* [`abc`](https://example.com/c/1) - **doc**: *mend* a link (A. U. Thor) #123\n* `x`\n\n";
  expect(String(renderMarkdown("long", section.repeat(4_000), { place, rev: "main", directory: "" }))).toContain("<h3");
});
