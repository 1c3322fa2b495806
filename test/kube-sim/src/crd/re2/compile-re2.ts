import { type Cursor, characterClass, escapedCharacter, escapedClass, fail } from "./classes.ts";
import { literal } from "./syntax.ts";

export type Re2Result =
  | { readonly ok: true; readonly regex: RegExp }
  /** As Go words it: `missing closing ): "(a"`. */
  | { readonly ok: false; readonly problem: string };

/** RE2 takes no larger counts in `x{n,m}`. */
const MAX_REPEAT = 1000;
const REPEAT = /^\{(\d+)(?:(,)(\d*))?\}/;
const FLAGS = /^\(\?([imsU]*)(?:-([imsU]+))?([:)])/;
const NAMED_GROUP = /^\(\?P?<([A-Za-z_]\w*)>/;

/**
 * Reads a regular expression as RE2, the engine Kubernetes uses, and gives a JavaScript one that matches the same.
 * What RE2 refuses (look-around, back-references) is refused, however well JavaScript could do it. JavaScript
 * backtracks, so unlike in RE2 a hostile pattern can be slow.
 */
export function compileRe2(pattern: string): Re2Result {
  const cached = COMPILED.get(pattern);
  if (cached !== undefined) return cached;
  const result = translate(pattern);
  if (COMPILED.size >= MAX_COMPILED) COMPILED.clear();
  COMPILED.set(pattern, result);
  return result;
}

/** Patterns come from schemas and rules, and are few; those made up by rules at run time must not pile up. */
const COMPILED = new Map<string, Re2Result>();
const MAX_COMPILED = 10_000;

interface Reading extends Cursor {
  /** Where each open group began. */
  readonly groups: Group[];
  ignoresCase: boolean;
  isMultiline: boolean;
  dotTakesAll: boolean;
  isSwapped: boolean;
  /** What may be repeated next: nothing at the start, an atom, or an atom that is repeated already. */
  last: "nothing" | "atom" | "repeated";
}

interface Group {
  readonly ignoresCase: boolean;
  readonly isMultiline: boolean;
  readonly dotTakesAll: boolean;
  readonly isSwapped: boolean;
  /** How many `(?i:` were opened inside by flags that last until the group ends. */
  opened: number;
}

function translate(pattern: string): Re2Result {
  const reading: Reading = {
    pattern,
    at: 0,
    groups: [newGroup({ ignoresCase: false, isMultiline: false, dotTakesAll: false, isSwapped: false })],
    ignoresCase: false,
    isMultiline: false,
    dotTakesAll: false,
    isSwapped: false,
    last: "nothing",
    problem: "",
  };
  let out = "";
  while (reading.at < pattern.length && reading.problem === "") out += next(reading);
  if (reading.problem === "" && reading.groups.length > 1) fail(reading, `missing closing ): \`${pattern}\``);
  if (reading.problem !== "") return { ok: false, problem: `error parsing regexp: ${reading.problem}` };
  out += ")".repeat(reading.groups[0]?.opened ?? 0);
  try {
    return { ok: true, regex: new RegExp(out, "u") };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { ok: false, problem: `error parsing regexp: kube-sim cannot read \`${pattern}\`: ${why}` };
  }
}

function next(reading: Reading): string {
  const { pattern, at } = reading;
  const character = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
  switch (character) {
    case "(":
      return openGroup(reading);
    case ")":
      return closeGroup(reading);
    case "|":
      return alternative(reading);
    case "*":
    case "+":
    case "?":
      reading.at++;
      return repeated(reading, character);
    case "{":
      return counted(reading);
    case "[":
      return atom(reading, characterClass(reading));
    case "\\":
      return escape(reading);
    default:
      reading.at += character.length;
      return atom(reading, plain(reading, character));
  }
}

/** Flags set inside a group last until its end, across alternatives; JavaScript's last for a bracket only. */
function alternative(reading: Reading): string {
  reading.at++;
  reading.last = "nothing";
  const group = reading.groups.at(-1);
  if (group === undefined) return "|";
  const closing = ")".repeat(group.opened);
  const isReopened = reading.ignoresCase !== group.ignoresCase;
  group.opened = isReopened ? 1 : 0;
  return `${closing}|${isReopened ? caseGroup(reading) : ""}`;
}

function plain(reading: Reading, character: string): string {
  if (character === ".") return reading.dotTakesAll ? "[^]" : "[^\\n]";
  if (character === "^") return reading.isMultiline ? "(?:(?<![^])|(?<=\\n))" : "^";
  if (character === "$") return reading.isMultiline ? "(?:(?![^])|(?=\\n))" : "$";
  return literal(character.codePointAt(0) ?? 0);
}

function atom(reading: Reading, text: string): string {
  reading.last = "atom";
  return text;
}

function repeated(reading: Reading, operator: string): string {
  const start = reading.at - operator.length;
  if (reading.last === "nothing")
    return fail(reading, `missing argument to repetition operator: \`${operator}\``);
  let isLazy = false;
  if (reading.pattern[reading.at] === "?") {
    reading.at++;
    isLazy = true;
  }
  if (reading.last === "repeated") {
    const text = reading.pattern.slice(Math.max(0, start - 1), reading.at);
    return fail(reading, `invalid nested repetition operator: \`${text}\``);
  }
  reading.last = "repeated";
  return operator + (isLazy === reading.isSwapped ? "" : "?");
}

function counted(reading: Reading): string {
  const found = REPEAT.exec(reading.pattern.slice(reading.at));
  if (found === null) {
    reading.at++;
    return atom(reading, "\\{");
  }
  const [whole, least = "", comma, most = ""] = found;
  reading.at += whole.length;
  const isWrong =
    Number(least) > MAX_REPEAT ||
    Number(most) > MAX_REPEAT ||
    (comma !== undefined && most !== "" && Number(least) > Number(most));
  return isWrong ? fail(reading, `invalid repeat count: \`${whole}\``) : repeated(reading, whole);
}

function openGroup(reading: Reading): string {
  const rest = reading.pattern.slice(reading.at);
  const named = NAMED_GROUP.exec(rest);
  if (named !== null) return enter(reading, named[0], `(?<${named[1]}>`);
  if (!rest.startsWith("(?")) return enter(reading, "(", "(");
  const flags = FLAGS.exec(rest);
  if (flags === null) return fail(reading, `invalid or unsupported Perl syntax: \`${rest.slice(0, 3)}\``);
  const [whole, on = "", off = "", end] = flags;
  if (end === ":") return enterWithFlags(reading, whole, { on, off });
  reading.at += whole.length;
  const before = reading.ignoresCase;
  setFlags(reading, on, off);
  if (before === reading.ignoresCase) return "";
  const group = reading.groups.at(-1);
  if (group !== undefined) group.opened++;
  return caseGroup(reading);
}

function enterWithFlags(reading: Reading, whole: string, flags: { on: string; off: string }): string {
  const before = reading.ignoresCase;
  const opening = enter(reading, whole, "(?:");
  setFlags(reading, flags.on, flags.off);
  if (before === reading.ignoresCase) return opening;
  return caseGroup(reading);
}

function caseGroup(reading: Reading): string {
  return reading.ignoresCase ? "(?i:" : "(?-i:";
}

function enter(reading: Reading, source: string, opening: string): string {
  reading.groups.push(newGroup(reading));
  reading.at += source.length;
  reading.last = "nothing";
  return opening;
}

function closeGroup(reading: Reading): string {
  const group = reading.groups.length > 1 ? reading.groups.pop() : undefined;
  if (group === undefined) return fail(reading, `unexpected ): \`${reading.pattern}\``);
  reading.at++;
  const { opened, ...flags } = group;
  Object.assign(reading, flags);
  return atom(reading, ")".repeat(opened + 1));
}

function newGroup({ ignoresCase, isMultiline, dotTakesAll, isSwapped }: Omit<Group, "opened">): Group {
  return { ignoresCase, isMultiline, dotTakesAll, isSwapped, opened: 0 };
}

function setFlags(reading: Reading, on: string, off: string): void {
  for (const [letters, value] of [
    [on, true],
    [off, false],
  ] as const) {
    if (letters.includes("i")) reading.ignoresCase = value;
    if (letters.includes("m")) reading.isMultiline = value;
    if (letters.includes("s")) reading.dotTakesAll = value;
    if (letters.includes("U")) reading.isSwapped = value;
  }
}

function escape(reading: Reading): string {
  const rest = reading.pattern.slice(reading.at);
  if (rest.startsWith("\\Q")) return quotedText(reading, rest);
  switch (rest[1]) {
    case "A":
      return take(reading, 2, "(?<![^])");
    case "z":
      return take(reading, 2, "(?![^])");
    case "b":
    case "B":
      return take(reading, 2, rest.slice(0, 2));
    case "C":
      return fail(reading, "kube-sim has no single bytes: `\\C`");
    default: {
      const read = escapedClass(reading) ?? escapedCharacter(reading);
      return atom(reading, typeof read === "number" ? literal(read) : `[${read}]`);
    }
  }
}

function quotedText(reading: Reading, rest: string): string {
  const end = rest.indexOf("\\E");
  const inner = rest.slice(2, end === -1 ? undefined : end);
  reading.at += end === -1 ? rest.length : end + 2;
  if (inner === "") return "";
  return atom(reading, Array.from(inner, (character) => literal(character.codePointAt(0) ?? 0)).join(""));
}

function take(reading: Reading, length: number, text: string): string {
  reading.at += length;
  return atom(reading, text);
}
