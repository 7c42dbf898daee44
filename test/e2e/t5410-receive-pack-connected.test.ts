// Every object that a push refers to must exist and have the type that the reference implies. @see
// git-receive-pack(1)
import { makeCommit, makeObject, makeTag, makeTree, packOf } from "../harness/pack-builder.ts";
import { BASE, type PushRow, testPushes } from "../harness/push-table.ts";

type Row = Omit<PushRow, "answer">;

const NOWHERE = "1234567890123456789012345678901234567890";

const refused: readonly Row[] = [
  {
    name: "blob missing",
    push: ({ blob, tree, commit }) => ({ pack: packOf(tree, commit), objects: [blob, tree, commit] }),
  },
  { name: "tree missing", push: ({ blob, commit }) => ({ pack: packOf(blob, commit) }) },
  {
    name: "subtree missing",
    push: ({ blob, tree }) => {
      const outer = makeTree(["40000", "folder", tree]);
      const tip = makeCommit(outer, [BASE.commit.oid]);
      return { pack: packOf(blob, outer, tip), tip: tip.oid, objects: [blob, outer, tip] };
    },
  },
  {
    name: "parent missing",
    push: ({ blob, tree }) => {
      const tip = makeCommit(tree, [BASE.commit.oid, NOWHERE]);
      return { pack: packOf(blob, tree, tip), tip: tip.oid, objects: [blob, tree, tip] };
    },
  },
  {
    name: "a parent whose tree is missing",
    push: ({ blob, tree, commit }) => {
      const tip = makeCommit(BASE.tree, [commit.oid]);
      return { pack: packOf(blob, commit, tip), tip: tip.oid, objects: [blob, tree, commit, tip] };
    },
  },
  {
    name: "tag's target missing",
    push: ({ blob, commit }) => {
      const tag = makeTag(commit, "commit", "v1");
      return { pack: packOf(blob, tag), commands: [{ name: "refs/tags/v1", new: tag.oid }], objects: [blob, tag] };
    },
  },
  {
    name: "tag says commit, its target is a blob",
    push: ({ blob }) => {
      const tag = makeTag(blob, "commit", "v1");
      return { pack: packOf(blob, tag), commands: [{ name: "refs/tags/v1", new: tag.oid }], objects: [blob] };
    },
  },
  {
    name: "tag says blob, its target is a commit that is there already",
    push: () => {
      const tag = makeTag(BASE.commit, "blob", "v1");
      return { pack: packOf(tag), commands: [{ name: "refs/tags/v1", new: tag.oid }], objects: [] };
    },
  },
  {
    name: "commit's tree is a blob",
    push: ({ blob }) => {
      const tip = makeCommit(blob, [BASE.commit.oid]);
      return { pack: packOf(blob, tip), tip: tip.oid, objects: [blob] };
    },
  },
  {
    name: "commit's tree is a blob that is there already",
    push: () => {
      const tip = makeCommit(BASE.blob, [BASE.commit.oid]);
      return { pack: packOf(tip), tip: tip.oid, objects: [] };
    },
  },
  {
    name: "commit's tree is a commit",
    push: () => {
      const tip = makeCommit(BASE.commit, [BASE.commit.oid]);
      return { pack: packOf(tip), tip: tip.oid, objects: [] };
    },
  },
  {
    name: "parent is a tree",
    push: ({ blob, tree }) => {
      const tip = makeCommit(tree, [tree.oid]);
      return { pack: packOf(blob, tree, tip), tip: tip.oid, objects: [blob, tree] };
    },
  },
  {
    name: "parent is a blob that is there already",
    push: ({ blob, tree }) => {
      const tip = makeCommit(tree, [BASE.blob.oid]);
      return { pack: packOf(blob, tree, tip), tip: tip.oid, objects: [blob, tree] };
    },
  },
  {
    name: "mode says tree, the object is a blob",
    push: ({ blob }) => {
      const tree = makeTree(["40000", "folder", blob]);
      const tip = makeCommit(tree, [BASE.commit.oid]);
      return { pack: packOf(blob, tree, tip), tip: tip.oid, objects: [blob] };
    },
  },
  {
    name: "mode says blob, the object is a tree",
    push: ({ blob, tree }) => {
      const outer = makeTree(["100644", "file", tree]);
      const tip = makeCommit(outer, [BASE.commit.oid]);
      return { pack: packOf(blob, tree, outer, tip), tip: tip.oid, objects: [blob, tree] };
    },
  },
  {
    name: "mode says blob, the object is a tree that is there already",
    push: () => {
      const tree = makeTree(["100644", "file", BASE.tree]);
      const tip = makeCommit(tree, [BASE.commit.oid]);
      return { pack: packOf(tree, tip), tip: tip.oid, objects: [] };
    },
  },
  {
    name: "branch to a blob",
    unpack: "ok",
    push: ({ blob }) => ({ pack: packOf(blob), tip: blob.oid, objects: [blob] }),
  },
  {
    name: "branch to a tag",
    unpack: "ok",
    push: ({ blob, tree, commit }) => {
      const tag = makeTag(commit, "commit", "v1");
      return { pack: packOf(blob, tree, commit, tag), tip: tag.oid };
    },
  },
  {
    name: "branch to an object that nobody knows",
    push: ({ blob }) => ({ pack: packOf(blob), tip: NOWHERE, objects: [blob] }),
  },
  {
    name: "atomic, one of two refs broken",
    push: ({ blob, tree, commit }, branch) => {
      const broken = makeCommit(makeTree(["100644", "file", makeObject("blob", `missing ${blob.oid}`)]));
      return {
        pack: packOf(blob, tree, commit, broken),
        capabilities: "atomic",
        commands: [
          { name: branch, new: commit.oid },
          { name: `${branch}-broken`, new: broken.oid },
        ],
      };
    },
  },
];

const accepted: readonly Row[] = [
  {
    name: "gitlink to nowhere",
    push: ({ blob }) => {
      const tree = makeTree(["100644", "file", blob], ["160000", "module", NOWHERE]);
      const tip = makeCommit(tree, [BASE.commit.oid]);
      return { pack: packOf(blob, tree, tip), tip: tip.oid };
    },
  },
  {
    name: "all that it refers to is there already",
    push: () => {
      const tip = makeCommit(BASE.tree, [BASE.commit.oid], "Again\n");
      return { pack: packOf(tip), tip: tip.oid };
    },
  },
  {
    name: "a commit of four parents",
    push: ({ blob, tree, commit }) => {
      const others = ["a\n", "b\n"].map((message) => makeCommit(BASE.tree, [], message));
      const tip = makeCommit(tree, [BASE.commit.oid, commit.oid, ...others.map(({ oid }) => oid)]);
      return { pack: packOf(blob, tree, commit, ...others, tip), tip: tip.oid };
    },
  },
  {
    name: "atomic, both refs whole",
    push: ({ blob, tree, commit }, branch) => ({
      pack: packOf(blob, tree, commit),
      capabilities: "atomic",
      commands: [
        { name: branch, new: commit.oid },
        { name: `${branch}-too`, new: commit.oid },
      ],
    }),
  },
];

testPushes([
  ...refused.map((row) => ({ ...row, answer: "refused" }) as const),
  ...accepted.map((row) => ({ ...row, answer: "accepted" }) as const),
]);
