// What a client says of another host's repository.
import { z } from "@hono/zod-openapi";

/** Its address. */
export const RemoteUrl = z.string().max(2_000);

/** Begins the description of `Authorization`. */
export const AUTHORIZATION =
  "the header `Authorization`, such as `Bearer …`, stored encrypted, never shown, sent to the origin of `url` only: as";

/** What signs in there; null: nothing. */
export const Authorization = z
  .string()
  .min(1)
  .max(8_000)
  .regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/)
  .nullable();

/** What the names of refs begin with. */
export const Prefixes = z
  .array(
    z
      .string()
      .min("refs/".length)
      .max(1_000)
      .startsWith("refs/")
      // oxlint-disable-next-line no-control-regex -- a pkt-line of the protocol takes none.
      .regex(/^[^\x00-\x20\x7f]+$/),
  )
  .min(1)
  .max(100);
