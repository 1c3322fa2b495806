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
  const pieces: Piece[] = [];
  let here = at + opening.length;
  while (!source.startsWith(quote, here)) {
    const piece = readPiece(source, here, /r/i.test(prefix));
    if (piece === undefined || (piece.isLineEnd && quote.length === 1)) {
      return { at, problem: `Syntax error: token recognition error at: '${source.slice(at, here)}'` };
    }
    pieces.push(piece);
    here += piece.length;
  }
  const value = /b/i.test(prefix) ? { bytes: bytesOf(pieces) } : pieces.map(({ text }) => text).join("");
  return { value, end: here + quote.length };
}

function bytesOf(pieces: readonly Piece[]): Uint8Array {
  return Uint8Array.from(
    pieces.flatMap(({ text, isByte }) => (isByte ? [text.charCodeAt(0)] : [...UTF8.encode(text)])),
  );
}

interface Piece {
  readonly text: string;
  readonly length: number;
  /** A line that ends in the middle of the literal, not an escaped `\\n`. */
  readonly isLineEnd: boolean;
  /** In bytes `\xff` is one byte, not the character U+00FF. */
  readonly isByte: boolean;
}

function readPiece(source: string, at: number, isRaw: boolean): Piece | undefined {
  const code = source.codePointAt(at);
  if (code === undefined) return undefined;
  const character = String.fromCodePoint(code);
  if (character !== "\\" || isRaw) {
    const isLineEnd = character === "\n" || character === "\r";
    return { text: character, length: character.length, isLineEnd, isByte: false };
  }
  ESCAPE.lastIndex = at;
  const escape = ESCAPE.exec(source)?.[0];
  if (escape === undefined) return undefined;
  const meaning = meaningOf(escape);
  if (meaning === undefined) return undefined;
  return { ...meaning, length: escape.length, isLineEnd: false };
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
