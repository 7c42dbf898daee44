/** An icon that CSS draws: `class="icon icon-…"`. It says nothing that text beside it does not. */
export function Icon({
  name,
}: {
  name: "directory" | "file" | "link" | "module" | "branch" | "tag" | "commit" | "lock";
}) {
  return <span class={`icon icon-${name}`} aria-hidden="true" />;
}
