// @ts-check
// Conveniences for browsers that run scripts. Every page is complete without them: elements that
// need a script are hidden in the markup, and shown here.
//
// An element names a convenience in `data-with`. Once the page is loaded, each function is called
// with the elements that name it.

/** @type {Record<string, (element: HTMLElement) => void>} */
const COMFORTS = {
  /** A button that copies the text or the value of the element that `data-from` names. */
  copy(button) {
    button.hidden = false;
    const label = button.textContent;
    const tell = (/** @type {string} */ outcome) => {
      button.textContent = outcome;
      setTimeout(() => (button.textContent = label), 1_500);
    };
    button.addEventListener("click", () => {
      const from = document.getElementById(button.dataset["from"] ?? "");
      const text = from instanceof HTMLInputElement ? from.value : (from?.textContent ?? "");
      // Over plain http to another machine, browsers have no clipboard.
      if (navigator.clipboard === undefined) return tell("Not allowed");
      navigator.clipboard.writeText(text).then(
        () => tell("Copied"),
        () => tell("Not allowed"),
      );
    });
  },

  /** A field that hides the items of a list that do not contain the typed text. */
  filter(field) {
    if (!(field instanceof HTMLInputElement)) return;
    field.hidden = false;
    const panel = field.closest(".panel");
    field.addEventListener("input", () => {
      const wanted = field.value.toLowerCase();
      for (const item of panel?.querySelectorAll("li") ?? [])
        item.hidden = !(item.textContent ?? "").toLowerCase().includes(wanted);
    });
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      const first = [...(panel?.querySelectorAll("li") ?? [])].find((item) => !item.hidden);
      first?.querySelector("a")?.click();
    });
  },

  /** An element with a keyboard shortcut: the key focuses a field and clicks any other element. */
  key(element) {
    const { key } = element.dataset;
    addEventListener("keydown", (event) => {
      const { target } = event;
      const isTyping = target instanceof Element && target.closest("input, textarea, select") !== null;
      if (event.key !== key || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      if (element instanceof HTMLInputElement) element.select();
      else element.click();
    });
  },

  /** A form whose result is updated during typing: the part of the page that `data-shows` names. */
  live(form) {
    const field = form.querySelector("input");
    if (!(form instanceof HTMLFormElement) || field === null) return;
    let asked = 0;
    let timer = 0;
    const ask = async () => {
      const turn = ++asked;
      const url = new URL(form.action);
      url.searchParams.set(field.name, field.value);
      const answer = await fetch(url, { headers: { Accept: "text/html" } });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const id = form.dataset["shows"] ?? "";
      const found = page.getElementById(id);
      // A later answer may have arrived first.
      if (answer.ok && found !== null && turn === asked) document.getElementById(id)?.replaceWith(found);
    };
    field.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => void ask().catch(() => undefined), 120);
    });
  },

  /** Parts of the page, marked `data-renewed`, that are loaded again after each push that
   * `data-from` reports. A part with the focus is not replaced. A hidden page does not listen. */
  pushed(element) {
    const url = new URL(element.dataset["from"] ?? "", location.href);
    /** @type {EventSource | null} */
    let source = null;
    const renew = async () => {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (!answer.ok) throw new Error(`the page answered ${answer.status}`);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const parts = document.querySelectorAll("[data-renewed]");
      // A page without commits has a different layout.
      if (parts.length === 0 && page.querySelector("[data-renewed]") !== null) location.reload();
      for (const part of parts) {
        const found = page.getElementById(part.id);
        if (found !== null && !part.contains(document.activeElement)) part.replaceWith(found);
      }
    };
    const end = () => {
      source?.close();
      source = null;
    };
    const listen = () => {
      if (document.hidden) return end();
      if (source !== null) return;
      source = new EventSource(url);
      source.addEventListener("message", ({ lastEventId }) => {
        renew().then(
          () => url.searchParams.set("after", lastEventId),
          () => {
            // The same push will be reported again.
            end();
            setTimeout(listen, 2_000);
          },
        );
      });
    };
    document.addEventListener("visibilitychange", listen);
    listen();
  },

  /** A menu below a button. Escape, or a click elsewhere, closes it. */
  drop(details) {
    if (!(details instanceof HTMLDetailsElement)) return;
    details.addEventListener("toggle", () => {
      if (details.open) details.querySelector("input")?.focus();
    });
    details.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !details.open) return;
      details.open = false;
      details.querySelector("summary")?.focus();
    });
    document.addEventListener("click", (event) => {
      if (event.target instanceof Node && !details.contains(event.target)) details.open = false;
    });
  },

  /** Lines of code that the URL names: `#L10` or `#L10-L20`. A click selects a line, a click with
   * Shift extends the selection. */
  lines(code) {
    const mark = () => {
      for (const old of code.querySelectorAll(".marked")) old.classList.remove("marked");
      code.querySelector(".mark-line")?.remove();
      const [first, last] = namedLines(location.hash);
      if (first === 0) return;
      const from = document.getElementById(`L${first}`);
      const to = document.getElementById(`L${last}`) ?? from;
      if (from === null || to === null) return;
      for (let line = first; line <= last; line++) document.getElementById(`L${line}`)?.classList.add("marked");
      const bar = document.createElement("div");
      bar.className = "mark-line";
      const top = code.getBoundingClientRect().top;
      bar.style.top = `${from.getBoundingClientRect().top - top}px`;
      bar.style.height = `${to.getBoundingClientRect().bottom - from.getBoundingClientRect().top}px`;
      bar.style.width = `${code.scrollWidth}px`;
      code.append(bar);
      return from;
    };
    code.addEventListener("click", (event) => {
      const link = event.target instanceof Element ? event.target.closest(".numbers a") : null;
      if (link === null || !event.shiftKey) return;
      const [first] = namedLines(location.hash);
      const line = Number(link.id.slice(1));
      if (first === 0) return;
      event.preventDefault();
      history.replaceState(null, "", `#L${Math.min(first, line)}-L${Math.max(first, line)}`);
      mark();
    });
    addEventListener("hashchange", mark);
    mark()?.scrollIntoView({ block: "center" });
  },
};

/** Parses the lines that a fragment names; zeros: none.
 * @param {string} hash
 * @returns {[first: number, last: number]} */
function namedLines(hash) {
  const [, first, last] = /^#L(\d+)(?:-L?(\d+))?$/.exec(hash) ?? [];
  const from = Number(first ?? 0);
  return [from, Math.max(from, Number(last ?? from))];
}

for (const element of document.querySelectorAll("[data-with]")) {
  if (!(element instanceof HTMLElement)) continue;
  for (const name of (element.dataset["with"] ?? "").split(" ")) COMFORTS[name]?.(element);
}
