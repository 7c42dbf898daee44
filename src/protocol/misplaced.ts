/** What git asks for below a repository's URL. */
const REQUESTED = /^(?<repository>\/.*?)\/(?:info\/(?:refs|lfs\/.*)|git-upload-pack|git-receive-pack)$/;

/** Says what is wrong with the URL of a repository whose requests come where no repository can be.
 * @param path of the request
 * @returns null: this is no request of git's */
export function explainPath(path: string): string | null {
  const repository = REQUESTED.exec(path)?.groups!["repository"];
  if (repository === undefined) return null;
  const parts = repository.slice(1).split("/");
  const reason =
    parts.length < 2
      ? `in ${repository} the owner is missing`
      : `${repository} has ${parts.length} parts instead of two`;
  return `the URL of a repository is that of the server and /<owner>/<name>.git: ${reason}`;
}
