import type { Env as WorkerEnv } from "../../src/contract/env.ts";

declare global {
  namespace Cloudflare {
    /** What tests inside the runtime import as `env` from `cloudflare:workers`. */
    interface Env extends WorkerEnv {}
  }
}
