import type { Tables } from "../store/tables.ts";

/** How long deliveries under way are left alone before they are started again. */
export const DELIVERY_LEASE_MS = 30_000;

/** Adds the job that stands behind the deliveries of a transaction's events; must run in it. */
export function scheduleDeliveries({ webhooks, jobs }: Tables, nowMs: number): void {
  if (webhooks.isAnyActive()) jobs.add("deliver", "", nowMs + DELIVERY_LEASE_MS);
}
