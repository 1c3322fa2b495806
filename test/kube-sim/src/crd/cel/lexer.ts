import type { BytesLiteral, SyntaxProblem, UintLiteral } from "./ast.ts";
import { readQuoted } from "./quoted-literal.ts";

export type Token =
  | { readonly kind: "name" | "symbol"; readonly at: number; readonly text: string }
  | { readonly kind: "literal"; readonly at: number; readonly value: LiteralValue }
  | { readonly kind: "end"; readonly at: number };

type LiteralValue = bigint | number | string | UintLiteral | BytesLiteral;

export type Tokens =
  | { readonly ok: true; readonly tokens: readonly Token[] }
  | { readonly ok: false; readonly problem: SyntaxProblem };

const SKIPPED = /(?:[\t\n\f\r ]|\/\/[^\n]*)+/y;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const QUOTE = /(?:[rR][bB]?|[bB][rR]?)?(?:"""|'''|"|')/y;
const FLOAT = /(?:[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)/y;
const WHOLE = /(0[xX][0-9a-fA-F]+|[0-9]+)([uU]?)/y;
const SYMBOL = /==|!=|<=|>=|&&|\|\||[.,:?()[\]{}<>+\-*/%!]/y;

/** The largest whole number a literal can hold before its sign is known: -9223372036854775808 must be readable. */
const MAX_MAGNITUDE = 2n ** 63n;
const MAX_UINT = 2n ** 64n - 1n;

export function tokenize(source: string): Tokens {
  const tokens: Token[] = [];
  let at = 0;
  while (true) {
    at += match(SKIPPED, source, at)?.[0].length ?? 0;
    if (at >= source.length) break;
    const read = readToken(source, at);
    if ("problem" in read) return { ok: false, problem: read };
    tokens.push(read.token);
    at = read.end;
  }
  tokens.push({ kind: "end", at: source.length });
  return { ok: true, tokens };
}

interface Read {
  readonly token: Token;
  readonly end: number;
}

function readToken(source: string, at: number): Read | SyntaxProblem {
  if (match(QUOTE, source, at) !== null) {
    const quoted = readQuoted(source, at);
    return "problem" in quoted
      ? quoted
      : { token: { kind: "literal", at, value: quoted.value }, end: quoted.end };
  }
  const name = match(NAME, source, at);
  if (name !== null) return { token: { kind: "name", at, text: name[0] }, end: at + name[0].length };
  return readNumber(source, at) ?? readSymbol(source, at);
}

function readNumber(source: string, at: number): Read | SyntaxProblem | undefined {
  const float = match(FLOAT, source, at);
  if (float !== null) {
    return { token: { kind: "literal", at, value: Number(float[0]) }, end: at + float[0].length };
  }
  const whole = match(WHOLE, source, at);
  if (whole === null) return undefined;
  const [text, digits = "", unsigned] = whole;
  const value = BigInt(digits);
  const isUint = unsigned !== "";
  if (value > (isUint ? MAX_UINT : MAX_MAGNITUDE)) {
    return { at, problem: `invalid ${isUint ? "uint" : "int"} literal` };
  }
  return { token: { kind: "literal", at, value: isUint ? { uint: value } : value }, end: at + text.length };
}

function readSymbol(source: string, at: number): Read | SyntaxProblem {
  const symbol = match(SYMBOL, source, at);
  if (symbol === null) {
    return { at, problem: `Syntax error: token recognition error at: '${source.slice(at, at + 1)}'` };
  }
  return { token: { kind: "symbol", at, text: symbol[0] }, end: at + symbol[0].length };
}

function match(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(source);
}
