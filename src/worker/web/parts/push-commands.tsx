/** Commands that push a history to an empty repository.
 * @param url for git
 * @param branch text, the default branch */
export function PushCommands({ url, branch }: { url: string; branch: string }) {
  return (
    <>
      <h2>A new history</h2>
      <pre class="commands" tabindex={0}>
        {`git init -b ${branch}
git add .
git commit -m "First commit"
git remote add origin ${url}
git push -u origin ${branch}`}
      </pre>
      <h2>One that you have</h2>
      <pre class="commands" tabindex={0}>
        {`git remote add origin ${url}
git push -u origin ${branch}`}
      </pre>
    </>
  );
}
