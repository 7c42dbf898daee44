/** A new secret to copy: it is never shown again.
 * @param what a noun, capitalised: `Token` */
export function ShownOnce({ what, text }: { what: string; text: string }) {
  return (
    <div class="note" role="status">
      <p>
        <strong>The {what.toLowerCase()} was made.</strong> Copy it now: nobody can show it again.
      </p>
      <label for="made">{what}</label>
      <div class="row">
        <input class="grow source" id="made" value={text} readonly />
        <button type="button" data-with="copy" data-from="made" hidden>
          Copy
        </button>
      </div>
    </div>
  );
}
