import { NO_CACHE } from "./error-response.ts";

const MESSAGE =
  "This server does not keep Git LFS objects. Commit the files themselves (git lfs migrate export), which may have up to 4 GiB each; " +
  "or push the pointers alone (GIT_LFS_SKIP_PUSH=1 git push), and keep the objects elsewhere (git config lfs.url).";

/** Answers a request of Git LFS, in words that its client shows. Pointers are files like any other, and need none of this.
 * @see the API of git-lfs, "Batch API: Response Errors" */
export function refuseLfs(): Response {
  const headers = { "Content-Type": "application/vnd.git-lfs+json", ...NO_CACHE };
  return new Response(JSON.stringify({ message: MESSAGE }), { status: 501, headers });
}
