import { CHARACTER_ESCAPES, complement, literal, PERL_CLASSES, POSIX_CLASSES } from "./syntax.ts";

/** Where the reading of a pattern stands. */
export interface Cursor {
  readonly pattern: string;
  at: number;
  problem: string;
}

/** `\d`, `\W`, `\pL`, `\P{Greek}`: the inside of a class. */
export function escapedClass(cursor: Cursor): string | undefined {
  const rest = cursor.pattern.slice(cursor.at);
  const letter = rest[1] ?? "";
  const perl = PERL_CLASSES.get(letter.toLowerCase());
  if (perl !== undefined) {
    cursor.at += 2;
    return letter === letter.toLowerCase() ? perl : complement(perl);
  }
  const unicode = /^\\([pP])(?:\{(\^?)(\w+)\}|(\w))/.exec(rest);
  if (unicode === null) return undefined;
  const [whole, sign, caret, long, short] = unicode;
  const property = propertyOf(long ?? short ?? "");
  if (property === undefined) return fail(cursor, `invalid character class range: \`${whole}\``);
  cursor.at += whole.length;
  const isNegated = (sign === "P") !== (caret === "^");
  return `\\${isNegated ? "P" : "p"}{${property}}`;
}

function propertyOf(name: string): string | undefined {
  if (name === "Any") return "Any";
  return [name, `Script=${name}`].find(isProperty);
}

function isProperty(name: string): boolean {
  try {
    RegExp(`\\p{${name}}`, "u");
    return true;
  } catch {
    return false;
  }
}

export function escapedCharacter(cursor: Cursor): number {
  const rest = cursor.pattern.slice(cursor.at);
  const hex = /^\\x(?:\{([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{2}))/.exec(rest);
  const octal = hex === null ? /^\\(0[0-7]{0,2}|[1-7][0-7]{2})/.exec(rest) : null;
  const [whole, code] =
    hex !== null
      ? [hex[0], Number.parseInt(hex[1] ?? hex[2] ?? "", 16)]
      : octal !== null
        ? [octal[0], Number.parseInt(octal[1] ?? "", 8)]
        : simpleEscape(rest);
  if (code > 0x10_ffff) {
    fail(cursor, `invalid escape sequence: \`${whole}\``);
    return 0;
  }
  cursor.at += whole.length;
  return code;
}

function simpleEscape(rest: string): [whole: string, code: number] {
  const character = String.fromCodePoint(rest.codePointAt(1) ?? 0);
  const known = CHARACTER_ESCAPES.get(character);
  if (known !== undefined) return [`\\${character}`, known];
  // Beyond the last code point: not an escape. RE2 lets punctuation alone be escaped.
  const isPunctuation = rest.length > 1 && /^[!-/:-@[-`{-~]$/.test(character);
  return [rest.slice(0, 2), isPunctuation ? (character.codePointAt(0) ?? 0) : Number.POSITIVE_INFINITY];
}

export function characterClass(cursor: Cursor): string {
  const start = cursor.at;
  const isNegated = cursor.pattern[start + 1] === "^";
  cursor.at += isNegated ? 2 : 1;
  let body = "";
  for (let isFirst = true; cursor.pattern[cursor.at] !== "]" || isFirst; isFirst = false) {
    if (cursor.at >= cursor.pattern.length) {
      return fail(cursor, `missing closing ]: \`${cursor.pattern.slice(start)}\``);
    }
    body += classItem(cursor);
    if (cursor.problem !== "") return "";
  }
  cursor.at++;
  return `[${isNegated ? "^" : ""}${body}]`;
}

function classItem(cursor: Cursor): string {
  const rest = cursor.pattern.slice(cursor.at);
  const posix = /^\[:(\^?)(\w+):\]/.exec(rest);
  if (posix !== null) return posixClass(cursor, posix);
  const escaped = rest.startsWith("\\") ? escapedClass(cursor) : undefined;
  return escaped ?? classRange(cursor);
}

function posixClass(cursor: Cursor, [whole, caret, name = ""]: RegExpExecArray): string {
  const inside = POSIX_CLASSES.get(name);
  if (inside === undefined) return fail(cursor, `invalid character class range: \`${whole}\``);
  cursor.at += whole.length;
  return caret === "^" ? complement(inside) : inside;
}

/** One character, or all from one to another. */
function classRange(cursor: Cursor): string {
  const start = cursor.at;
  const from = classCharacter(cursor);
  const isRange = cursor.pattern[cursor.at] === "-" && (cursor.pattern[cursor.at + 1] ?? "]") !== "]";
  if (!isRange) return literal(from);
  cursor.at++;
  const to = classCharacter(cursor);
  if (to < from) {
    return fail(cursor, `invalid character class range: \`${cursor.pattern.slice(start, cursor.at)}\``);
  }
  return `${literal(from)}-${literal(to)}`;
}

function classCharacter(cursor: Cursor): number {
  if (cursor.pattern[cursor.at] === "\\") return escapedCharacter(cursor);
  const code = cursor.pattern.codePointAt(cursor.at) ?? 0;
  cursor.at += code > 0xffff ? 2 : 1;
  return code;
}

/** Ends the reading; the first problem counts. */
export function fail(cursor: Cursor, problem: string): "" {
  if (cursor.problem === "") cursor.problem = problem;
  cursor.at = cursor.pattern.length;
  return "";
}
