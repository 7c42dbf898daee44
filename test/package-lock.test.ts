/** `npm ci` installs exactly what the lock file says, to the byte, and CI runs what is pinned. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const PROJECT = join(import.meta.dirname, "..");

interface LockEntry {
  readonly version: string;
  readonly integrity?: string;
  readonly resolved?: string;
  /** It is bundled in another package, whose checksum covers it. */
  readonly inBundle?: true;
  /** A directory of the project itself. */
  readonly link?: true;
  readonly os?: string | readonly string[];
  readonly hasInstallScript?: true;
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly allowScripts: Readonly<Record<string, boolean>>;
}

const manifest = JSON.parse(readFileSync(join(PROJECT, "package.json"), "utf8")) as Manifest;
/** The project's own Node: a separate package, so that installing the packed client does not
 * install it. */
const { optionalDependencies: nodes } = JSON.parse(
  readFileSync(join(PROJECT, "scripts/node/package.json"), "utf8"),
) as {
  readonly optionalDependencies: Readonly<Record<string, string>>;
};
const lock = JSON.parse(readFileSync(join(PROJECT, "package-lock.json"), "utf8")) as {
  readonly packages: Readonly<Record<string, LockEntry>>;
};
/** All third-party packages. */
const entries = Object.entries(lock.packages).filter(
  ([path, { link }]) => path.startsWith("node_modules/") && link !== true,
);

/** Packages without a checksum, as listed in SECURITY.md. None is for Linux. */
const WITHOUT_SUM = [
  "node_modules/@cloudflare/workerd-darwin-64",
  "node_modules/@cloudflare/workerd-darwin-arm64",
  "node_modules/@cloudflare/workerd-windows-64",
];

test("every package has its SHA-512, but those that SECURITY.md names", () => {
  const lacking = entries.filter(([, { integrity, inBundle }]) => inBundle !== true && !isSum(integrity));
  expect(lacking.map(([path]) => path)).toEqual(WITHOUT_SUM);
  const security = readFileSync(join(PROJECT, "SECURITY.md"), "utf8");
  for (const [path, { os }] of lacking) {
    expect(os).not.toContain("linux");
    expect(security).toContain(path.replace("node_modules/", ""));
  }
});

test("no entry names a registry, and npm writes none", () => {
  expect(entries.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  expect(readFileSync(join(PROJECT, ".npmrc"), "utf8")).toMatch(/^omit-lockfile-registry-resolved=true$/m);
});

test("no package runs a program of its own while it is installed", () => {
  const withScript = entries.filter(([, { hasInstallScript }]) => hasInstallScript === true);
  const denied = Object.fromEntries(withScript.map(([path]) => [path.replace("node_modules/", ""), false]));
  // For an npm that knows this list; for others, .npmrc denies all scripts.
  expect(manifest.allowScripts).toEqual(denied);
  expect(readFileSync(join(PROJECT, ".npmrc"), "utf8")).toMatch(/^ignore-scripts=true$/m);
});

test("the Node that the project brings is in the lock file, one for each system", () => {
  expect(manifest.devDependencies["holdfast-node"]).toBe("file:scripts/node");
  expect(Object.keys(nodes).length).toBe(5);
  for (const [name, version] of Object.entries(nodes)) {
    const entry = lock.packages[`node_modules/${name}`];
    expect(entry?.version).toBe(version);
    expect(isSum(entry?.integrity)).toBe(true);
  }
});

test("the project names exact versions", () => {
  const { dependencies, devDependencies } = manifest;
  const named = [dependencies, devDependencies, nodes].flatMap((some) => Object.entries(some));
  for (const [name, version] of named) {
    if (name !== "holdfast-node") expect(version, name).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
  }
});

function isSum(integrity: string | undefined): boolean {
  return /^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? "");
}

test("what CI runs of others is named by its commit, with the version beside it", () => {
  const folder = join(PROJECT, ".github/workflows");
  const used = readdirSync(folder).flatMap((name) =>
    readFileSync(join(folder, name), "utf8")
      .split("\n")
      .filter((line) => /\buses:/.test(line)),
  );
  expect(used.length).toBeGreaterThan(0);
  const pinned = /^\s*(- )?uses: (\.\/\S+|[\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/;
  expect(used.filter((line) => !pinned.test(line))).toEqual([]);
});
