/**
 * Texts of peers and objects, made safe to show. Control characters move the cursor of a terminal or start a new line
 * of a log; format characters turn the reading direction or are not seen at all, so that one name looks like another.
 */

/** Line breaks and tabs; replaced by a space in one-line texts. */
const BREAKS = /[\t\n\v\f\r\u0085\p{Zl}\p{Zp}]+/gu;
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const EVERY_UNSAFE = new RegExp(UNSAFE, "gu");
const UNSAFE_IN_LINES = /(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
/** Format characters and their like: all that `line` of the schemas does not refuse already. */
const HIDDEN = /[\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const REPLACEMENT = "\u{fffd}";

/** One line: what cannot be seen is spelled out (`\u{202e}`), line breaks become spaces. */
export function safeLine(text: string): string {
  return UNSAFE.test(text) ? text.replaceAll(BREAKS, " ").replaceAll(EVERY_UNSAFE, escapeCharacter) : text;
}

/** The same for a text of several lines: its line breaks and tabs stay. */
export function safeText(text: string): string {
  return UNSAFE.test(text) ? text.replaceAll(UNSAFE_IN_LINES, escapeCharacter) : text;
}

/** JSON that holds the same data, with everything escaped that a terminal or a reader could be deceived by. */
export function safeJson(json: string): string {
  return UNSAFE.test(json) ? json.replaceAll(UNSAFE_IN_LINES, escapeForJson) : json;
}

/**
 * Replaces invisible and bidirectional characters by U+FFFD. The text does not get longer, so length limits still hold.
 */
export function replaceHidden(text: string): string {
  return UNSAFE.test(text) ? text.replaceAll(HIDDEN, REPLACEMENT) : text;
}

/** Truncates to `maxLength` characters, with an ellipsis at the end. Never splits a surrogate pair. */
export function truncate(text: string, maxLength: number): string {
  // Half a character would come back from the server as another one, and be written again and again.
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).replace(/\p{Surrogate}$/u, "")}…`;
}

function escapeCharacter(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16) ?? ""}}`;
}

function escapeForJson(character: string): string {
  return Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
    .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
    .join("");
}
