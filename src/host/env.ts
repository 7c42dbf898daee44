import type { WorktreePolicy } from "../repository/state/worktree-policy.ts";

/** The name of the one object in `REGISTRY`. */
export const REGISTRY_NAME = "registry";

/** The Worker's bindings and variables, as `wrangler.toml` declares them. */
export interface Env {
  /** One SQLite-backed Durable Object per repository. */
  readonly REPOSITORY: DurableObjectNamespace;
  /** One SQLite-backed Durable Object for the deployment: which repositories there are. */
  readonly REGISTRY: DurableObjectNamespace;
  /** Chunks, cached packs, bundles and worktree files; keys begin with the repository's id. */
  readonly BUCKET: R2Bucket;
  /** `token` asks for a token for whatever is not public, `open` lets in everyone on this machine, by its loopback names alone. */
  readonly ACCESS: "open" | "token";
  /** Whether a push to a name that nothing has creates its repository, for who may write whatever the owner has; without it `on`. */
  readonly CREATE_ON_PUSH?: "on" | "off";
  /** Secret: the token that may do everything; `npm run setup` makes one. Without it only tokens that were given out get in. */
  readonly ADMIN_TOKEN?: string;
  /** Which branches' files are put into the bucket one by one: the default branch's unless others are chosen (when it is not set), those of chosen
   * branches, none. */
  readonly WORKTREES?: WorktreePolicy;
  /** What `npm start` has in place of that secret: answers each request with the admin token as it is now, or nothing. */
  readonly ADMIN_TOKEN_SERVICE?: Fetcher;
  /** Caps lowered by the deployment: a JSON object, see `Limits` in format/limits. */
  readonly LIMITS?: string;
}
