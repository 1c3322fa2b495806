import type { Call, Expression, Literal, MapEntry } from "./ast.ts";
import { type Token, tokenize } from "./lexer.ts";
import { Uncompilable } from "./problem.ts";

const RESERVED: ReadonlySet<string> = new Set(
  "as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);
const WORDS: ReadonlyMap<string, Literal> = new Map<string, Literal>([
  ["true", true],
  ["false", false],
  ["null", null],
]);
/** From the loosest to the tightest, with the name of the function each operator calls. */
const BINARY: readonly ReadonlyMap<string, string>[] = [
  new Map([["||", "_||_"]]),
  new Map([["&&", "_&&_"]]),
  new Map([
    ["<", "_<_"],
    ["<=", "_<=_"],
    [">", "_>_"],
    [">=", "_>=_"],
    ["==", "_==_"],
    ["!=", "_!=_"],
    ["in", "@in"],
  ]),
  new Map([
    ["+", "_+_"],
    ["-", "_-_"],
  ]),
  new Map([
    ["*", "_*_"],
    ["/", "_/_"],
    ["%", "_%_"],
  ]),
];
const OPERAND =
  "expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
const MAX_INT = 2n ** 63n - 1n;
/** As in Kubernetes; deeper expressions would also overflow the stack here. */
const MAX_DEPTH = 250;

/** Throws `Uncompilable`. */
export function parse(source: string): Expression {
  const read = tokenize(source);
  if (!read.ok) throw new Uncompilable(read.problem.at, read.problem.problem);
  const cursor: Cursor = { tokens: read.tokens, at: 0, depth: 0 };
  const expression = conditional(cursor);
  const rest = peek(cursor);
  if (rest.kind !== "end") throw unexpected(rest);
  return expression;
}

interface Cursor {
  readonly tokens: readonly Token[];
  at: number;
  depth: number;
}

function conditional(cursor: Cursor): Expression {
  if (++cursor.depth > MAX_DEPTH) {
    throw new Uncompilable(peek(cursor).at, `expression recursion limit exceeded: ${MAX_DEPTH}`);
  }
  const condition = binary(cursor, 0);
  const token = take(cursor, "?");
  let result = condition;
  if (token !== undefined) {
    const then = binary(cursor, 0);
    expectSymbol(cursor, ":");
    result = call("_?_:_", token.at, [condition, then, conditional(cursor)]);
  }
  cursor.depth--;
  return result;
}

function binary(cursor: Cursor, level: number): Expression {
  const operators = BINARY[level];
  if (operators === undefined) return unary(cursor);
  let left = binary(cursor, level + 1);
  while (true) {
    const token = peek(cursor);
    const name = token.kind === "symbol" || token.kind === "name" ? operators.get(token.text) : undefined;
    if (name === undefined) return left;
    cursor.at++;
    left = call(name, token.at, [left, binary(cursor, level + 1)]);
  }
}

function unary(cursor: Cursor): Expression {
  const token = take(cursor, "!") ?? take(cursor, "-");
  if (token === undefined) return member(cursor);
  if (++cursor.depth > MAX_DEPTH) {
    throw new Uncompilable(token.at, `expression recursion limit exceeded: ${MAX_DEPTH}`);
  }
  const next = peek(cursor);
  const isMinus = token.text === "-";
  let result: Expression;
  if (
    isMinus &&
    next.kind === "literal" &&
    (typeof next.value === "bigint" || typeof next.value === "number")
  ) {
    cursor.at++;
    result = members(cursor, { kind: "constant", at: token.at, value: -next.value });
  } else result = call(isMinus ? "-_" : "!_", token.at, [unary(cursor)]);
  cursor.depth--;
  return result;
}

function member(cursor: Cursor): Expression {
  return members(cursor, primary(cursor));
}

/** What follows an operand: `.field`, `.method(…)`, `[index]`. */
function members(cursor: Cursor, start: Expression): Expression {
  let target = start;
  while (true) {
    const token = peek(cursor);
    if (take(cursor, ".") !== undefined) target = selection(cursor, target, token.at);
    else if (take(cursor, "[") !== undefined) {
      const isOptional = take(cursor, "?") !== undefined;
      const index = conditional(cursor);
      expectSymbol(cursor, "]");
      target = call(isOptional ? "_[?_]" : "_[_]", token.at, [target, index]);
    } else if (token.kind === "symbol" && token.text === "{") {
      throw new Uncompilable(token.at, "kube-sim does not build messages: use maps and lists");
    } else return target;
  }
}

function selection(cursor: Cursor, target: Expression, at: number): Expression {
  const isOptional = take(cursor, "?") !== undefined;
  const field = expectName(cursor);
  const opening = isOptional ? undefined : take(cursor, "(");
  if (opening === undefined) return { kind: "select", at, target, field, isOptional };
  return { ...call(field, opening.at, list(cursor, ")")), target };
}

function primary(cursor: Cursor): Expression {
  const token = peek(cursor);
  cursor.at++;
  if (token.kind === "literal") return constant(token.at, token.value);
  if (token.kind === "name") return named(cursor, token.text, token.at);
  if (token.kind === "symbol") return bracketed(cursor, token.text, token);
  throw unexpected(token, OPERAND);
}

function bracketed(cursor: Cursor, symbol: string, token: Token): Expression {
  switch (symbol) {
    case "(": {
      const inner = conditional(cursor);
      expectSymbol(cursor, ")");
      return inner;
    }
    case "[":
      return { kind: "list", at: token.at, items: list(cursor, "]") };
    case "{":
      return { kind: "map", at: token.at, entries: entries(cursor) };
    case ".":
      return named(cursor, expectName(cursor), token.at);
    default:
      throw unexpected(token, OPERAND);
  }
}

function named(cursor: Cursor, name: string, at: number): Expression {
  const word = WORDS.get(name);
  if (word !== undefined) return constant(at, word);
  if (name === "in") throw new Uncompilable(at, "Syntax error: mismatched input 'in'");
  if (RESERVED.has(name)) throw new Uncompilable(at, `reserved identifier: ${name}`);
  const opening = take(cursor, "(");
  return opening === undefined ? { kind: "name", at, name } : call(name, opening.at, list(cursor, ")"));
}

function list(cursor: Cursor, closing: string): Expression[] {
  const items: Expression[] = [];
  while (take(cursor, closing) === undefined) {
    if (items.length > 0) {
      expectSymbol(cursor, ",");
      // A list may end in a comma, the arguments of a call may not.
      if (closing === "]" && take(cursor, closing) !== undefined) break;
    }
    refuseOptionalEntry(cursor);
    items.push(conditional(cursor));
  }
  return items;
}

function entries(cursor: Cursor): MapEntry[] {
  const found: MapEntry[] = [];
  while (take(cursor, "}") === undefined) {
    if (found.length > 0) {
      expectSymbol(cursor, ",");
      if (take(cursor, "}") !== undefined) break;
    }
    refuseOptionalEntry(cursor);
    const key = conditional(cursor);
    expectSymbol(cursor, ":");
    found.push({ key, value: conditional(cursor) });
  }
  return found;
}

function refuseOptionalEntry(cursor: Cursor): void {
  const token = peek(cursor);
  if (token.kind === "symbol" && token.text === "?") {
    throw new Uncompilable(token.at, "kube-sim has no optional entries in lists and maps");
  }
}

function constant(at: number, value: Literal): Expression {
  if (typeof value === "bigint" && value > MAX_INT) throw new Uncompilable(at, "invalid int literal");
  return { kind: "constant", at, value };
}

function call(name: string, at: number, args: readonly Expression[]): Call {
  return { kind: "call", at, name, args };
}

function peek(cursor: Cursor): Token {
  return cursor.tokens[cursor.at] ?? { kind: "end", at: 0 };
}

function take(cursor: Cursor, symbol: string): { at: number; text: string } | undefined {
  const token = peek(cursor);
  if (token.kind !== "symbol" || token.text !== symbol) return undefined;
  cursor.at++;
  return token;
}

function expectSymbol(cursor: Cursor, symbol: string): void {
  if (take(cursor, symbol) === undefined) throw unexpected(peek(cursor), `expecting '${symbol}'`);
}

function expectName(cursor: Cursor): string {
  const token = peek(cursor);
  if (token.kind !== "name") throw unexpected(token, "expecting a name");
  cursor.at++;
  return token.text;
}

function unexpected(token: Token, detail = ""): Uncompilable {
  const text = token.kind === "end" ? "<EOF>" : token.kind === "literal" ? "literal" : token.text;
  return new Uncompilable(
    token.at,
    `Syntax error: mismatched input '${text}'${detail === "" ? "" : ` ${detail}`}`,
  );
}
