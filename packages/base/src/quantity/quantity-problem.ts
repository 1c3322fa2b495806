import { BINARY_SUFFIXES, DECIMAL_SUFFIXES } from "./suffixes.ts";

const SHOWN_LENGTH = 40;
const EXAMPLE = 'Write for example "500m", "2", "1.5" or "8Gi".';
export const NO_NUMBER = "it must start with a number";
const UNITS = [...DECIMAL_SUFFIXES.keys(), ...BINARY_SUFFIXES.keys()].filter((unit) => unit !== "");

/** `reason` completes the sentence "<text> is not a quantity: …". */
export function quantityProblem(text: string, reason: string): string {
  return `${quoted(text)} is not a quantity: ${reason}. ${EXAMPLE}`;
}

/** Says what is wrong with a text that does not even have the shape of a quantity. */
export function shapeProblem(text: string): string {
  const unexpected = /[^0-9A-Za-z.+-]/u.exec(text);
  if (unexpected !== null) return quantityProblem(text, unexpectedCharacter(unexpected[0], unexpected.index));
  if (!/^[+-]?\.?[0-9]/.test(text)) return quantityProblem(text, NO_NUMBER);
  if (/\..*\./.test(text)) return quantityProblem(text, "it has more than one decimal point");
  return quantityProblem(text, "it must be one number and one unit");
}

export function unitProblem(text: string, unit: string): string {
  return quantityProblem(text, `the unit ${quoted(unit)} is unknown${unitAdvice(unit)}`);
}

/** Text of a caller, made safe to show: quoted, never longer than a line, invisible characters spelled out. */
export function quoted(text: string): string {
  const shown = text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text;
  return JSON.stringify(shown).replace(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (invisible) => `\\u{${invisible.codePointAt(0)?.toString(16)}}`,
  );
}

function unexpectedCharacter(character: string, index: number): string {
  if (/\s/u.test(character)) return "it contains a space";
  if (character === ",") return 'it contains ",", write a decimal point instead';
  return `${quoted(character)} at position ${index + 1} does not belong in it`;
}

function unitAdvice(unit: string): string {
  if (unit === "K") return ', write "k" for 1000 or "Ki" for 1024';
  if (/^e$|^[eE][+-]$/.test(unit)) return ', write the exponent after it, as in "1e3"';
  const asWritten = unit.replace(/i?[bB]$/, (ending) => (ending.length > 1 ? "i" : ""));
  // From the largest unit down: "8mb" means mega, never milli.
  const meant = UNITS.findLast((known) => known.toLowerCase() === asWritten.toLowerCase());
  return meant === undefined
    ? `, known are ${UNITS.join(" ")} and exponents such as e3`
    : `, perhaps "${meant}" is meant`;
}
