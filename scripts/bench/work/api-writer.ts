/** Somebody who saves through `POST …/commits`. */
import { type Answer, askApi } from "../../../test/harness/api.ts";
import { apiPathOf } from "../hosts/holdfast.ts";
import { subjectOf } from "./edit.ts";
import { MAX_ATTEMPTS, StepClock, type Writer } from "./writer.ts";

const AUTHOR = { name: "Ada Example", email: "ada@example.com" };

/** Readies a writer who says with each save which commit they saw last: their own last one, so that what others have saved since is
 * merged by the server. */
export function openApiWriter(url: string, branch: string): Writer {
  const server = { url: new URL(url).origin };
  const repository = apiPathOf(url);
  let base: string | undefined;
  const catchUp = async (): Promise<void> => {
    const { commit } = expect(200, await askApi<{ commit: string }>(server, `${repository}/branches/${branch}`));
    base = commit;
  };
  const read = async (path: string): Promise<string> =>
    expect(200, await askApi<string>(server, `${repository}/raw/${base}/${path}`));
  return {
    url,
    branch,
    catchUp,
    async save(edit) {
      const clock = new StepClock();
      let was = edit.needsText ? await read(edit.path) : "";
      for (let conflicts = 0; conflicts < MAX_ATTEMPTS; conflicts++) {
        const json = {
          branch,
          base,
          message: subjectOf(edit.number),
          author: AUTHOR,
          operations: [{ op: "put", path: edit.path, content: edit.write(was) }],
        };
        const answer = await clock.time("save", () =>
          askApi<Made & Failure>(server, `${repository}/commits`, { method: "POST", json }),
        );
        if (answer.status === 409 && answer.body.error.code === "conflict") {
          await clock.time("save", async () => {
            await catchUp();
            if (edit.needsText) was = await read(edit.path);
          });
          continue;
        }
        const { commit, kind } = expect(201, answer);
        base = commit;
        return { steps: clock.steps, merges: kind === "rebased" ? 1 : 0, conflicts, retries: conflicts };
      }
      throw new Error(`${subjectOf(edit.number)}: ${MAX_ATTEMPTS} attempts did not get it into ${branch}`);
    },
  };
}

interface Made {
  readonly kind: string;
  readonly commit: string;
}

interface Failure {
  readonly error: { readonly code: string };
}

function expect<Body>(status: number, answer: Answer<Body>): Body {
  if (answer.status !== status) throw new Error(`answered with ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}
