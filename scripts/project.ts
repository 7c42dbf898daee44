import { join } from "node:path";

/** The project's folder. */
export const PROJECT = join(import.meta.dirname, "..");
