import languageRows from "./languages.json" with { type: "json" };

/** A language as Linguist knows it. */
export interface Language {
  /** Never given to another. */
  readonly id: number;
  readonly name: string;
  /** `programming`, `markup`, `data` or `prose`. */
  readonly type: string;
  /** `#rrggbb`, null: it has none. */
  readonly color: string | null;
  /** With the dot in front, the most typical first. */
  readonly extensions: readonly string[];
  /** Whole names of files. */
  readonly filenames: readonly string[];
}

/** Where several languages claim an extension, the first of these has it: only the file's content would tell better. */
const PREFERRED =
  "C,PHP,C++,Objective-C,C#,Java,GLSL,JavaScript,TypeScript,Python,Ruby,Perl,Shell,Go,Rust,Swift,Kotlin,Scala,HTML,CSS,Markdown,YAML,SQL,Text,R,Fortran,Verilog,INI,XML Property List".split(
    ",",
  );

/** Which file is of which language. */
interface LanguageIndex {
  readonly byId: ReadonlyMap<number, Language>;
  readonly byExtension: ReadonlyMap<string, Language>;
  readonly byFilename: ReadonlyMap<string, Language>;
  readonly scheme: number;
}

let index: LanguageIndex | undefined;

/** Finds the language of a file by its name: the whole of it, or else its longest extension that any language has.
 * @param name byte string, without directories
 * @returns null when there is none
 * @see Linguist's strategies Filename and Extension */
export function languageOf(name: string): Language | null {
  const { byFilename, byExtension } = openIndex();
  const named = byFilename.get(name);
  if (named !== undefined) return named;
  const lower = name.toLowerCase();
  for (let dot = lower.indexOf("."); dot >= 0; dot = lower.indexOf(".", dot + 1)) {
    const language = byExtension.get(lower.slice(dot));
    if (language !== undefined) return language;
  }
  return null;
}

/** The language of an id, null: there is none. */
export function languageById(id: number): Language | null {
  return openIndex().byId.get(id) ?? null;
}

/** Stands for how `languageOf` decides: another number when it decides otherwise. */
export function languageScheme(): number {
  return openIndex().scheme;
}

/** Made when first asked for: most lives of an isolate never are. */
function openIndex(): LanguageIndex {
  return (index ??= makeIndex(
    languageRows.map(
      ([id, name, type, color, extensions, filenames]) =>
        ({ id, name, type, color, extensions, filenames }) as Language,
    ),
  ));
}

function makeIndex(languages: readonly Language[]): LanguageIndex {
  const claims = languages.flatMap((language) =>
    language.extensions.map((extension, place) => ({ language, extension: extension.toLowerCase(), place })),
  );
  const rank = ({ language, place }: (typeof claims)[number]): number => {
    const preferred = PREFERRED.indexOf(language.name);
    return preferred >= 0 ? preferred : PREFERRED.length + Math.min(place, 1);
  };
  // Of equals the first by name: they come in that order, and a map keeps the last.
  const ranked = claims.toSorted((a, b) => rank(a) - rank(b)).toReversed();
  return {
    byId: new Map(languages.map((language) => [language.id, language])),
    byExtension: new Map(ranked.map(({ extension, language }) => [extension, language])),
    byFilename: new Map(languages.toReversed().flatMap((one) => one.filenames.map((name) => [name, one]))),
    scheme: hash(JSON.stringify([languageRows, PREFERRED])),
  };
}

/** FNV-1a of 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}
