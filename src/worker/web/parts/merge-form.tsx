import { visibleName } from "./text.ts";

/** What was typed into the form, as text. */
export interface TypedMerge {
  readonly message: string;
  readonly name: string;
  readonly email: string;
}

/** The form to merge what is compared.
 * @param branch that gets the commits, byte string
 * @param ids of the commits that the visitor has seen, in hex: others are not merged */
export function MergeForm({
  action,
  branch,
  ids,
  typed: { message, name, email },
  isOpen,
}: {
  action: string;
  branch: string;
  ids: { readonly base: string; readonly head: string };
  typed: TypedMerge;
  isOpen: boolean;
}) {
  return (
    <details class="box merge" open={isOpen}>
      <summary>
        Merge into <bdi>{visibleName(branch)}</bdi>
      </summary>
      <form method="post" action={action}>
        <input type="hidden" name="base" value={ids.base} />
        <input type="hidden" name="head" value={ids.head} />
        <label for="message">Message</label>
        <textarea id="message" name="message" rows={4}>
          {`\n${message}`}
        </textarea>
        <label for="name">Your name</label>
        <input id="name" name="name" value={name} autocomplete="name" maxlength={1_000} required />
        <label for="email">Your email</label>
        <input id="email" name="email" type="email" value={email} autocomplete="email" maxlength={1_000} required />
        <label>
          <input type="checkbox" name="fastForward" value="never" /> Make a merge commit even if the branch could simply
          move forward
        </label>
        <p>
          <button class="main">Merge</button>
        </p>
      </form>
    </details>
  );
}
