import { scheduleBundle } from "./fetch/bundle-job.ts";
import {
  scheduleExpire,
  scheduleFilter,
  scheduleRepack,
  schedulePrune,
  scheduleSeal,
  scheduleTally,
} from "./maintenance/maintenance-jobs.ts";
import { scheduleDeliveries } from "./events/schedule-deliveries.ts";
import { scheduleMirrors } from "./remotes/mirrors.ts";
import type { PushFollower } from "./state/push.ts";
import { scheduleAllWorktrees, scheduleWorktrees } from "./worktree/worktrees.ts";

/** What follows a push, in this order. Each entry schedules a job if one is due. */
export const AFTER_PUSH: readonly PushFollower[] = [
  ({ tables, nowMs }) => scheduleRepack(tables, nowMs),
  ({ tables, hasWritten, nowMs }) => {
    // Only objects of this push can be newly small.
    if (hasWritten) scheduleSeal(tables, nowMs);
  },
  ({ tables, moved, movesHead, worktrees, nowMs }) => {
    if (movesHead) scheduleAllWorktrees(tables, worktrees, nowMs);
    else scheduleWorktrees(tables, moved, worktrees, nowMs);
  },
  ({ tables, moved, limits, nowMs }) => scheduleBundle(tables, moved, limits, nowMs),
  ({ tables, isStep, nowMs }) => {
    // What these write would make the next step's preparation void.
    if (isStep) return;
    scheduleTally(tables, nowMs);
    scheduleFilter(tables, nowMs);
  },
  ({ tables, isStep, nowMs }) => {
    if (!isStep) scheduleDeliveries(tables, nowMs);
  },
  ({ tables, moved, nowMs }) => scheduleMirrors(tables, moved, nowMs),
  ({ tables, nowMs }) => scheduleExpire(tables, nowMs),
  ({ tables, moved, isRefused, limits, nowMs }) => schedulePrune(tables, moved, isRefused, limits, nowMs),
];
