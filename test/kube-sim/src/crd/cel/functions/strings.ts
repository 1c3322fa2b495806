import { quoted } from "../../go-text.ts";
import { compileRe2 } from "../../re2/compile-re2.ts";
import { BOOL, DYN, INT, listOf, STRING } from "../types.ts";
import { failure, listValue, type Value } from "../values.ts";
import { formatted } from "./format-text.ts";
import { fn, intArg, method, type Overload, taggedArg, textArg } from "./overload.ts";

const TEXTS = listOf(STRING);
/** Go's white space, in the Unicode sense. */
const SPACES = /^[\t\n\v\f\r \u0085\p{Z}]+|[\t\n\v\f\r \u0085\p{Z}]+$/gu;

export const STRINGS: readonly Overload[] = [
  method("contains", [STRING, STRING], [BOOL, ([text, part]) => textArg(text).includes(textArg(part))]),
  method("startsWith", [STRING, STRING], [BOOL, ([text, part]) => textArg(text).startsWith(textArg(part))]),
  method("endsWith", [STRING, STRING], [BOOL, ([text, part]) => textArg(text).endsWith(textArg(part))]),
  method("charAt", [STRING, INT], [STRING, ([text, at]) => charAt(textArg(text), intArg(at))]),
  method(
    "lowerAscii",
    [STRING],
    [STRING, ([text]) => textArg(text).replace(/[A-Z]+/g, (s) => s.toLowerCase())],
  ),
  method(
    "upperAscii",
    [STRING],
    [STRING, ([text]) => textArg(text).replace(/[a-z]+/g, (s) => s.toUpperCase())],
  ),
  method("trim", [STRING], [STRING, ([text]) => textArg(text).replace(SPACES, "")]),
  method("join", [TEXTS], [STRING, ([list]) => joined(list, "")]),
  method("join", [TEXTS, STRING], [STRING, ([list, between]) => joined(list, textArg(between))]),
  method(
    "format",
    [STRING, listOf(DYN)],
    [STRING, ([text, args]) => formatted(textArg(text), taggedArg(args, "list").items)],
  ),
  fn("strings.quote", [STRING], [STRING, ([text]) => quoted(textArg(text))]),
  ...indexes(),
  ...parts(),
  ...patterns(),
];

function indexes(): Overload[] {
  return [
    method("indexOf", [STRING, STRING], [INT, ([text, part]) => indexOf(textArg(text), textArg(part), 0n)]),
    method(
      "indexOf",
      [STRING, STRING, INT],
      [INT, ([text, part, from]) => indexOf(textArg(text), textArg(part), intArg(from))],
    ),
    method(
      "lastIndexOf",
      [STRING, STRING],
      [INT, ([text, part]) => lastIndexOf(textArg(text), textArg(part), undefined)],
    ),
    method(
      "lastIndexOf",
      [STRING, STRING, INT],
      [INT, ([text, part, from]) => lastIndexOf(textArg(text), textArg(part), intArg(from))],
    ),
  ];
}

function parts(): Overload[] {
  return [
    method(
      "substring",
      [STRING, INT],
      [STRING, ([text, from]) => substring(textArg(text), intArg(from), undefined)],
    ),
    method(
      "substring",
      [STRING, INT, INT],
      [STRING, ([text, from, to]) => substring(textArg(text), intArg(from), intArg(to))],
    ),
    method("split", [STRING, STRING], [TEXTS, ([text, at]) => split(textArg(text), textArg(at), -1n)]),
    method(
      "split",
      [STRING, STRING, INT],
      [TEXTS, ([text, at, most]) => split(textArg(text), textArg(at), intArg(most))],
    ),
    method(
      "replace",
      [STRING, STRING, STRING],
      [STRING, ([text, old, now]) => textArg(text).replaceAll(textArg(old), () => textArg(now))],
    ),
    method(
      "replace",
      [STRING, STRING, STRING, INT],
      [
        STRING,
        ([text, old, now, most]) => replaceSome(textArg(text), [textArg(old), textArg(now)], intArg(most)),
      ],
    ),
  ];
}

