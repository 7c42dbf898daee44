import type { Tables } from "../store/tables.ts";

/** Lease of the deliveries in progress: they are started again after this time. */
export const DELIVERY_LEASE_MS = 30_000;

/** Adds the job that restarts interrupted deliveries of a transaction's events; must run in it. */
export function scheduleDeliveries({ webhooks, jobs }: Tables, nowMs: number): void {
  if (webhooks.isAnyActive()) jobs.add("deliver", "", nowMs + DELIVERY_LEASE_MS);
}
