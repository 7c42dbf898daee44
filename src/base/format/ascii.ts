/** Bytes that formats and texts are divided by. */
export const LF = 0x0a;
export const CR = 0x0d;
export const SPACE = 0x20;
export const SLASH = 0x2f;
