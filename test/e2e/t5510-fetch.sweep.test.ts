import { test } from "vitest";
import { shareServer } from "../harness/shared-server.ts";
import { expectManyRefs } from "./fetched-refs.ts";

test("30,000 refs", async () => {
  await expectManyRefs(`${(await shareServer("t5510")).url}/t5510/refs.git`, 30_000);
});
