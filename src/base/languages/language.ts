import languageRows from "./languages.json" with { type: "json" };

/** A language as Linguist defines it. */
interface Language {
  /** Linguist's id, never reused for another language. */
  readonly id: number;
  readonly name: string;
  /** `programming`, `markup`, `data` or `prose`. */
  readonly type: string;
  /** `#rrggbb`; null: none. */
  readonly color: string | null;
  /** With a leading dot, the most typical first. */
  readonly extensions: readonly string[];
  /** Whole file names. */
  readonly filenames: readonly string[];
}

/** Languages that win an extension that several languages claim. Only the file's content would
 * allow a better choice. */
const PREFERRED =
  "C,PHP,C++,Objective-C,C#,Java,GLSL,JavaScript,TypeScript,Python,Ruby,Perl,Shell,Go,Rust,Swift,Kotlin,Scala,HTML,CSS,Markdown,YAML,SQL,Text,R,Fortran,Verilog,INI,XML Property List".split(
    ",",
  );

/** The languages by id, extension and file name. */
interface LanguageIndex {
  readonly byId: ReadonlyMap<number, Language>;
  readonly byExtension: ReadonlyMap<string, Language>;
  readonly byFilename: ReadonlyMap<string, Language>;
  readonly scheme: number;
}

let index: LanguageIndex | undefined;

/** Finds the language of a file by its whole name, or else by its longest extension of any
 * language.
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

/** Finds the language with an id; null: there is none. */
export function languageById(id: number): Language | null {
  return openIndex().byId.get(id) ?? null;
}

/** Identifies the rules of `languageOf` by a number, which changes when the rules do. */
export function languageScheme(): number {
  return openIndex().scheme;
}

/** Builds the index on first use: most isolates never need it. */
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
  // On a tie, the first language by name wins: languages are listed by name, and a map keeps the
  // last value.
  const ranked = claims.toSorted((a, b) => rank(a) - rank(b)).toReversed();
  return {
    byId: new Map(languages.map((language) => [language.id, language])),
    byExtension: new Map(ranked.map(({ extension, language }) => [extension, language])),
    byFilename: new Map(languages.toReversed().flatMap((one) => one.filenames.map((name) => [name, one]))),
    scheme: hash(JSON.stringify([languageRows, PREFERRED])),
  };
}

/** 32-bit FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}
