/** The paths that git requests below a repository's URL. */
const REQUESTED = /^(?<repository>\/.*?)\/(?:info\/(?:refs|lfs\/.*)|git-upload-pack|git-receive-pack)$/;

/** Explains why the URL of a Git request is not that of a repository.
 * @param path of the request
 * @returns null when it is not a Git request */
export function explainPath(path: string): string | null {
  const repository = REQUESTED.exec(path)?.groups!["repository"];
  if (repository === undefined) return null;
  const parts = repository.slice(1).split("/");
  const reason =
    parts.length < 2
      ? `in ${repository} the owner is missing`
      : `${repository} has ${parts.length} parts instead of two`;
  return `a repository's URL is <server>/<owner>/<name>.git: ${reason}`;
}
