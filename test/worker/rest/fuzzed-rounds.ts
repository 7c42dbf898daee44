import { expect } from "vitest";
import { fuzzApi, listUntried } from "../../harness/fuzzed-api.ts";
import { startServer } from "../../harness/server.ts";

/** Expects every answer to so many rounds of requests to be in the document, and every route to
 * have been answered well at least once. */
export async function expectDocumentedAnswers(rounds: number): Promise<void> {
  const server = await startServer({
    vars: { ALLOW_PRIVATE_HOSTS: "on" },
    constants: { MAX_WAIT_SECONDS: 1, ANSWER_MS: 500 },
  });
  try {
    const result = await fuzzApi(server, 1, rounds);
    expect(result.violations).toEqual([]);
    expect(listUntried(result)).toEqual([]);
  } finally {
    await server.close();
  }
}
