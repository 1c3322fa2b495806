import type { BytesLiteral, SyntaxProblem } from "./ast.ts";

interface Quoted {
  readonly value: string | BytesLiteral;
  readonly end: number;
}

const OPENING = /([rRbB]{0,2})("""|'''|"|')/y;
const ESCAPE = /\\(?:[abfnrtv\\?"'`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})/y;
const SINGLE: ReadonlyMap<string, number> = new Map([
  ["a", 7],
  ["b", 8],
  ["f", 12],
  ["n", 10],
  ["r", 13],
  ["t", 9],
  ["v", 11],
]);
const UTF8 = new TextEncoder();

/** A string or bytes literal: `'a'`, `"""a"""`, `r'\d'`, `b'\x00'`. */
export function readQuoted(source: string, at: number): Quoted | SyntaxProblem {
  OPENING.lastIndex = at;
  const [opening = "", prefix = "", quote = ""] = OPENING.exec(source) ?? [];
  const isRaw = /r/i.test(prefix);
  const isBytes = /b/i.test(prefix);
  const isLong = quote.length === 3;
  const bytes: number[] = [];
  let text = "";
  let here = at + opening.length;
  while (!source.startsWith(quote, here)) {
    const piece = readPiece(source, here, isRaw);
    const isBroken =
      piece === undefined || (!isLong && (piece.text === "\n" || piece.text === "\r") && piece.isPlain);
    if (isBroken)
      return { at, problem: `Syntax error: token recognition error at: '${source.slice(at, here)}'` };
    if (isBytes) bytes.push(...(piece.isByte ? [piece.text.charCodeAt(0)] : UTF8.encode(piece.text)));
    else text += piece.text;
    here += piece.length;
  }
  const end = here + quote.length;
  return { value: isBytes ? { bytes: Uint8Array.from(bytes) } : text, end };
}

interface Piece {
  readonly text: string;
  readonly length: number;
  /** Not escaped. */
  readonly isPlain: boolean;
  /** In bytes `\xff` is one byte, not the character U+00FF. */
  readonly isByte: boolean;
}

function readPiece(source: string, at: number, isRaw: boolean): Piece | undefined {
  const code = source.codePointAt(at);
  if (code === undefined) return undefined;
  const character = String.fromCodePoint(code);
  if (character !== "\\" || isRaw) {
    return { text: character, length: character.length, isPlain: true, isByte: false };
  }
  ESCAPE.lastIndex = at;
  const escape = ESCAPE.exec(source)?.[0];
  if (escape === undefined) return undefined;
  const meaning = meaningOf(escape);
  if (meaning === undefined) return undefined;
  return { ...meaning, length: escape.length, isPlain: false };
}

function meaningOf(escape: string): { text: string; isByte: boolean } | undefined {
  const kind = escape[1] ?? "";
  const single = SINGLE.get(kind);
  if (single !== undefined) return { text: String.fromCharCode(single), isByte: false };
  if (/[0-3]/.test(kind))
    return { text: String.fromCharCode(Number.parseInt(escape.slice(1), 8)), isByte: true };
  if (!/[xXuU]/.test(kind)) return { text: kind, isByte: false };
  const code = Number.parseInt(escape.slice(2), 16);
  const isSurrogate = code >= 0xd800 && code <= 0xdfff;
  if (code > 0x10_ffff || isSurrogate) return undefined;
  return { text: String.fromCodePoint(code), isByte: kind === "x" || kind === "X" };
}
