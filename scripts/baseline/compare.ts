/** The pure half: what is masked, what counts as a change, and which changes of wording are accepted. */
import { parseAllDocuments } from "yaml";

const MASKS: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gu, "<uid>"],
  [/\b(rsv(?:-[a-z]+)?|dec)-[a-z0-9]{12,}/gu, "$1-<id>"],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)/gu, "<time>"],
  [/\b\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::\d\d)?)?/gu, "<date>"],
  [/\b(?:[0-9a-f]{16,}|[0-9A-F]{16,}|(?:[0-9A-F]{2}:){7,}[0-9A-F]{2})\b/gu, "<hash>"],
  [/\b1\d{12}\b/gu, "<time>"],
  [
    /((?:resourceVersion|[gG]eneration|sizeBytes|bytes|sequence|total|commitNumber|Commits)(?:\\?")?: *)(?:\\?")?[\d.]+(?:\\?")?/gu,
    "$1<number>",
  ],
  [/\b(127\.0\.0\.1|localhost):\d{4,5}\b/gu, "$1:<port>"],
  // A run takes less than an hour: ages, and what is left of an hour.
  [/\b(?:\d{1,2}h)?(?:\d{1,2}m)?\d{1,2}(?:\.\d+)?m?s\b|\b\d{1,2}m\b/gu, "<duration>"],
  [/"(<[a-z]+>)"/gu, "$1"],
  // Columns are as wide as what was masked in them.
  [/(?<=\S) {2,}/gu, "  "],
];

/** Takes out of an output what differs from run to run: times, ages, IDs, ports, folders. */
export function mask(text: string, folder: string): string {
  const placed = text.replaceAll(folder, "<folder>").replaceAll(process.versions.node, "<node>");
  return MASKS.reduce((masked, [form, name]) => masked.replace(form, name), placed);
}

const NOT_SAMPLED = "labels: not sampled";

/** Type, help, labels and bounds of each metric of a scrape; no values. */
export function metricFamilies(scrape: string): Map<string, string> {
  const helps = new Map(
    [...scrape.matchAll(/^# HELP (\S+) (.*)$/gmu)].map(([, name = "", help = ""]) => [name, help]),
  );
  const samples = [...scrape.matchAll(/^([a-zA-Z_:]\w*)(?:\{(.*)\})? \S+$/gmu)];
  const types = [...scrape.matchAll(/^# TYPE (\S+) (\S+)$/gmu)].map(
    ([, name = "", type = ""]) => [name, type] as const,
  );
  return new Map(
    types
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, type]) => {
        const series = type === "histogram" ? ["_bucket", "_sum", "_count"].map((end) => name + end) : [name];
        const own = samples.filter(([, sampled = ""]) => series.includes(sampled));
        const labels = own.flatMap(([, , text = ""]) => [...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/gu)]);
        const shown = new Set(
          labels.map(([, label = "", value = ""]) => (label === "le" ? `le=${value}` : label)),
        );
        return [
          name,
          `${type}\n${helps.get(name) ?? ""}\n${own.length === 0 ? NOT_SAMPLED : `labels: ${[...shown].join(", ")}`}`,
        ];
      }),
  );
}

/** A metric that counts rare events may have no sample, and then shows no labels. */
export function withoutUnknownLabels(recorded: string, text: string): string {
  return recorded.endsWith(NOT_SAMPLED) ? text.replace(/\nlabels: .*$/u, "") : text;
}

/** A text without what may differ freely: comments and layout of YAML, running text and link targets of Markdown. */
export function comparable(name: string, text: string): string {
  if (name.endsWith(".md"))
    return text
      .split("\n")
      .filter((line) => line.startsWith("|"))
      .join("\n")
      .replace(/\]\([^)]*\)/gu, "]");
  if (!/\.ya?ml$/u.test(name)) return text;
  const documents = parseAllDocuments(text);
  // A Helm template is no YAML before it is rendered.
  if (documents.some(({ errors }) => errors.length > 0)) return text;
  return JSON.stringify(
    documents.map((document) => document.toJS() as unknown),
    null,
    1,
  );
}

interface Rewording {
  readonly from: string;
  readonly to: string;
}

/** The lines of accepted.txt; a `-` line directly before a `+` line is a rewording, which also holds inside outputs and files. */
export interface Accepted {
  readonly removed: ReadonlySet<string>;
  readonly added: ReadonlySet<string>;
  readonly rewordings: readonly Rewording[];
}

export function readAccepted(text: string): Accepted {
  const lines = text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"));
  const wrong = lines.find((line) => !/^[-+] \S/u.test(line));
  if (wrong !== undefined) throw new Error(`accepted.txt: "${wrong}" begins with none of "- ", "+ " and "#"`);
  const of = (sign: string): string[] =>
    lines.filter((line) => line.startsWith(sign)).map((line) => line.slice(2));
  const rewordings = lines.flatMap((line, at) => {
    const next = lines[at + 1] ?? "";
    return line.startsWith("-") && next.startsWith("+") ? [{ from: line.slice(2), to: next.slice(2) }] : [];
  });
  return { removed: new Set(of("-")), added: new Set(of("+").map(unnumbered)), rewordings };
}

