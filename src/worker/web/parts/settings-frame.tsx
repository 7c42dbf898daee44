import type { Child } from "hono/jsx";
import { PlaceHeader } from "./place-header.tsx";
import { showPage } from "./show-page.tsx";
import { placeUrl } from "./urls.ts";
import type { PageContext } from "./web-env.ts";

/** The sections of a repository's settings; to add a section, add a row. */
const SECTIONS = [
  { id: "general", label: "General", below: "settings" },
  { id: "protected", label: "Protected refs", below: "settings/protected" },
  { id: "tokens", label: "Tokens", below: "settings/tokens" },
  { id: "webhooks", label: "Webhooks", below: "settings/webhooks" },
  { id: "mirrors", label: "Mirrors", below: "settings/mirrors" },
  { id: "lfs", label: "Git LFS", below: "settings/lfs" },
  { id: "pushes", label: "Push log", below: "settings/pushes" },
  { id: "maintenance", label: "Maintenance", below: "settings/maintenance" },
  { id: "worktrees", label: "Files in R2", below: "settings/worktrees" },
  { id: "delete", label: "Delete", below: "settings/delete" },
] as const;

type SettingsSection = (typeof SECTIONS)[number]["id"];

/** Makes the URL of a section, which is also its forms' action. */
export function settingsUrl(context: PageContext, section: SettingsSection): string {
  return placeUrl(context.get("place"), SECTIONS.find(({ id }) => id === section)!.below);
}

/** Answers with a section of a repository's settings. */
export function showSettings(
  context: PageContext,
  section: SettingsSection,
  { status = 200, children }: { status?: number; children: Child },
): Promise<Response> {
  const place = context.get("place");
  const { label } = SECTIONS.find(({ id }) => id === section)!;
  return showPage(context, {
    title: `${label} · ${place.owner}/${place.name}`,
    status,
    headers: { "Cache-Control": "no-store" },
    content: (
      <>
        <PlaceHeader place={place} tab="settings" />
        <div class="settings">
          <nav aria-label="Settings">
            <ul>
              {SECTIONS.map(({ id, label: name, below }) => (
                <li>
                  <a href={placeUrl(place, below)} aria-current={id === section ? "page" : undefined}>
                    {name}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
          <div>
            <h2>{label}</h2>
            {children}
          </div>
        </div>
      </>
    ),
  });
}
