/** A style sheet, imported as its text. */
declare module "*/style.css" {
  const text: string;
  export default text;
}

/** A program that users download, imported as its text. */
declare module "*.cjs" {
  const text: string;
  export default text;
}

/** The script of the pages, imported as its text. */
declare module "*/script.js" {
  const text: string;
  export default text;
}
