import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type BundledWorker, bundleWorker } from "../../scripts/start/bundle.ts";
import { keepModules } from "../../scripts/start/kept-modules.ts";
import { PROJECT } from "../harness/build.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

/** A project of two files, which a bundle joins. */
class Project {
  readonly dir = makeTempDir("kept");
  readonly file = join(this.dir, "kept/worker");
  /** How often it was bundled. */
  bundled = 0;
  /** What somebody does while it is bundled. */
  meanwhile = (): void => {};

  constructor() {
    this.write("a.ts", "one");
    this.write("b.wasm", "two");
  }

  /** Writes a file, an hour ago. */
  write(name: string, text: string): void {
    writeFileSync(join(this.dir, name), text);
    utimesSync(join(this.dir, name), Date.now() / 1000 - 3600, Date.now() / 1000 - 3600);
  }

  async modules(): Promise<string[]> {
    const modules = await keepModules(this.file, this.dir, async () => this.#bundle());
    return modules.map(({ type, path, contents }) => `${type} ${path} ${Buffer.from(contents).toString()}`);
  }

  #bundle(): BundledWorker {
    this.bundled++;
    const contents = ["a.ts", "b.wasm"].map((name) => readFileSync(join(this.dir, name)));
    this.meanwhile();
    return {
      modules: [
        { type: "ESModule", path: "/worker.js", contents: contents[0]! },
        { type: "CompiledWasm", path: "/b.wasm", contents: contents[1]! },
      ],
      inputs: ["a.ts", "b.wasm"],
    };
  }
}

const MODULES = ["ESModule /worker.js one", "CompiledWasm /b.wasm two"];

test("what nobody has changed is not bundled again, and is the same", async () => {
  const project = new Project();
  for (let times = 0; times < 3; times++) expect(await project.modules()).toEqual(MODULES);
  expect(project.bundled).toBe(1);
  // Nothing else is left beside it.
  expect(readdirSync(join(project.dir, "kept"))).toEqual(["worker"]);
});

test("a changed file is bundled, once", async () => {
  const project = new Project();
  await project.modules();
  // Of the same size, and of the same time.
  project.write("a.ts", "six");
  for (let times = 0; times < 2; times++)
    expect(await project.modules()).toEqual(["ESModule /worker.js six", MODULES[1]]);
  expect(project.bundled).toBe(2);
});

test("a file that has gone is told by whoever bundles", async () => {
  const project = new Project();
  await project.modules();
  rmSync(join(project.dir, "b.wasm"));
  await expect(project.modules()).rejects.toThrow(/b\.wasm/);
});

test("a file that changes while it is bundled is not taken for the one that was read", async () => {
  const project = new Project();
  project.meanwhile = () => writeFileSync(join(project.dir, "a.ts"), "new");
  expect(await project.modules()).toEqual(MODULES);
  project.meanwhile = () => {};
  expect(await project.modules()).toEqual(["ESModule /worker.js new", MODULES[1]]);
});

test.each<[string, (content: Buffer) => Buffer]>([
  ["cut in its head", (content) => content.subarray(0, 20)],
  ["cut in a module", (content) => content.subarray(0, -1)],
  ["empty", () => Buffer.alloc(0)],
  ["changed in a module", (content) => Buffer.concat([content.subarray(0, -1), Buffer.from("x")])],
  ["of another format", (content) => Buffer.from(content.toString().replace('"format":1', '"format":0'))],
])("what is kept, but %s, is bundled again", async (_, damage) => {
  const project = new Project();
  await project.modules();
  const kept = readFileSync(project.file);
  writeFileSync(project.file, damage(kept));
  expect(await project.modules()).toEqual(MODULES);
  expect(project.bundled).toBe(2);
  expect(readFileSync(project.file)).toEqual(kept);
});

test("where nothing can be written, everything is bundled", async () => {
  const project = new Project();
  // Not a folder, which root could write to.
  writeFileSync(join(project.dir, "kept"), "");
  for (let times = 0; times < 2; times++) expect(await project.modules()).toEqual(MODULES);
  expect(project.bundled).toBe(2);
});

test(
  "the Worker is made of its sources, its packages, and of what says how they are bundled",
  { tags: "sweep" },
  async () => {
    const { modules, inputs } = await bundleWorker();
    expect(inputs).toEqual(
      expect.arrayContaining([
        "src/main.ts",
        "src/base/codec/holdfast.wasm",
        "node_modules/hono/dist/hono.js",
        "scripts/start/bundle.ts",
        "package-lock.json",
        "node_modules/.package-lock.json",
        "tsconfig.json",
      ]),
    );
    const dir = makeTempDir("kept");
    mkdirSync(join(dir, "kept"));
    const keep = () => keepModules(join(dir, "kept/worker"), PROJECT, async () => ({ modules, inputs }));
    await keep();
    expect(await keep()).toEqual(modules.map((module) => ({ ...module, contents: Buffer.from(module.contents) })));
  },
);