function patterns(): Overload[] {
  return [
    method(
      "matches",
      [STRING, STRING],
      [BOOL, ([text, pattern]) => matches(textArg(text), textArg(pattern))],
    ),
    fn("matches", [STRING, STRING], [BOOL, ([text, pattern]) => matches(textArg(text), textArg(pattern))]),
    method("find", [STRING, STRING], [STRING, ([text, pattern]) => find(textArg(text), textArg(pattern))]),
    method(
      "findAll",
      [STRING, STRING],
      [TEXTS, ([text, pattern]) => findAll(textArg(text), textArg(pattern), -1n)],
    ),
    method(
      "findAll",
      [STRING, STRING, INT],
      [TEXTS, ([text, pattern, most]) => findAll(textArg(text), textArg(pattern), intArg(most))],
    ),
  ];
}

function charAt(text: string, at: bigint): Value {
  const characters = Array.from(text);
  if (at === BigInt(characters.length)) return "";
  return characters[Number(at)] ?? failure(`index out of range: ${at}`);
}

function indexOf(text: string, part: string, from: bigint): Value {
  const characters = Array.from(text);
  if (from < 0n || (from > 0n && from >= BigInt(characters.length))) {
    return part === "" && from >= 0n ? from : failure(`index out of range: ${from}`);
  }
  const start = characters.slice(0, Number(from)).join("").length;
  return inCharacters(text, text.indexOf(part, start));
}

function lastIndexOf(text: string, part: string, from: bigint | undefined): Value {
  if (from === undefined) return inCharacters(text, text.lastIndexOf(part));
  const characters = Array.from(text);
  if (from < 0n || from >= BigInt(characters.length)) {
    return part === "" && from >= 0n ? BigInt(characters.length) : failure(`index out of range: ${from}`);
  }
  return inCharacters(text, text.lastIndexOf(part, characters.slice(0, Number(from)).join("").length));
}

/** CEL counts code points. */
function inCharacters(text: string, unit: number): bigint {
  return unit === -1 ? -1n : BigInt(Array.from(text.slice(0, unit)).length);
}

function substring(text: string, from: bigint, to: bigint | undefined): Value {
  const characters = Array.from(text);
  const end = to ?? BigInt(characters.length);
  if (to !== undefined && from > to) return failure(`invalid substring range. start: ${from}, end: ${to}`);
  if (from < 0n || from > BigInt(characters.length)) return failure(`index out of range: ${from}`);
  if (end < 0n || end > BigInt(characters.length)) return failure(`index out of range: ${end}`);
  return characters.slice(Number(from), Number(end)).join("");
}

function split(text: string, separator: string, most: bigint): Value {
  if (most === 0n) return listValue([]);
  const all = separator === "" ? Array.from(text) : text.split(separator);
  if (most < 0n || BigInt(all.length) <= most) return listValue(all);
  const first = all.slice(0, Number(most) - 1);
  return listValue([...first, all.slice(Number(most) - 1).join(separator)]);
}

function replaceSome(text: string, [old, now]: readonly [string, string], most: bigint): string {
  let left = most < 0n ? Number.POSITIVE_INFINITY : Number(most);
  return text.replaceAll(old, () => (left-- > 0 ? now : old));
}

function joined(list: Value | undefined, between: string): Value {
  return taggedArg(list, "list").items.map(textArg).join(between);
}

function matches(text: string, pattern: string): Value {
  const compiled = compileRe2(pattern);
  return compiled.ok ? compiled.regex.test(text) : failure(compiled.problem);
}

function find(text: string, pattern: string): Value {
  const compiled = compileRe2(pattern);
  if (!compiled.ok) return failure(`Illegal regex: ${compiled.problem}`);
  return compiled.regex.exec(text)?.[0] ?? "";
}

function findAll(text: string, pattern: string, most: bigint): Value {
  const compiled = compileRe2(pattern);
  if (!compiled.ok) return failure(`Illegal regex: ${compiled.problem}`);
  const found = Array.from(text.matchAll(new RegExp(compiled.regex.source, "gu")), ([whole]) => whole);
  return listValue(most < 0n ? found : found.slice(0, Number(most)));
}
