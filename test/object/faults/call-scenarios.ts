import type { CommitRequest } from "../../../src/contract/commits.ts";
import type { MergeRequest } from "../../../src/contract/merges.ts";
import type { Scenario, Step } from "./enumerate.ts";
import { alarms, call, push } from "./steps.ts";
import { makeVersion } from "./versions.ts";
import { World } from "./world.ts";

const MAIN = "refs/heads/main";
const SIDE = "refs/heads/side";
const ADA = { name: "Ada", email: "ada@example.com", timeSeconds: 1_700_000_000, zone: "+0000" };

const first = makeVersion(null, "first");
const second = makeVersion(first, "second");

function commit(path: string, base: string | null = null): Step {
  const request: CommitRequest = {
    branch: "main",
    startPoint: null,
    base,
    onConflict: "merge",
    message: "Made here\n",
    author: ADA,
    committer: ADA,
    allowEmpty: false,
    operations: [{ op: "put", path, content: Buffer.from("content\n"), mode: null }],
  };
  return call("commit", request);
}

const mergeSide: MergeRequest = {
  branch: "main",
  head: "side",
  source: null,
  expected: null,
  isDryRun: false,
  fastForward: "allow",
  message: null,
  author: ADA,
  committer: ADA,
};

/** A repository with two commits on `main`. */
async function begin(): Promise<World> {
  const world = new World();
  await push({ [MAIN]: first.commit.oid }, first.pack).run(world);
  await push({ [MAIN]: second.commit.oid }, second.pack).run(world);
  return world;
}

/** As `begin`, with a branch that changed another file. */
async function beginForked(): Promise<World> {
  const world = await begin();
  await push({ [SIDE]: first.commit.oid }, null).run(world);
  await commitTo("side").run(world);
  return world;
}

function commitTo(branch: string): Step {
  const request = { message: "Aside\n", author: ADA, committer: ADA, allowEmpty: false, base: null, startPoint: null };
  const operations = [{ op: "put", path: "aside", content: Buffer.from("aside\n"), mode: null }];
  return call("commit", { ...request, branch, onConflict: "fail", operations });
}

const create: Step = { name: "create", run: ({ repository }) => repository.repository.create("main") };

/** Changes through the API. */
export const CALL_SCENARIOS: readonly Scenario[] = [
  { name: "creation, and a first commit", begin: async () => new World(), steps: [create, commit("new/file")] },
  { name: "REST commit", begin, steps: [commit("dir/deep/file"), alarms(2_000)] },
  { name: "REST commit made for an older state", begin, steps: [commit("other", first.commit.oid)] },
  { name: "REST merge", begin: beginForked, steps: [call("merge", mergeSide)] },
  {
    name: "REST refs",
    begin,
    steps: [
      call("createBranch", { name: "topic", startPoint: "main~1" }, "conflict"),
      call("renameBranch", { name: "topic", newName: "theme" }, "not-found"),
      call("putRef", { name: "refs/tags/v1", target: "main", force: false }),
      call("setDefaultBranch", "theme"),
      call("deleteRef", { name: MAIN }, "not-found"),
    ],
  },
];
