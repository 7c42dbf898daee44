// The languages that code is coloured in, with the tokenizers of CodeMirror. They read line by line
// and keep a state between lines, so that colouring can stop after any line, and parts of a text,
// such as the hunks of a diff, can be coloured alone. Highlighters that apply patterns to a whole
// text (highlight.js, Prism, Shiki) were slower on most languages, and cannot be stopped.
import {
  c,
  clike,
  cpp,
  csharp,
  dart,
  java,
  kotlin,
  objectiveC,
  objectiveCpp,
  scala,
  shader,
} from "@codemirror/legacy-modes/mode/clike";
import { clojure } from "@codemirror/legacy-modes/mode/clojure";
import { css, less, sCSS } from "@codemirror/legacy-modes/mode/css";
import { diff } from "@codemirror/legacy-modes/mode/diff";
import { dockerFile } from "@codemirror/legacy-modes/mode/dockerfile";
import { go } from "@codemirror/legacy-modes/mode/go";
import { groovy } from "@codemirror/legacy-modes/mode/groovy";
import { haskell } from "@codemirror/legacy-modes/mode/haskell";
import { javascript, json, typescript } from "@codemirror/legacy-modes/mode/javascript";
import { julia } from "@codemirror/legacy-modes/mode/julia";
import { lua } from "@codemirror/legacy-modes/mode/lua";
import { fSharp, oCaml } from "@codemirror/legacy-modes/mode/mllike";
import { perl } from "@codemirror/legacy-modes/mode/perl";
import { powerShell } from "@codemirror/legacy-modes/mode/powershell";
import { properties } from "@codemirror/legacy-modes/mode/properties";
import { protobuf } from "@codemirror/legacy-modes/mode/protobuf";
import { python } from "@codemirror/legacy-modes/mode/python";
import { r } from "@codemirror/legacy-modes/mode/r";
import { ruby } from "@codemirror/legacy-modes/mode/ruby";
import { rust } from "@codemirror/legacy-modes/mode/rust";
import { shell } from "@codemirror/legacy-modes/mode/shell";
import { simpleMode } from "@codemirror/legacy-modes/mode/simple-mode";
import { standardSQL } from "@codemirror/legacy-modes/mode/sql";
import { swift } from "@codemirror/legacy-modes/mode/swift";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { html, xml } from "@codemirror/legacy-modes/mode/xml";
import { yaml } from "@codemirror/legacy-modes/mode/yaml";
import type { StreamParser, StringStream } from "@codemirror/streamparser";
import { languageOf } from "../../../base/languages/language.ts";

/** A tokenizer, with a state of its own type. */
export type CodeLanguage = StreamParser<unknown>;

const php = clike({
  name: "php",
  keywords: words(
    "abstract and array as break case catch class clone const continue declare default die do echo else elseif " +
      "empty enddeclare endfor endforeach endif endswitch endwhile enum exit extends final finally fn for foreach " +
      "function global goto if implements include include_once instanceof insteadof interface isset list match " +
      "namespace new or print private protected public readonly require require_once return static switch throw " +
      "trait try unset use var while xor yield self parent",
  ),
  types: words("bool callable float int iterable mixed never object string void"),
  atoms: words("true false null TRUE FALSE NULL __CLASS__ __DIR__ __FILE__ __LINE__ __METHOD__ __NAMESPACE__"),
  multiLineStrings: true,
  hooks: {
    $: (stream: StringStream) => {
      stream.eatWhile(/[\w\u0080-\uffff]/);
      return "variableName";
    },
    "#": (stream: StringStream) => {
      if (stream.eat("[")) return "meta";
      stream.skipToEnd();
      return "comment";
    },
    "<": (stream: StringStream) => (stream.match(/^\?(?:php|=)?/) ? "meta" : false),
    "?": (stream: StringStream) => (stream.eat(">") ? "meta" : false),
  },
});

const zig = clike({
  name: "zig",
  keywords: words(
    "addrspace align allowzero and anyframe anytype asm async await break callconv catch comptime const continue " +
      "defer else enum errdefer error export extern fn for if inline linksection noalias noinline nosuspend opaque " +
      "or orelse packed pub resume return struct suspend switch test threadlocal try union unreachable " +
      "usingnamespace var volatile while",
  ),
  types: words("anyerror bool f16 f32 f64 f128 i8 i16 i32 i64 i128 isize noreturn type u8 u16 u32 u64 u128 usize void"),
  atoms: words("true false null undefined"),
  hooks: {
    "@": (stream: StringStream) => {
      stream.eatWhile(/\w/);
      return "builtin";
    },
    "\\": (stream: StringStream) => {
      if (!stream.eat("\\")) return false;
      stream.skipToEnd();
      return "string";
    },
  },
});

