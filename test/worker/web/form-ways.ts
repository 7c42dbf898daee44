/** The ways in which forms are filled in and sent. */
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { findFaults } from "../../harness/axe.ts";

/** How a browser shows forms. */
export interface FormWay {
  readonly name: string;
  readonly scheme: "light" | "dark";
  readonly scripts: boolean;
}

/** `npm test` fills in forms in the first way, the sweep in the other, too. */
export const FORM_WAYS: readonly FormWay[] = [
  { name: "light, without scripts", scheme: "light", scripts: false },
  { name: "dark, with scripts", scheme: "dark", scripts: true },
];

/** Sends a form. Where scripts run, axe looks at what is said in place of a page to go on with:
 * faults beside their fields, both sides of a conflict, a token that is shown once.
 * @param button its label
 * @returns the status of the answer */
export async function sendForm(page: Page, { scripts }: FormWay, button: string): Promise<number> {
  const [response] = await Promise.all([
    page.waitForResponse((answer) => answer.request().method() === "POST"),
    page.getByRole("button", { name: button, exact: true }).click(),
  ]);
  await page.waitForLoadState();
  const status = response.status();
  if (scripts && status !== 303) expect(await findFaults(page)).toEqual([]);
  return status;
}
