import type { Child, JSX } from "hono/jsx";

/** Faults of a form, by the names of its fields; "": a fault of the whole form. */
export type Faults = Readonly<Record<string, string>>;

/** A form without faults. */
export const NO_FAULTS: Faults = {};

type Attributes = Omit<JSX.IntrinsicElements["input"], "name" | "id">;

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly faults: Faults;
  readonly hint?: Child;
}

/** A note above a form that was refused, with a link to each faulty field. */
export function FaultNote({ faults, labels = {} }: { faults: Faults; labels?: Readonly<Record<string, string>> }) {
  const names = Object.keys(faults).filter((name) => name !== "");
  if (names.length === 0 && faults[""] === undefined) return null;
  return (
    <div class="fault" role="alert">
      <p>
        <strong>Nothing was changed.</strong> {faults[""]}
      </p>
      {names.length > 0 && (
        <ul>
          {names.map((name) => (
            <li>
              <a href={`#${name}`}>{labels[name] ?? name}</a>: {faults[name]}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** A single-line field. */
export function TextField({ name, label, faults, hint, ...attributes }: FieldProps & Attributes) {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <input id={name} name={name} {...described(name, faults, hint)} {...attributes} />
      <Beside name={name} faults={faults} hint={hint} />
    </div>
  );
}

/** A field for several lines.
 * @param text its content */
export function TextArea({
  name,
  label,
  faults,
  hint,
  text,
  ...attributes
}: FieldProps & Omit<JSX.IntrinsicElements["textarea"], "name" | "id"> & { readonly text: string }) {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <textarea id={name} name={name} {...described(name, faults, hint)} {...attributes}>
        {/* Browsers drop a newline at the beginning. */}
        {`\n${text}`}
      </textarea>
      <Beside name={name} faults={faults} hint={hint} />
    </div>
  );
}

/** A drop-down list.
 * @param choices values and their labels */
export function SelectField({
  name,
  label,
  faults,
  hint,
  value,
  choices,
}: FieldProps & { readonly value: string; readonly choices: Readonly<Record<string, string>> }) {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <select id={name} name={name} {...described(name, faults, hint)}>
        {Object.entries(choices).map(([choice, word]) => (
          <option value={choice} selected={choice === value}>
            {word}
          </option>
        ))}
      </select>
      <Beside name={name} faults={faults} hint={hint} />
    </div>
  );
}

/** A radio button or a checkbox.
 * @param id default: the name */
export function Choice({
  type,
  name,
  id = name,
  value,
  isChosen,
  children,
}: {
  type: "radio" | "checkbox";
  name: string;
  id?: string;
  value: string;
  isChosen: boolean;
  children: Child;
}) {
  return (
    <div class="choice">
      <input type={type} id={id} name={name} value={value} checked={isChosen} />
      <label for={id}>{children}</label>
    </div>
  );
}

function Beside({ name, faults, hint }: Pick<FieldProps, "name" | "faults" | "hint">) {
  return (
    <>
      {hint !== undefined && (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
      {faults[name] !== undefined && (
        <p class="fault" id={`${name}-fault`}>
          {faults[name]}
        </p>
      )}
    </>
  );
}

function described(name: string, faults: Faults, hint: Child | undefined) {
  const ids = [
    ...(hint === undefined ? [] : [`${name}-hint`]),
    ...(faults[name] === undefined ? [] : [`${name}-fault`]),
  ];
  return {
    "aria-describedby": ids.length === 0 ? undefined : ids.join(" "),
    "aria-invalid": faults[name] === undefined ? undefined : ("true" as const),
  };
}
