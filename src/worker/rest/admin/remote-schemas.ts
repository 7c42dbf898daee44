// What a client says of another host's repository.
import { z } from "@hono/zod-openapi";
import * as settings from "../../shared/remote-settings.ts";

/** Its address. */
export const RemoteUrl = z.string().max(settings.MAX_URL_LENGTH);

/** Begins the description of `Authorization`. */
export const AUTHORIZATION =
  "the header `Authorization`, such as `Bearer …`, stored encrypted, never shown, sent to the origin of `url` only: as";

/** What signs in there; null: nothing. */
export const Authorization = z
  .string()
  .min(1)
  .max(settings.MAX_AUTHORIZATION_LENGTH)
  .regex(settings.AUTHORIZATION)
  .nullable();

/** What the names of refs begin with. */
export const Prefixes = z
  .array(z.string().max(settings.MAX_PREFIX_LENGTH).regex(settings.PREFIX))
  .min(1)
  .max(settings.MAX_PREFIXES);