/** `{2}` in a new text says which expression of the old one goes there. */
function unnumbered(text: string): string {
  return text.replace(/\{\d+\}/gu, "{}");
}

export interface SetChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

export function compareSets(
  recorded: readonly string[],
  current: readonly string[],
  accepted: Accepted,
): SetChanges {
  const [before, now] = [new Set(recorded), new Set(current)];
  return {
    added: current.filter((each) => !before.has(each) && !accepted.added.has(each)),
    removed: recorded.filter((each) => !now.has(each) && !accepted.removed.has(each)),
  };
}

/** Lines of accepted.txt that are not true: a text that is said to be gone is there, or one that is said to be new is not. */
export function untrueLines(
  { added, removed, rewordings }: Accepted,
  isThere: (text: string) => boolean,
): string[] {
  // Reworded in one place, the old words may stay in another.
  const reworded = new Set(rewordings.map(({ from }) => from));
  return [
    ...[...removed].filter((text) => isThere(text) && !reworded.has(text)).map((text) => `- ${text}`),
    ...[...added].filter((text) => !isThere(text)).map((text) => `+ ${text}`),
  ];
}

/** The lines that accept these changes; each old text stands before the new one that is most like it. */
export function linesToAccept({ added, removed }: SetChanges): string[] {
  const left = new Set(added);
  const lines = removed.flatMap((text) => {
    const [best] = [...left]
      .map((other) => ({ other, likeness: likeness(text, other) }))
      .toSorted((a, b) => b.likeness - a.likeness);
    if (best === undefined || best.likeness < ENOUGH_ALIKE) return [`- ${text}`];
    left.delete(best.other);
    return [`- ${text}`, `+ ${best.other}`];
  });
  return [...[...left].map((text) => `+ ${text}`), ...lines];
}

const ENOUGH_ALIKE = 0.3;

/** The share of their words that two texts have in common. */
function likeness(one: string, other: string): number {
  const [a, b] = [new Set(one.split(" ")), new Set(other.split(" "))];
  const both = [...a].filter((word) => b.has(word)).length;
  return both / (a.size + b.size - both);
}

/** Undefined: the same words, once the accepted rewordings are made. Else the first words that differ. */
export function compareTexts(
  recorded: string,
  current: string,
  { rewordings }: Accepted,
): string | undefined {
  const [before, now] = [oneLine(recorded), oneLine(current)];
  const expected = reworded(before, rewordings);
  // The old words may stay in one place and change in another.
  if ([before, expected].includes(now) || expected === reworded(now, rewordings)) return undefined;
  return differenceOf(expected, now);
}

function oneLine(text: string): string {
  return text.replaceAll('\\"', '"').replace(/\s+/gu, " ").trim();
}

/** Words that were put in are kept together by this, so that no other rewording is made inside them. */
const GLUE = "\u0000";

function reworded(text: string, rewordings: readonly Rewording[]): string {
  const longestFirst = rewordings.toSorted((a, b) => b.from.length - a.from.length);
  return longestFirst.reduce(rewordOnce, text).replaceAll(GLUE, " ");
}

function rewordOnce(text: string, { from, to }: Rewording): string {
  const parts = from.split("{}").map((part) => part.replace(/[.*+?^${}()|[\]\\]/gu, "\\$&"));
  // An expression at the beginning is one word: otherwise it would reach back into whatever stands before the text.
  const [first = "", ...rest] = parts;
  const pattern =
    first === "" && rest.length > 0
      ? `([^\\s"]{1,160}?)${rest.join("(.{1,160}?)")}`
      : parts.join("(.{1,160}?)");
  const form = new RegExp(`(?<![\\p{L}\\p{N}])${pattern}(?![\\p{L}\\p{N}])`, "gu");
  return text.replace(form, (...match: readonly (string | number)[]) => {
    let next = 1;
    return to
      .replaceAll(" ", GLUE)
      .replace(/\{(\d*)\}/gu, (_, number: string) =>
        String(match[number === "" ? next++ : Number(number)] ?? "{}"),
      );
  });
}

const SHOWN_CHARACTERS = 240;
const SHOWN_BEFORE = 60;

/** From a little before the first character that differs to the last one. */
function differenceOf(before: string, now: string): string {
  const shorter = Math.min(before.length, now.length);
  let from = 0;
  while (from < shorter && before[from] === now[from]) from++;
  let after = 0;
  while (after < shorter - from && before.at(-1 - after) === now.at(-1 - after)) after++;
  // Whole words are read more easily.
  while (after > 0 && now.at(-after) !== " ") after--;
  const start = Math.max(
    0,
    now.lastIndexOf(" ", Math.max(0, from - SHOWN_BEFORE)) + 1,
    from - 2 * SHOWN_BEFORE,
  );
  const cut = (text: string): string => {
    const part = text.slice(start, text.length - after);
    return part.length > SHOWN_CHARACTERS ? `${part.slice(0, SHOWN_CHARACTERS)} …` : part;
  };
  return `- ${cut(before)}\n+ ${cut(now)}`;
}

/** What one of our own programs has written: nobody else's JSON is read here. */
export function readJson<T>(text: string): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(text) as T;
}
