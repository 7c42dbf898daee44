import { expect, test } from "vitest";
import { seal, unseal } from "../../../src/object/remotes/sealed.ts";

const SECRET = "a secret of the deployment, of which nobody knows";

test("a credential is read again with its secret, at its place, and nowhere else", async () => {
  const sealed = await seal(SECRET, "one", "Bearer héllo");
  expect(Buffer.from(sealed).includes("Bearer")).toBe(false);
  expect(await unseal(SECRET, "one", sealed)).toBe("Bearer héllo");
  expect(await seal(SECRET, "one", "Bearer héllo")).not.toEqual(sealed);
  await expect(unseal(SECRET, "two", sealed)).rejects.toThrow("stored with another SECRETS_KEY");
  await expect(unseal(`${SECRET}!`, "one", sealed)).rejects.toThrow("stored with another SECRETS_KEY");
  sealed[20]! ^= 1;
  await expect(unseal(SECRET, "one", sealed)).rejects.toThrow("stored with another SECRETS_KEY");
});

test.each([null, "short"])("without a secret of the deployment, nothing is kept (%j)", async (secret) => {
  await expect(seal(secret, "one", "Bearer a")).rejects.toThrow("the deployment needs the secret SECRETS_KEY");
});
