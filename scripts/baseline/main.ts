/**
 * `npm run baseline`: records what must not change while names, prose and layout do; `-- --check` compares. It is deleted
 * when issue 21 is done.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  type Accepted,
  comparable,
  compareSets,
  compareTexts,
  linesToAccept,
  readAccepted,
  readJson,
  untrueLines,
  withoutUnknownLabels,
} from "./compare.ts";
import { contentOf, gitHash, publicFiles } from "./files.ts";
import { shippedLiterals } from "./literals.ts";
import { type Measurements, measure, showMeasurements, TOO_LARGE } from "./measure.ts";
import { playStory } from "./story.ts";

const HELP = `Records what users can type, apply, scrape, call or read, and compares it.

Usage: npm run baseline [-- PART …]            records everything, or these parts, into baseline/
       npm run baseline -- --check [PART …]    compares with what is recorded; status 1 when something changed
       npm run baseline -- --accept            appends changed texts to baseline/accepted.txt: read them, then commit
       npm run baseline -- --check --measure   measures bundles, benches and memory, too, and shows both runs
       npm run baseline -- --measure           records these figures only

Parts: files      OpenAPI, CRDs, golden wire files, reference pages, Helm values, RBAC: by content, wherever they lie
       help       --help of every program and command
       brokerctl  columns, JSON, messages and exit status of brokerctl, against a broker, three clusters and two agents
       objects    objects and events that broker and agents write, some raw answers, the tables of the store
       probes     the pages of /healthz and /readyz
       metrics    names, types, help, labels and bounds of both scrapes
       names      reasons, condition types, fault codes, paths, log fields: words without a space in shipped sources
       texts      messages, explanations, help: strings of at least two words in shipped sources

A line of baseline/accepted.txt accepts a change of texts or names: "- old text", "+ new text", "# comment". {} stands for
an expression. A "-" line directly before a "+" line is a rewording; it also holds inside outputs and files, and there {2}
in the new text stands for the second expression of the old one.`;

const ROOT = join(import.meta.dirname, "../..");
const FOLDER = join(ROOT, "baseline");
const PLAYED = ["help", "brokerctl", "objects", "probes", "metrics"];
const READ = ["texts", "names"];
const PARTS = ["files", ...PLAYED, ...READ];
const SHOWN_CHANGES = 12;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    check: { type: "boolean", default: false },
    accept: { type: "boolean", default: false },
    measure: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
async function main(): Promise<number> {
  const unknown = positionals.find((part) => !PARTS.includes(part));
  if (unknown !== undefined) {
    console.error(`baseline: there is no part "${unknown}"; --help explains`);
    return 2;
  }
  const parts = positionals.length === 0 ? PARTS : positionals;
  if (values.help) console.log(HELP);
  else if (values.accept) accept();
  else if (values.check) return check(parts);
  else if (values.measure) writeMeasurements(await measure(ROOT));
  else await record(parts);
  return 0;
}

/** Each part, as sections by name; the texts of a set are the names of empty sections. */
type Part = ReadonlyMap<string, string>;

async function current(parts: readonly string[]): Promise<ReadonlyMap<string, Part>> {
  const found = new Map<string, Part>();
  if (parts.includes("files")) found.set("files", publicFiles(ROOT));
  if (parts.some((part) => READ.includes(part))) {
    const { texts, names } = shippedLiterals(ROOT);
    for (const [part, lines] of Object.entries({ texts, names }))
      found.set(part, new Map(lines.map((line) => [line, ""])));
  }
  if (parts.some((part) => PLAYED.includes(part)))
    for (const [part, outputs] of Object.entries(await playStory(ROOT))) found.set(part, outputs);
  return new Map(parts.map((part) => [part, found.get(part) ?? new Map<string, string>()]));
}

async function record(parts: readonly string[]): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  for (const [part, sections] of await current(parts)) {
    writeFileSync(
      fileOf(part),
      part === "files" ? hashes(sections) : READ.includes(part) ? lines(sections) : outputs(sections),
    );
    console.log(`${part.padEnd(10)} ${sections.size} recorded`);
  }
}

function fileOf(part: string): string {
  return join(FOLDER, `${part}.txt`);
}

function hashes(sections: Part): string {
  return [...sections].map(([name, text]) => `${gitHash(text)}  ${name}\n`).join("");
}

function lines(sections: Part): string {
  return [...sections.keys()].map((line) => `${line}\n`).join("");
}

function outputs(sections: Part): string {
  return [...sections]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, text]) => `=== ${name}\n${text}\n`)
    .join("");
}

function recorded(part: string): Map<string, string> {
  const text = readFileSync(fileOf(part), "utf8");
  if (part === "files")
    return new Map(
      text
        .trim()
        .split("\n")
        .map((line) => [line.slice(42), line.slice(0, 40)]),
    );
  if (READ.includes(part))
    return new Map(
      text
        .trim()
        .split("\n")
        .map((line) => [line, ""]),
    );
  const sections = text.split(/^=== /mu).slice(1);
  return new Map(
    sections.map((section) => [
      section.slice(0, section.indexOf("\n")),
      section.slice(section.indexOf("\n") + 1, -1),
    ]),
  );
}

