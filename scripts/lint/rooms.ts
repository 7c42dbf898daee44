/** A lint rule of the project's own: which folder may import which. */
import { dirname, relative, resolve, sep } from "node:path";

interface Node {
  readonly type: string;
  readonly source?: { readonly value: unknown } | null;
}

interface Context {
  readonly filename: string;
  readonly cwd: string;
  /** One object. For each folder: its subfolders by level, from the lowest to the highest. Those of
   * one level must not import each other. */
  readonly options: readonly Readonly<Record<string, readonly (readonly string[])[]>>[];
  report(problem: { node: Node; message: string }): void;
}

/** The subfolder of a path below a folder; null for a file directly in the folder; undefined if the
 * path is not below it. */
function roomOf(folder: string, path: string): string | null | undefined {
  const below = relative(folder, path);
  if (below.startsWith("..")) return undefined;
  const [first, ...rest] = below.split(sep);
  return rest.length === 0 ? null : first;
}

/** Why a file in one subfolder must not import one in another; null if it may. */
function refuse(levels: readonly (readonly string[])[], from: string | null, to: string | null): string | null {
  // Files directly in the folder may import all.
  if (from === to || from === null) return null;
  if (to === null) return "what joins the rooms is on top: no room imports it";
  const levelOf = (room: string): number => levels.findIndex((rooms) => rooms.includes(room));
  for (const room of [from, to]) if (levelOf(room) < 0) return `the room ${room} has no place in the order`;
  if (levelOf(to) < levelOf(from)) return null;
  return `${from} may import only rooms below it, and ${to} is not: ${levels.map((rooms) => rooms.join(" | ")).join(" < ")}`;
}

const order = {
  meta: { schema: [{ type: "object" }] },
  create(context: Context) {
    const [folders = {}] = context.options;
    const check = (node: Node): void => {
      const specifier = node.source?.value;
      if (typeof specifier !== "string" || !specifier.startsWith(".")) return;
      const target = resolve(dirname(context.filename), specifier);
      for (const [folder, levels] of Object.entries(folders)) {
        const [from, to] = [context.filename, target].map((path) => roomOf(resolve(context.cwd, folder), path));
        if (from === undefined || to === undefined) continue;
        const message = refuse(levels, from, to);
        if (message !== null) context.report({ node, message });
      }
    };
    return {
      ImportDeclaration: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      ImportExpression: check,
    };
  },
};

export default { meta: { name: "rooms" }, rules: { order } };
