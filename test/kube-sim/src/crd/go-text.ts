import { isList, isObject } from "../core/look.ts";
import type { JsonValue } from "../json.ts";

/** Values as Kubernetes' messages show them, which is how Go prints them. */

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ["\\", "\\\\"],
  ["\x07", "\\a"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\v", "\\v"],
]);
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
const NEEDS_CARE = /[^ !#-[\]-~]/u;
const HTML = /[<>&\u2028\u2029]/g;
/** Beyond these powers of ten Go writes a float with an exponent. */
const LARGEST_PLAIN_POWER = 5;
const SMALLEST_PLAIN_POWER = -4;

/** In quotes, with what cannot be printed escaped. */
export function quoted(text: string): string {
  if (!NEEDS_CARE.test(text)) return `"${text}"`;
  return `"${Array.from(text, quotedCharacter).join("")}"`;
}

export function numberText(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? value.toFixed(0) : fractionText(value);
}

/** A number that Go holds as a float, also when it is whole. */
export function fractionText(value: number): string {
  const [mantissa = "", exponent = ""] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power >= SMALLEST_PLAIN_POWER && power <= LARGEST_PLAIN_POWER) return String(value);
  return `${mantissa}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

/** JSON with sorted names and with what could be HTML escaped, as Go writes it. */
export function jsonText(value: JsonValue): string {
  if (isList(value)) return `[${value.map(jsonText).join(",")}]`;
  if (isObject(value)) {
    const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${fields.map(([name, field]) => `${jsonText(name)}:${jsonText(field ?? null)}`).join(",")}}`;
  }
  return JSON.stringify(value).replace(HTML, (found) => `\\u${hex(found, 4)}`);
}

/** The value of a field inside a message. */
export function valueText(value: JsonValue): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "number") return numberText(value);
  return jsonText(value);
}

function quotedCharacter(character: string): string {
  const escape = ESCAPES.get(character);
  if (escape !== undefined) return escape;
  if (PRINTABLE.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return `\\x${hex(character, 2)}`;
  return code < 0x1_0000 ? `\\u${hex(character, 4)}` : `\\U${hex(character, 8)}`;
}

function hex(character: string, digits: number): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(digits, "0");
}