const UNDO =
  "Remedy: undo it, this must not change. If only the wording changed, on purpose, accept the texts as a rewording (--accept).";
const REMEDIES: Readonly<Record<string, string>> = {
  texts:
    "Remedy: undo it, or run npm run baseline -- --accept, read the lines it adds, and list them in CHANGELOG.md.",
  names:
    "Remedy: undo it, unless nobody outside the code reads this name; then add the line to baseline/accepted.txt.",
  accepted:
    'Remedy: take these lines out of baseline/accepted.txt: a "-" text is still there, or a "+" text is not.',
};

async function check(parts: readonly string[]): Promise<number> {
  const accepted = readAccepted(acceptedText());
  const now = await current(parts);
  const results = [...now].map(([part, sections]) =>
    report(part, changesOf(part, sections, accepted), sections.size),
  );
  // Only who has compared everything knows what is nowhere.
  const untrue = parts.length === PARTS.length ? untrueLines(accepted, isIn(now)) : [];
  results.push(report("accepted", untrue, accepted.added.size + accepted.removed.size));
  if (values.measure) results.push(await reportMeasurements());
  return results.every((isOk) => isOk) ? 0 : 1;
}

/** One line when nothing changed. */
function report(part: string, changes: readonly string[], size: number): boolean {
  if (changes.length === 0) {
    console.log(`${part.padEnd(10)} ok       ${size} compared`);
    return true;
  }
  const shown = changes.slice(0, SHOWN_CHANGES).map((change) => change.replace(/^(.{0,300}).*$/gmu, "  $1"));
  const more = changes.length > SHOWN_CHANGES ? [`  and ${changes.length - SHOWN_CHANGES} more`] : [];
  console.log(
    [
      `${part.padEnd(10)} changed  ${changes.length} of ${size}`,
      ...shown,
      ...more,
      `  ${REMEDIES[part] ?? UNDO}`,
    ].join("\n"),
  );
  return false;
}

function acceptedText(): string {
  return readFileSync(join(FOLDER, "accepted.txt"), "utf8");
}

function changesOf(part: string, now: Part, accepted: Accepted): string[] {
  const before = recorded(part);
  const { added, removed } = compareSets([...before.keys()], [...now.keys()], accepted);
  const changed = [...now].flatMap(([name, text]) => {
    const old = before.get(name);
    const difference = old === undefined ? undefined : sectionDifference({ part, name, old, text, accepted });
    return difference === undefined ? [] : [`${name}\n${difference}`];
  });
  return [...linesToAccept({ added, removed }), ...changed];
}

interface Section {
  readonly part: string;
  readonly name: string;
  readonly old: string;
  readonly text: string;
  readonly accepted: Accepted;
}

function sectionDifference({ part, name, old, text, accepted }: Section): string | undefined {
  if (part === "metrics")
    return compareTexts(withoutUnknownLabels(old, old), withoutUnknownLabels(old, text), accepted);
  if (part !== "files") return compareTexts(old, text, accepted);
  return old === gitHash(text)
    ? undefined
    : compareTexts(comparable(name, contentOf(ROOT, old)), comparable(name, text), accepted);
}

function isIn(parts: ReadonlyMap<string, Part>): (text: string) => boolean {
  const everything = [...parts.values()]
    .flatMap((sections) => [...sections.values()])
    .join("\n")
    .replace(/\s+/gu, " ");
  return (text) => READ.some((part) => parts.get(part)?.has(text) === true) || everything.includes(text);
}

/** Only texts: a changed name is decided one by one. */
function accept(): void {
  const accepted = readAccepted(acceptedText());
  const now = shippedLiterals(ROOT).texts;
  const added = linesToAccept(compareSets([...recorded("texts").keys()], now, accepted));
  writeFileSync(join(FOLDER, "accepted.txt"), [acceptedText().trimEnd(), ...added, ""].join("\n"));
  console.log(
    added.length === 0
      ? "baseline: no text changed"
      : [
          ...added,
          "baseline: appended to baseline/accepted.txt; read them, pair what is not paired, list them in CHANGELOG.md",
        ].join("\n"),
  );
}

/** Measurements are only shown; a bundle beyond its budget is a failure. */
async function reportMeasurements(): Promise<boolean> {
  const text = showMeasurements(readMeasurements(), await measure(ROOT));
  console.log(text);
  return !text.includes(TOO_LARGE);
}

function readMeasurements(): Measurements {
  return readJson(readFileSync(join(FOLDER, "figures.json"), "utf8"));
}

function writeMeasurements(measurements: Measurements): void {
  writeFileSync(join(FOLDER, "figures.json"), `${JSON.stringify(measurements, null, 2)}\n`);
  console.log(JSON.stringify(measurements, null, 2));
}

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
process.exitCode = await main();
