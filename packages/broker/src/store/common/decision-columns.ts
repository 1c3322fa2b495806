import type { ResourceVector } from "@resource-broker/base";
import type { CandidateRecord, RefusedOutcome, ScoredOutcome } from "@resource-broker/domain";

/**
 * The numbers of all candidates, column by column: `values[column * count + candidate]`. First the columns that every
 * decision has, then those with names of their own. NaN: this candidate has no such number.
 */
export interface NumberTable {
  readonly count: number;
  /** Names of the columns after the fixed ones: score parts, ratings, extended resources. */
  readonly openNames: readonly string[];
  readonly values: Float64Array;
}

type Numbers = Readonly<Record<string, number>>;

/** The column of each fixed number; vectors take four columns. */
const COLUMN = { age: 0, available: 1, allocatable: 5, reserved: 9, price: 13, score: 14 } as const;
const FIXED_COLUMNS = 15;

const NO_NUMBERS: Numbers = {};
const NO_NAMES: ReadonlySet<string> = new Set();

/** Numbers by names that only the decision knows. A prefix says to which object they belong. */
const OPEN: readonly (readonly [prefix: string, read: (candidate: CandidateRecord) => Numbers])[] = [
  ["parts/", ({ outcome }) => (outcome.kind === "scored" ? outcome.parts : NO_NUMBERS)],
  ["ratings/", ({ inputs }) => inputs.ratings],
  ["available/", ({ inputs }) => inputs.available.extended],
  ["allocatable/", ({ inputs }) => inputs.allocatable.extended],
  ["reserved/", ({ inputs }) => inputs.reserved.extended],
];

/** One for all decisions: what is tabulated is written out before the next one is. */
let scratch = new Float64Array(2048);

/** The values are overwritten by the next call. */
export function tabulate(candidates: readonly CandidateRecord[]): NumberTable {
  const count = candidates.length;
  const open = openColumns(candidates);
  const size = (FIXED_COLUMNS + open.length) * count;
  if (scratch.length < size) scratch = new Float64Array(2 * size);
  const values = scratch.subarray(0, size);
  candidates.forEach(({ advertisementAgeMs, inputs, outcome }, position) => {
    values[COLUMN.age * count + position] = advertisementAgeMs;
    putVector(inputs.available, COLUMN.available * count + position);
    putVector(inputs.allocatable, COLUMN.allocatable * count + position);
    putVector(inputs.reserved, COLUMN.reserved * count + position);
    values[COLUMN.price * count + position] = inputs.price ?? Number.NaN;
    values[COLUMN.score * count + position] = outcome.kind === "scored" ? outcome.score : Number.NaN;
  });
  open.forEach(({ name, read }, index) => {
    const start = (FIXED_COLUMNS + index) * count;
    // Only a number of its own counts: a resource may be called `__proto__`, and then every other row has one, too.
    candidates.forEach((candidate, position) => {
      const value = read(candidate)[name];
      values[start + position] = typeof value === "number" ? value : Number.NaN;
    });
  });
  return { count, openNames: open.map(({ prefix, name }) => prefix + name), values };

  function putVector(vector: ResourceVector, at: number): void {
    values[at] = vector.cpuMillis;
    values[at + count] = vector.memoryBytes;
    values[at + 2 * count] = vector.storageBytes;
    values[at + 3 * count] = vector.gpus;
  }
}

/** The candidate at this position. `refused` is its outcome when it was not scored. */
export function candidateAt(
  table: NumberTable,
  position: number,
  known: { readonly clusterId: string; readonly refused: RefusedOutcome | undefined },
): Required<CandidateRecord> {
  const at = (column: number) => table.values[column * table.count + position] ?? Number.NaN;
  const named = (prefix: string): Numbers => {
    const entries = table.openNames.map((name, index) => [name, at(FIXED_COLUMNS + index)] as const);
    const own = entries.filter(([name, value]) => name.startsWith(prefix) && !Number.isNaN(value));
    // fromEntries defines keys as data: a resource called `__proto__` must not vanish.
    return Object.fromEntries(own.map(([name, value]) => [name.slice(prefix.length), value]));
  };
  const vector = (column: number, prefix: string): Required<ResourceVector> => ({
    cpuMillis: at(column),
    memoryBytes: at(column + 1),
    storageBytes: at(column + 2),
    gpus: at(column + 3),
    extended: named(prefix),
  });
  const price = at(COLUMN.price);
  // `Required`: a field added to any of these, even an optional one, does not compile until it has its column.
  const inputs: Required<CandidateRecord["inputs"]> = {
    available: vector(COLUMN.available, "available/"),
    allocatable: vector(COLUMN.allocatable, "allocatable/"),
    reserved: vector(COLUMN.reserved, "reserved/"),
    price: Number.isNaN(price) ? undefined : price,
    ratings: named("ratings/"),
  };
  const scored: Required<ScoredOutcome> = { kind: "scored", score: at(COLUMN.score), parts: named("parts/") };
  const { clusterId, refused } = known;
  return { clusterId, advertisementAgeMs: at(COLUMN.age), inputs, outcome: refused ?? scored };
}

export function columnsIn(openNames: readonly string[]): number {
  return FIXED_COLUMNS + openNames.length;
}

interface OpenColumn {
  readonly prefix: string;
  readonly name: string;
  readonly read: (candidate: CandidateRecord) => Numbers;
}

function openColumns(candidates: readonly CandidateRecord[]): readonly OpenColumn[] {
  const columns: OpenColumn[] = [];
  for (const [prefix, read] of OPEN) {
    for (const name of namesIn(candidates, read)) columns.push({ prefix, name, read });
  }
  return columns;
}

/** Mostly there are none, and no set is made for them. */
function namesIn(
  candidates: readonly CandidateRecord[],
  read: (candidate: CandidateRecord) => Numbers,
): ReadonlySet<string> {
  let names: Set<string> | undefined;
  for (const candidate of candidates) {
    for (const name in read(candidate)) names = (names ?? new Set<string>()).add(name);
  }
  return names ?? NO_NAMES;
}
