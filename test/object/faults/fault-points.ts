import type { Fault, FaultyChunkStore } from "../../harness/faulty-chunk-store.ts";
import type { ListeningOwner, RepositoryStanding } from "../../../src/contract/registry.ts";
import type { RegistryPort } from "../../../src/object/store/registry/registry-answers.ts";
import { ANYONE } from "../../harness/requester.ts";
import { keepTree } from "../../../src/object/objects/tree-contents.ts";

/** Where a fault can occur: a statement of the database, a call of R2 by its name, of the registry,
 * or of another repository of the family. */
export type Place = "sql" | "registry" | "family" | FaultyCall;
type FaultyCall = Parameters<ConstructorParameters<typeof FaultyChunkStore>[1]>[0]["operation"];

/** Selects places. */
export type Places = (place: Place) => boolean;

const READS: ReadonlySet<Place> = new Set(["read", "stream", "open", "openFile"]);

/** The ways in which a call at this place can fail. Dying after a statement equals dying before the
 * next one, which is another point. */
export function faultsAt(place: Place): readonly Fault[] {
  if (place === "sql") return ["before", "crash"];
  return READS.has(place) ? ["before", "truncate", "flip", "crash"] : ["before", "after", "crash"];
}

/** What a failing call, or a call of a dead process, throws. */
export class PlannedFault extends Error {}

/** The points that a world has reached. A fault occurs at one of them. */
export class FaultPoints {
  /** The places reached so far, in order. */
  readonly places: Place[] = [];
  /** Whether the planned fault occurred. */
  isHit = false;
  #isWatched = false;
  #injection: { point: number; places: Places; fault: Fault } | null = null;

  /** Whether a check runs, in which no fault occurs. */
  get isWatched(): boolean {
    return this.#isWatched;
  }

  /** Plans a fault at a point.
   * @param point counted from 0 after those so far
   * @param places which of them count */
  arm(point: number, fault: Fault, places: Places = () => true): void {
    this.#injection = { point: this.places.filter(places).length + point, fault, places };
    this.isHit = false;
  }

  /** Forgets the planned fault, and the points so far. */
  disarm(): void {
    this.#injection = null;
    this.places.length = 0;
  }

  /** Runs a check: no fault occurs in it, and its calls do not count. */
  async watch<T>(look: () => T | Promise<T>): Promise<T> {
    this.#isWatched = true;
    try {
      return await look();
    } finally {
      this.#isWatched = false;
    }
  }

  /** Reaches a point. */
  protected reach(place: Place): Fault | null {
    this.places.push(place);
    const { point, places = () => false, fault = null } = this.#injection ?? {};
    if (!places(place) || this.places.filter(places).length - 1 !== point) return null;
    this.isHit = true;
    return fault;
  }
}

/** A registry that admits any push and whose calls can fail.
 * @param meet gets the fault of a call
 * @param tell gets each report
 * @param owner who owns the repository, and whether somebody listens; null: nobody does */
export function faultyRegistry(
  meet: () => Fault | null,
  tell: (standing: RepositoryStanding) => void,
  admits: () => boolean = () => true,
  owner: () => ListeningOwner | null = () => null,
): RegistryPort {
  const call = <T>(run: () => T): T => {
    const fault = meet();
    if (fault !== null && fault !== "after") throw new PlannedFault("the registry cannot be reached");
    const result = run();
    if (fault === "after") throw new PlannedFault("the registry's answer was lost");
    return result;
  };
  return {
    admit: async () => call(admits),
    report: async (_, standing) =>
      call(() => {
        tell(standing);
        return owner();
      }),
    nameOf: async () => null,
    readStanding: async () => call(() => ANYONE),
  };
}

/** Evicts all trees that an isolate caches. */
const LARGE_TREE = new Uint8Array(8 * 1024 * 1024);
let evictions = 0;

/** Drops an isolate's cached trees, so that all are read again. */
export function forgetTrees(): void {
  keepTree(Buffer.from(String(evictions++).padEnd(20)), LARGE_TREE);
}