const elixir = simpleMode({
  start: [
    { regex: /#.*/, token: "comment" },
    { regex: /@(?:module|type)?doc\s+(?:~[sS])?"""/, token: "comment", next: "heredocOfComment" },
    { regex: /(?:~[a-zA-Z])?"""/, token: "string", next: "heredoc" },
    { regex: /"(?:[^\\"]|\\.)*(?:"|$)/, token: "string" },
    { regex: /'(?:[^\\']|\\.)*(?:'|$)/, token: "string" },
    { regex: /~[a-zA-Z]+(?:\/(?:[^\\/]|\\.)*\/|\([^)]*\)|\[[^\]]*\]|\{[^}]*\}|"[^"]*"|\|[^|]*\|)\w*/, token: "string" },
    { regex: /@\w+/, token: "meta" },
    { regex: /:(?:[a-zA-Z_]\w*[?!]?|"[^"]*")|[a-zA-Z_]\w*[?!]?:(?=\s)/, token: "atom" },
    { regex: /(?:def|defp|defmacro|defmacrop|defguard|defdelegate)(?=\s)/, token: "keyword", next: "defined" },
    {
      regex:
        /(?:after|alias|and|case|catch|cond|defexception|defimpl|defmodule|defoverridable|defprotocol|defstruct|do|else|end|fn|for|if|import|in|not|or|quote|raise|receive|require|rescue|try|unless|unquote|use|when|with)\b(?![?!])/,
      token: "keyword",
    },
    { regex: /(?:true|false|nil|__MODULE__|__DIR__)\b/, token: "atom" },
    { regex: /[A-Z]\w*/, token: "type" },
    { regex: /0x[\da-fA-F]+|0b[01]+|\d[\d_]*(?:\.\d+)?(?:e[-+]?\d+)?/, token: "number" },
    { regex: /\w+[?!]?/ },
  ],
  defined: [{ regex: /\s+/ }, { regex: /[\w.]+[?!]?/, token: "def", next: "start" }, { regex: /(?:)/, next: "start" }],
  heredoc: [
    { regex: /\s*"""/, token: "string", next: "start" },
    { regex: /.+/, token: "string" },
  ],
  heredocOfComment: [
    { regex: /\s*"""/, token: "comment", next: "start" },
    { regex: /.+/, token: "comment" },
  ],
});

const makefile = simpleMode({
  start: [
    { regex: /#.*/, token: "comment" },
    {
      regex: /(?:-?include|sinclude|define|endef|export|ifdef|ifndef|ifeq|ifneq|else|endif|override|unexport|vpath)\b/,
      token: "keyword",
      sol: true,
    },
    { regex: /[\w./%$(){}-]+(?=\s*[:+?!]?=)/, token: "def", sol: true },
    { regex: /[^\s:=#$]+(?=[^=#]*:(?!=))/, token: "def", sol: true },
    { regex: /\$(?:[@%<?^+*|\w$]|\([\w.-]+|\{[\w.-]+)/, token: "variableName.special" },
    { regex: /"(?:[^\\"]|\\.)*"|'[^']*'/, token: "string" },
    { regex: /\s+|[\w./-]+/ },
  ],
});

/** Tokenizers by Linguist's names of languages. */
const LANGUAGES: Readonly<Record<string, CodeLanguage>> = {
  Astro: html,
  "C#": csharp,
  "C++": cpp,
  C: c,
  CSS: css,
  Clojure: clojure,
  Cuda: cpp,
  Dart: dart,
  Diff: diff,
  Dockerfile: dockerFile,
  EJS: html,
  EditorConfig: properties,
  Elixir: elixir,
  "F#": fSharp,
  GLSL: shader,
  "Git Config": properties,
  Go: go,
  Groovy: groovy,
  HTML: html,
  Haskell: haskell,
  INI: properties,
  JSON: json,
  "JSON with Comments": json,
  JSON5: json,
  Java: java,
  JavaScript: withTags(javascript),
  Julia: julia,
  Kotlin: kotlin,
  Less: less,
  Lua: lua,
  Makefile: makefile,
  OCaml: oCaml,
  "Objective-C": objectiveC,
  "Objective-C++": objectiveCpp,
  PHP: php,
  Perl: perl,
  PowerShell: powerShell,
  "Protocol Buffer": protobuf,
  Python: python,
  R: r,
  Ruby: ruby,
  Rust: rust,
  SCSS: sCSS,
  SQL: standardSQL,
  SVG: xml,
  Scala: scala,
  Shell: shell,
  Svelte: html,
  Swift: swift,
  TOML: toml,
  TSX: withTags(typescript),
  TypeScript: typescript,
  Vue: html,
  XML: xml,
  "XML Property List": xml,
  YAML: { ...yaml, token: readYaml },
  Zig: zig,
};

/** Finds the language of a file; null: its text gets one colour.
 * @param path byte string */
export function codeLanguageOf(path: string): CodeLanguage | null {
  const language = languageOf(path.slice(path.lastIndexOf("/") + 1));
  return language === null ? null : (LANGUAGES[language.name] ?? null);
}

/** Finds the language that a name such as `ts` or `Python` in Markdown stands for; null:
 * unknown. */
export function codeLanguageNamed(name: string): CodeLanguage | null {
  const wanted = name.toLowerCase();
  const named = Object.keys(LANGUAGES).find((one) => one.toLowerCase() === wanted);
  return named === undefined ? codeLanguageOf(`named.${wanted}`) : LANGUAGES[named]!;
}

/** Adds JSX tags, which the language alone would read as comparisons and patterns. */
function withTags(language: CodeLanguage): CodeLanguage {
  return {
    ...language,
    token: (stream, state) =>
      stream.match(/^<\/?[A-Za-z][\w.:-]*(?=[\s/>]|$)|^\/>|^<\/?>/) ? "tag" : language.token(stream, state),
  };
}

/** Reads a token of YAML. The tokenizer's search for a key takes cubic time in the rest of a line
 * without one, so such lines are recognised beforehand. */
function readYaml(stream: StringStream, state: unknown): string | null {
  const line = state as { pair: boolean };
  if (stream.sol()) line.pair = false;
  if (!line.pair && !/^[^#]*:(?:\s|$)/.test(stream.string.slice(stream.pos))) line.pair = true;
  return yaml.token(stream, state);
}

function words(text: string): Record<string, true> {
  return Object.fromEntries(text.split(" ").map((word) => [word, true]));
}
