import { cloneUrl } from "./urls.ts";
import type { PagePlace } from "./web-env.ts";

/** How to clone a repository. */
export function CloneBox({ origin, place }: { origin: string; place: PagePlace }) {
  const url = cloneUrl(origin, place);
  return (
    <details class="drop push" data-with="drop">
      <summary>Clone</summary>
      <div class="panel">
        <Command label="Address" id="clone-url" text={url} />
        <Command label="All of it" id="clone-all" text={`git clone ${url}`} />
        <Command label="The latest commit alone" id="clone-shallow" text={`git clone --depth=1 ${url}`} />
        <Command
          label="A large history, prepared by the server"
          id="clone-bundle"
          text={`git clone -c transfer.bundleURI=true ${url}`}
        />
      </div>
    </details>
  );
}

/** A text to be copied, with a button for it. */
function Command({ label, id, text }: { label: string; id: string; text: string }) {
  return (
    <>
      <label for={id}>{label}</label>
      <div class="row">
        <input class="grow" id={id} value={text} readonly />
        <button type="button" data-with="copy" data-from={id} hidden>
          Copy
        </button>
      </div>
    </>
  );
}
