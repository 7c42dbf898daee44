import { lowerLimits, type Limits } from "../base/format/configured-limits.ts";

/** The name of the only object in `REGISTRY`. */
export const REGISTRY_NAME = "registry";

/** The Worker's bindings and variables, as `wrangler.toml` declares them. */
export interface Env {
  /** One SQLite-backed Durable Object per repository. */
  readonly REPOSITORY: DurableObjectNamespace;
  /** The deployment's SQLite-backed Durable Object that knows all repositories. */
  readonly REGISTRY: DurableObjectNamespace;
  /** One SQLite-backed Durable Object per owner whose events somebody listens to. */
  readonly OWNERS: DurableObjectNamespace;
  /** Chunks, cached packs, bundles and worktree files; keys begin with the repository's id. */
  readonly BUCKET: R2Bucket;
  /** The deployed code. Its id changes with every deployment. */
  readonly VERSION: { readonly id: string };
  /** `token`: everything private needs a token. `open`: everyone on this machine has access,
   * through loopback names only. */
  readonly ACCESS: "open" | "token";
  /** Whether a push to an unknown name creates the repository, if the caller may write for the
   * owner. Default: `on`. */
  readonly CREATE_ON_PUSH?: "on" | "off";
  /** Secret: the token with all rights, made by `npm run setup`. Without it, only created tokens
   * are accepted. */
  readonly ADMIN_TOKEN?: string;
  /** Branches whose files are written to the bucket: the default branch unless others are chosen
   * (the default), chosen branches only, or none. */
  readonly WORKTREES?: WorktreePolicy;
  /** Secret: encrypts the credentials of imports and mirrors for other hosts. Without it, no
   * credentials can be stored. */
  readonly SECRETS_KEY?: string;
  /** Connects to other hosts for imports and mirrors. Set by `npm start`: refuses private
   * addresses, unless they are allowed. Default: the platform's `fetch`, which reaches public
   * addresses only. */
  readonly OUTSIDE?: Fetcher;
  /** Connects to the receivers of webhooks; as `OUTSIDE`, but with a setting of its own. */
  readonly RECEIVERS?: Fetcher;
  /** `on`: imports and mirrors may connect to loopback and private addresses. */
  readonly ALLOW_PRIVATE_IMPORTS?: "on" | "off";
  /** `on`: webhooks may connect to loopback and private addresses. Default: `off`. */
  readonly ALLOW_PRIVATE_HOSTS?: "on" | "off";
  /** Receives every event of every repository. */
  readonly EVENTS?: Queue;
  /** Service that allows or refuses changes of refs.
   * @see PolicyQuestion */
  readonly POLICY?: Fetcher;
  /** Replaces `ADMIN_TOKEN` in `npm start`: answers each request with the current admin token,
   * or with nothing. */
  readonly ADMIN_TOKEN_SERVICE?: Fetcher;
  /** The platform's limit for a request's body in bytes, which depends on the plan. Default, and
   * "": no limit. */
  readonly MAX_BODY_BYTES?: string;
  /** Access to the bucket through its S3 API, with which clients send and read LFS objects
   * directly: the endpoint (`https://<account>.r2.cloudflarestorage.com`), the bucket's name,
   * and an access key. Set all four or none. The last is a secret. */
  readonly S3_ENDPOINT?: string;
  readonly S3_BUCKET?: string;
  readonly S3_ACCESS_KEY_ID?: string;
  readonly S3_SECRET_ACCESS_KEY?: string;
  /** Limits that the deployment lowers: a JSON object.
   * @see Limits in format/limits */
  readonly LIMITS?: string;
}

/** Reads the limits that the deployment lowers from the variable `LIMITS`.
 * @throws RangeError for a limit that is raised or not a number, SyntaxError for text that is
 *   not JSON */
export function configuredLimits(env: Env): Limits {
  return lowerLimits(JSON.parse(env.LIMITS ?? "{}") as Partial<Limits>);
}

/** Policies for worktrees: the default branch, unless others are chosen; chosen branches only;
 * or none, and none can be chosen. */
export const WORKTREE_POLICIES = ["default-branch", "on-demand", "none"] as const;

/** The deployment's choice. */
export type WorktreePolicy = (typeof WORKTREE_POLICIES)[number];
