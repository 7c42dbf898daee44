// Placeholder until delivered from another branch.
export interface SparsePatterns {
  match(path: string, basename: string, isDirectory: boolean): "include" | "exclude" | "undecided";
}
export function parseSparsePatterns(_: Uint8Array): SparsePatterns {
  throw new Error("not yet");
}
