import { Api } from "./api.ts";
import { git, readTotals, type Totals } from "./git.ts";
import { Plan } from "./plan.ts";
import { Progress } from "./progress.ts";
import type { Relay } from "./relay.ts";
import { Saved } from "./saved.ts";
import { Sizes } from "./sizes.ts";
import { type RefMove, sendLargePush } from "./upload.ts";

/** Maximum number of wanted objects, mostly branches and tags, for sending all of them in a single
 * step. */
const WHOLE_TIPS = 10_000;

/** State from the commands before a push. */
export interface PushContext {
  /** URL of the repository. */
  readonly url: URL;
  readonly relay: Relay;
  /** The server's refs: ids in hex by name. */
  readonly refs: Map<string, string>;
  /** git's options by name. */
  readonly options: Map<string, string>;
  readonly pushOptions: string[];
}

/** Pushes, as one request or in steps.
 * @param lines `push [+]<src>:<dst>`, as git sends them
 * @returns the lines of the answer: `ok <dst>`, or `error <dst> <why>` */
export async function pushBatch(context: PushContext, lines: readonly string[]): Promise<string[]> {
  const moves = await readMoves(context, lines);
  const sizes = await Sizes.read();
  const wanted = moves.flatMap((move) => move.new ?? []);
  // Deletions are small, too.
  const isDry = context.options.get("dry-run") === "true" || wanted.length === 0;
  const had = [...new Set(context.refs.values())];
  const plan = isDry ? null : await planLarge(wanted, had, sizes);
  if (plan === null) {
    context.relay.send([...lines, ""]);
    return context.relay.block();
  }
  const isShown = context.options.get("progress") === "true" && context.options.get("verbosity") !== "0";
  const say = (line: string): void => {
    if (context.options.get("verbosity") !== "0") process.stderr.write(`holdfast: ${line}\n`);
  };
  const api = await Api.open(context.url);
  const saved = Saved.open(context.url.origin + context.url.pathname);
  // Also after a signal, so that the next push finds the folder free.
  process.once("exit", () => saved.close());
  try {
    const push = {
      moves,
      atomic: context.options.get("atomic") === "true",
      options: context.pushOptions.map(unquote),
      had,
      plan,
    };
    const refusals = await sendLargePush(api, saved, push, sizes, new Progress(isShown), say);
    return moves.map(({ name }) => {
      const refused = refusals.get(decode(name)) ?? null;
      return refused === null ? `ok ${name}` : `error ${name} ${Buffer.from(refused).toString("latin1")}`;
    });
  } finally {
    api.close();
    saved.close();
  }
}

/** Plans the steps of a large push; null: it is sent as one request. */
async function planLarge(wanted: readonly string[], had: readonly string[], sizes: Sizes): Promise<Plan | null> {
  const totals = await readTotals();
  const isWithin = (most: Totals): boolean =>
    totals !== null && totals.objects <= most.objects && totals.bytes <= most.bytes;
  if (isWithin(sizes.plain)) return null;
  // If all objects here fit into one step, no division is needed.
  const whole = isWithin(sizes.step) && wanted.length <= WHOLE_TIPS ? await Plan.whole(wanted, had, sizes.step) : null;
  if (whole !== null && whole.objects > sizes.plain.objects) return whole;
  const cut = Plan.cut(wanted, had, sizes.step);
  const isPlain = await cut.isWithin(sizes.plain);
  if (isPlain || whole !== null) await cut.stop();
  if (isPlain) await whole?.stop();
  return isPlain ? null : (whole ?? cut);
}

/** Reads the ref changes of a batch, with names as text. */
async function readMoves({ refs }: PushContext, lines: readonly string[]): Promise<RefMove[]> {
  const specs = lines.map((line) => /^push \+?([^:]*):(.*)$/.exec(line));
  const sources = specs.flatMap((spec) => spec?.[1] || []);
  const oids = sources.length === 0 ? [] : await resolveAll(sources);
  return specs.map((spec) => {
    const [, source, name] = spec!;
    return { name: decode(name!), old: refs.get(name!) ?? null, new: source === "" ? null : oids.shift()! };
  });
}

async function resolveAll(sources: readonly string[]): Promise<string[]> {
  const resolved = await git(["cat-file", "--batch-check=%(objectname)"], sources.map(decode));
  const oids = resolved.trimEnd().split("\n");
  oids.forEach((oid, i) => {
    if (!/^[0-9a-f]{40}$/.test(oid)) throw new Error(`${sources[i]} names no object`);
  });
  return oids;
}

/** Lines are byte strings; names are UTF-8. */
function decode(text: string): string {
  return Buffer.from(text, "latin1").toString();
}

/** Reads an option, which git quotes as in C if it must. */
function unquote(option: string): string {
  if (!option.startsWith('"')) return decode(option);
  return decode(
    option.slice(1, -1).replaceAll(/\\([0-7]{3}|.)/g, (_, code: string) => {
      if (code.length === 3) return String.fromCharCode(Number.parseInt(code, 8));
      return { n: "\n", t: "\t", r: "\r", a: "\x07", b: "\b", f: "\f", v: "\v" }[code] ?? code;
    }),
  );
}
