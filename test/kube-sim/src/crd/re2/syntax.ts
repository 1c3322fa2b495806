/** Named classes of RE2 as the inside of a JavaScript character class. They hold ASCII only. */
export const POSIX_CLASSES: ReadonlyMap<string, string> = new Map([
  ["alnum", "0-9A-Za-z"],
  ["alpha", "A-Za-z"],
  ["ascii", "\\x00-\\x7F"],
  ["blank", "\\t "],
  ["cntrl", "\\x00-\\x1F\\x7F"],
  ["digit", "0-9"],
  ["graph", "!-~"],
  ["lower", "a-z"],
  ["print", " -~"],
  ["punct", "!-\\/:-@\\[-`\\{-~"],
  ["space", "\\t\\n\\v\\f\\r "],
  ["upper", "A-Z"],
  ["word", "0-9A-Za-z_"],
  ["xdigit", "0-9A-Fa-f"],
]);

/** `\d`, `\s` and `\w` of RE2: JavaScript's would also take Unicode spaces. */
export const PERL_CLASSES: ReadonlyMap<string, string> = new Map([
  ["d", "0-9"],
  ["s", "\\t\\n\\f\\r "],
  ["w", "0-9A-Za-z_"],
]);

/** Escapes of single characters, and what they mean. */
export const CHARACTER_ESCAPES: ReadonlyMap<string, number> = new Map([
  ["a", 7],
  ["f", 12],
  ["t", 9],
  ["n", 10],
  ["r", 13],
  ["v", 11],
]);

const SPECIAL = /[\\^$.*+?()[\]{}|/]/;

/** One character as a literal, valid inside and outside of a class. */
export function literal(code: number): string {
  // "-" may be escaped inside of a class only, and must be there.
  if (code > 0x7e || code < 0x20 || code === 0x2d) return `\\u{${code.toString(16)}}`;
  const character = String.fromCodePoint(code);
  return SPECIAL.test(character) ? `\\${character}` : character;
}

/** What `classBody` says, without those characters. Only ASCII goes in, so the rest of Unicode is outside. */
export function complement(classBody: string): string {
  const inside = new RegExp(`[${classBody}]`, "u");
  let text = "";
  let start: number | undefined;
  for (let code = 0; code <= 0x80; code++) {
    const isOutside = code < 0x80 && !inside.test(String.fromCodePoint(code));
    if (isOutside) start ??= code;
    else if (start !== undefined) {
      text += `${literal(start)}-${literal(code - 1)}`;
      start = undefined;
    }
  }
  return `${text}\\u{80}-\\u{10ffff}`;
}
