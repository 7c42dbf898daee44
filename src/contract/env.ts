import { lowerLimits, type Limits } from "../base/format/configured-limits.ts";

/** The name of the only object in `REGISTRY`. */
export const REGISTRY_NAME = "registry";

/** The Worker's bindings and variables, as `wrangler.toml` declares them. */
export interface Env {
  /** One SQLite-backed Durable Object per repository. */
  readonly REPOSITORY: DurableObjectNamespace;
  /** One SQLite-backed Durable Object for the deployment: it knows all repositories. */
  readonly REGISTRY: DurableObjectNamespace;
  /** One SQLite-backed Durable Object per owner to whose events somebody listens. */
  readonly OWNERS: DurableObjectNamespace;
  /** Chunks, cached packs, bundles and worktree files; keys begin with the repository's id. */
  readonly BUCKET: R2Bucket;
  /** The deployed code: its id changes with every deployment. */
  readonly VERSION: { readonly id: string };
  /** `token`: everything that is not public needs a token. `open`: everyone on this machine is let
   * in, through loopback names only. */
  readonly ACCESS: "open" | "token";
  /** Whether a push to an unknown name creates its repository, if the caller may write for the
   * owner. Default: `on`. */
  readonly CREATE_ON_PUSH?: "on" | "off";
  /** Secret: the token with all rights, made by `npm run setup`. Without it, only created tokens
   * are accepted. */
  readonly ADMIN_TOKEN?: string;
  /** Which branches' files are written to the bucket: those of the default branch unless others are
   * chosen (the default), those of chosen branches only, or none. */
  readonly WORKTREES?: WorktreePolicy;
  /** Secret: encrypts the credentials that imports need for other hosts. Without it, none are
   * kept. */
  readonly SECRETS_KEY?: string;
  /** Used by `npm start` for imports and mirrors: refuses to connect to private addresses, unless
   * they may be asked. Default: the platform's, which reaches public ones only. */
  readonly OUTSIDE?: Fetcher;
  /** The same for webhooks, which have a setting of their own. */
  readonly RECEIVERS?: Fetcher;
  /** `on`: imports may ask loopback and private addresses. */
  readonly ALLOW_PRIVATE_IMPORTS?: "on" | "off";
  /** Whether webhooks may be at addresses of this machine and of private networks. Default:
   * `off`. */
  readonly ALLOW_PRIVATE_HOSTS?: "on" | "off";
  /** Gets every event of every repository. */
  readonly EVENTS?: Queue;
  /** Is asked before refs change. @see PolicyQuestion */
  readonly POLICY?: Fetcher;
  /** Used by `npm start` instead of that secret: answers each request with the current admin token,
   * or nothing. */
  readonly ADMIN_TOKEN_SERVICE?: Fetcher;
  /** Bytes that the platform takes in a request's body, which depends on the plan; default, and "":
   * any. */
  readonly MAX_BODY_BYTES?: string;
  /** The bucket by its S3 API, with which clients send and read LFS objects themselves: where R2
   * answers (`https://<account>.r2.cloudflarestorage.com`), the bucket's name, and the key for it.
   * All four or none. The last is a secret. */
  readonly S3_ENDPOINT?: string;
  readonly S3_BUCKET?: string;
  readonly S3_ACCESS_KEY_ID?: string;
  readonly S3_SECRET_ACCESS_KEY?: string;
  /** Limits lowered by the deployment: a JSON object, see `Limits` in format/limits. */
  readonly LIMITS?: string;
}

/** Reads the limits that the deployment lowers: variable `LIMITS`, a JSON object of `Limits`.
 * @throws RangeError for a limit that is raised or not a number, SyntaxError if it is not JSON */
export function configuredLimits(env: Env): Limits {
  return lowerLimits(JSON.parse(env.LIMITS ?? "{}") as Partial<Limits>);
}

/** Which branches are materialized: the default branch, unless others are chosen; only chosen ones;
 * or none, and none can be chosen. */
export const WORKTREE_POLICIES = ["default-branch", "on-demand", "none"] as const;

/** The deployment's choice. */
export type WorktreePolicy = (typeof WORKTREE_POLICIES)[number];
