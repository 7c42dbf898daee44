/** On what figures were taken. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus, totalmem, type } from "node:os";
import { PROJECT } from "../../../test/harness/build.ts";
import { formatMarkdown } from "./markdown.ts";

/** What the machine is and what runs on it, by the names of the page's table. */
export type Machine = Readonly<Record<string, string>>;

/** Which machine each file of samples is from, by the names of the files without `.csv`. */
export type Machines = Readonly<Record<string, Machine>>;

/** Describes this machine, and the versions of what is measured. Nothing here names it. */
export function describeMachine(): Machine {
  const cores = cpus();
  return {
    CPU: cores[0]?.model.trim() ?? "unknown",
    cores: String(cores.length),
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    OS: describeSystem(),
    git: readVersion(["git"], "--version"),
    Apache: readVersion(["apache2", "/usr/sbin/apache2", "httpd"], "-v"),
    Node: process.versions.node,
    workerd: readPackageVersion("workerd"),
    Holdfast: describeCommit(),
  };
}

function describeSystem(): string {
  const kernel = type();
  try {
    const [, name] = /^PRETTY_NAME="?([^"\n]+)"?$/m.exec(readFileSync("/etc/os-release", "utf8")) ?? [];
    return name ?? kernel;
  } catch (error) {
    // Only Linux has this file.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return kernel;
    throw error;
  }
}

/** The first version number that a program tells of itself. @param names it may have */
function readVersion(names: readonly string[], option: string): string {
  for (const name of names) {
    try {
      const [version] = /\d+(\.\d+)+/.exec(execFileSync(name, [option], { encoding: "utf8" })) ?? [];
      return version ?? "unknown";
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  return "none";
}

function readPackageVersion(name: string): string {
  const path = createRequire(import.meta.url).resolve(`${name}/package.json`);
  return (JSON.parse(readFileSync(path, "utf8")) as { version: string }).version;
}

/** The commit, and whether what is measured is changed since: of the server's own files. */
function describeCommit(): string {
  const ask = (...args: string[]): string => execFileSync("git", args, { cwd: PROJECT, encoding: "utf8" }).trim();
  const changes = ask("status", "--porcelain", "--", "src", "wrangler.toml", "package-lock.json");
  return `${ask("rev-parse", "--short=12", "HEAD")}${changes === "" ? "" : " with changes"}`;
}

/** A row for each thing that was told, a column for each machine, headed by what was measured on it. */
export function formatMachines(machines: Machines): string {
  const groups = Map.groupBy(Object.entries(machines), ([, machine]) => JSON.stringify(machine));
  const columns = [...groups.values()].map((group) => ({
    head: group.map(([name]) => name).join(", "),
    machine: group[0]![1],
  }));
  const names = new Set(columns.flatMap(({ machine }) => Object.keys(machine)));
  const rows = [...names].map((name) => [name, ...columns.map(({ machine }) => machine[name] ?? "–")]);
  return formatMarkdown([["", ...columns.map(({ head }) => head)], ...rows]);
}
