/**
 * `node scripts/baseline/words.ts [FOLDER]`: metaphors in declared names, file names and headings of a working tree, with
 * their places. docs/glossary.md has the words to use instead. It is deleted with the baseline.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseSync } from "@swc/core";

/** Words that are metaphors wherever a name has them. */
const METAPHORS = new Set(
  (
    "lender lenders borrower borrowers loan loans wish wishes wishing knock knocks doorstep sift sifts sifted sieve glance " +
    "slate slates roster appraise appraisal deliberation standing standings book books bookkeeping census censuses suspect " +
    "suspects leftover leftovers doubt doubts forge forges forged teller telling told said happening happenings occurrence " +
    "painter paint painted picture pictures stamp stamps pace gap gaps figures knob knobs trouble troubles cadence nudge " +
    "nudged patience patient patiently shelf shelves cast witness witnesses shopper shoppers clerk clerks insist insists"
  ).split(" "),
);

/** Words that are metaphors in some rooms only, and ordinary English elsewhere. */
const IN_ROOMS: readonly (readonly [words: string, room: RegExp])[] = [
  ["door doors front", /^packages\/broker\/(?:src|sim|fuzz)\/|^apps\/demo\//u],
  ["market markets marks", /^(?:packages|test)\//u],
  ["page pages head heads moves turn turns", /\/store\/kubernetes\//u],
  ["stage stages", /^packages\/(?:broker|agent|testkit)\/|^test\//u],
  ["lending borrowing lendings borrowings", /^packages\/agent\//u],
  ["attention contacts remains", /^packages\/(?:agent|broker)\/src\//u],
];

/** Names that stay: on the wire, in CRDs, policy, events, metrics or stored records, or ordinary English. Each with its reason. */
const ALLOWED: readonly (readonly [name: RegExp, reason: string])[] = [
  [/^standing$/u, "field of an advertisement on the wire"],
  [/^told(?:Step)?$/u, "step of a reservation's timeline on the wire; raw results of the evaluation"],
  [/^evaluation\/.*:(?:lenders|toldMs)$/u, "raw results of the evaluation"],
  [/^evaluation\/results\//u, "reports of earlier runs"],
  [/^market$/u, "stored in decisions"],
  [/^(?:Cleanup|DataPlane)Trouble$/u, "reasons of events"],
  [/\/store\/kubernetes\/.*:(?:head|pages|turn|withNextTurn)$/u, "stored in the ledger's manifest"],
  [/^pageSize$/u, "of a list of objects"],
  [
    /^(?:packages\/agent|test\/kube-sim)\/.*:(?:stages?|stageKey|TeardownStage)$/u,
    "stage of a process: ordinary English",
  ],
  [/^(?:kwokStages|stagesFile|stagesText)$/u, "kind Stage of kwok"],
  [/^marksInitialEnd$/u, "verb"],
  [/^(?:CAST|paint-order|patient)$/u, "a recording of a terminal, an attribute of SVG, the name of a pod"],
];

interface Found {
  readonly name: string;
  readonly place: string;
}

function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/gu, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-z])/gu, "$1 $2")
    .toLowerCase()
    .split(/[^a-z]+/u)
    .filter((word) => word !== "");
}

function isMetaphor(name: string, file: string): boolean {
  if (ALLOWED.some(([allowed]) => allowed.test(name) || allowed.test(`${file}:${name}`))) return false;
  return wordsOf(name).some(
    (word) =>
      METAPHORS.has(word) ||
      IN_ROOMS.some(([words, room]) => words.split(" ").includes(word) && room.test(file)),
  );
}

type Tree = Readonly<Record<string, unknown>>;

function isTree(node: unknown): node is Tree {
  return typeof node === "object" && node !== null;
}

const DECLARES_ID =
  /^(?:Function|Class)(?:Declaration|Expression)$|^Ts(?:Interface|TypeAlias|Enum|Module)Declaration$/u;
const DECLARES_KEY =
  /^(?:Class|Private)(?:Method|Property)$|^Ts(?:Property|Method|Getter)Signature$|^(?:Getter|Method|KeyValue)Property$|PatternProperty$/u;

/** Every name that a source declares: variables, parameters, functions, types and members. */
export function declaredNames(source: string, isTsx: boolean): Set<string> {
  const names = new Set<string>();
  const add = (node: unknown): void => {
    if (!isTree(node)) return;
    if (typeof node["value"] === "string") names.add(node["value"]);
    else add(node["id"]);
  };
  const walk = (node: unknown): void => {
    if (!isTree(node)) return;
    const { type } = node;
    if (type === "ImportDeclaration") return;
    const kind = typeof type === "string" ? type : "";
    if (DECLARES_ID.test(kind)) add(node["identifier"] ?? node["id"]);
    else if (DECLARES_KEY.test(kind)) add(node["key"]);
    // Only identifiers that bind a name have a place for a type.
    else if (kind === "Identifier" && "typeAnnotation" in node) add(node);
    for (const each of Object.values(node)) walk(each);
  };
  walk(parseSync(source, { syntax: "typescript", tsx: isTsx, target: "es2024" }));
  return names;
}

function headingsOf(markdown: string): string[] {
  return markdown.replace(/^```.*?^```/gmsu, "").match(/^#{1,6} .*$/gmu) ?? [];
}

function namesIn(root: string, file: string): readonly (readonly [kind: string, name: string])[] {
  const path = basename(file).replace(/\.\w+$/u, "");
  const folders = file.split("/").slice(0, -1);
  const own = [path, ...folders].map((name) => ["file", name] as const);
  const read = (): string => readFileSync(join(root, file), "utf8");
  if (/\.tsx?$/u.test(file) && !file.endsWith(".d.ts"))
    return [...own, ...[...declaredNames(read(), file.endsWith("x"))].map((name) => ["name", name] as const)];
  if (file.endsWith(".md") && !file.endsWith("CHANGELOG.md"))
    return [...own, ...headingsOf(read()).map((name) => ["heading", name] as const)];
  return own;
}

function main(root: string): void {
  const files = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 })
    .split("\n")
    .filter(
      (file) => file !== "" && !/^(?:baseline|docs\/adr)\//u.test(file) && existsSync(join(root, file)),
    );
  const found = new Map<string, Map<string, Found>>();
  for (const file of files)
    for (const [kind, name] of namesIn(root, file))
      if (isMetaphor(name, file)) {
        const ofKind = found.get(kind) ?? new Map<string, Found>();
        ofKind.set(`${file}:${name}`, { name, place: file });
        found.set(kind, ofKind);
      }
  for (const [kind, ofKind] of found)
    for (const { name, place } of ofKind.values()) console.log(`${kind}\t${name}\t${place}`);
  const counts = [...found].map(([kind, { size }]) => `${size} ${kind}s`);
  console.log(`${counts.length === 0 ? "no metaphors" : counts.join(", ")} in ${files.length} files`);
}

if (import.meta.main) main(process.argv[2] ?? join(import.meta.dirname, "../.."));
