/** Which branches are materialized: the default branch, unless others are chosen; those that are chosen; none, and none can be chosen. */
export const WORKTREE_POLICIES = ["default-branch", "on-demand", "none"] as const;

/** One of them: the deployment's. */
export type WorktreePolicy = (typeof WORKTREE_POLICIES)[number];
