import { NO_CACHE } from "./error-response.ts";

const MESSAGE =
  "This server does not keep Git LFS objects. Either commit the files themselves, up to 4 GiB each (git lfs migrate export), " +
  "or push only the pointers (GIT_LFS_SKIP_PUSH=1 git push) and keep the objects elsewhere (git config lfs.url).";

/** Answers a Git LFS request with a message that its client shows. Pointer files need none of this:
 * they are ordinary files.
 * @see the API of git-lfs, "Batch API: Response Errors" */
export function refuseLfs(): Response {
  const headers = { "Content-Type": "application/vnd.git-lfs+json", ...NO_CACHE };
  return new Response(JSON.stringify({ message: MESSAGE }), { status: 501, headers });
}
