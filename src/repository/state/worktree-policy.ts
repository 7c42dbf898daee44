/** Which branches are materialized: the default branch, unless others are chosen; only chosen ones;
 * or none, and none can be chosen. */
export const WORKTREE_POLICIES = ["default-branch", "on-demand", "none"] as const;

/** The deployment's choice. */
export type WorktreePolicy = (typeof WORKTREE_POLICIES)[number];
