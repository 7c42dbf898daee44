import { join } from "node:path";
import { convertV4MiniflareOptions, Log, LogLevel, type MiniflareOptions, Response } from "miniflare";
import { readAdminToken, readSecretsKey } from "./admin-token.ts";
import type { WorkerModule } from "./bundle.ts";
import type { StartOptions } from "./options.ts";
import { printLog } from "./server-log.ts";

/** The Worker as `wrangler.toml` declares it. Wrangler could read that file, but takes a second and
 * 130 MB to load. */
export const DECLARED = {
  name: "holdfast",
  compatibilityDate: "2026-11-01",
  compatibilityFlags: ["nodejs_compat"],
  r2Buckets: { BUCKET: "holdfast" },
  durableObjects: {
    REPOSITORY: { className: "RepositoryObject", useSQLite: true },
    REGISTRY: { className: "RegistryObject", useSQLite: true },
    OWNERS: { className: "OwnerObject", useSQLite: true },
  },
  versionMetadata: "VERSION",
};

/** The Miniflare options of a server. */
export function describeServer(options: StartOptions, workerModules: readonly WorkerModule[]): MiniflareOptions {
  return convertV4MiniflareOptions({
    host: options.ip,
    port: options.port,
    // Where wrangler dev puts it: data of earlier releases stays readable.
    resourcePersistencePath: join(options.dataFolder, "v3"),
    cf: false,
    log: new Log(LogLevel.NONE),
    logRequests: false,
    handleStructuredLogs: (entry) => printLog(entry, options.logLevel),
    workers: [
      {
        ...DECLARED,
        cacheAPI: false,
        bindings: {
          ACCESS: options.access,
          CREATE_ON_PUSH: options.createOnPush,
          WORKTREES: options.worktrees,
          ALLOW_PRIVATE_HOSTS: options.privateHosts,
          LIMITS: JSON.stringify(options.limits),
          ALLOW_PRIVATE_IMPORTS: options.allowPrivateImports ? "on" : "off",
          SECRETS_KEY: readSecretsKey(options.secretsFile),
        },
        // Read on every request, so that `npm run setup` takes effect at once, and a replaced token
        // no longer works.
        serviceBindings: {
          ADMIN_TOKEN_SERVICE: () => new Response(readAdminToken(options.secretsFile)),
          OUTSIDE: networkOf(options.allowPrivateImports),
          RECEIVERS: networkOf(options.privateHosts === "on"),
        },
        modulesRoot: "/",
        modules: [...workerModules],
      },
    ],
  });
}

/** Other hosts. The runtime looks at the address to which it connects, whatever a name led to
 * before. */
export function networkOf(allowsPrivate: boolean) {
  const allow = allowsPrivate ? ["public", "private"] : ["public"];
  return { network: { allow, tlsOptions: { trustBrowserCas: true } } };
}
