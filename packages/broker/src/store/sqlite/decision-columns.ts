import type { CandidateRecord, RefusedOutcome, ResourceVector, ScoredOutcome } from "@resource-broker/domain";

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

/** Where each fixed number stands; vectors take four columns. */
const COLUMN = { age: 0, available: 1, allocatable: 5, reserved: 9, price: 13, score: 14 } as const;
const FIXED_COLUMNS = 15;

/** Numbers by names that only the decision knows. A prefix tells whose they are. */
const OPEN: readonly (readonly [prefix: string, read: (candidate: CandidateRecord) => Numbers])[] = [
  ["parts/", ({ outcome }) => (outcome.kind === "scored" ? outcome.parts : {})],
  ["ratings/", ({ inputs }) => inputs.ratings],
  ["available/", ({ inputs }) => inputs.available.extended],
  ["allocatable/", ({ inputs }) => inputs.allocatable.extended],
  ["reserved/", ({ inputs }) => inputs.reserved.extended],
];

export function tabulate(candidates: readonly CandidateRecord[]): NumberTable {
  const count = candidates.length;
  const open = openColumns(candidates);
  const values = new Float64Array((FIXED_COLUMNS + open.size) * count);
  candidates.forEach(({ advertisementAgeMs, inputs, outcome }, position) => {
    const put = (column: number, value: number) => {
      values[column * count + position] = value;
    };
    const putVector = (column: number, vector: ResourceVector) => {
      put(column, vector.cpuMillis);
      put(column + 1, vector.memoryBytes);
      put(column + 2, vector.storageBytes);
      put(column + 3, vector.gpus);
    };
    put(COLUMN.age, advertisementAgeMs);
    putVector(COLUMN.available, inputs.available);
    putVector(COLUMN.allocatable, inputs.allocatable);
    putVector(COLUMN.reserved, inputs.reserved);
    put(COLUMN.price, inputs.price ?? Number.NaN);
    put(COLUMN.score, outcome.kind === "scored" ? outcome.score : Number.NaN);
  });
  let column = FIXED_COLUMNS;
  for (const numbers of open.values()) values.set(numbers, column++ * count);
  return { count, openNames: [...open.keys()], values };
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

function openColumns(candidates: readonly CandidateRecord[]): Map<string, Float64Array> {
  const columns = new Map<string, Float64Array>();
  for (const [prefix, read] of OPEN) {
    for (const [name, column] of columnsByName(candidates.map(read))) columns.set(prefix + name, column);
  }
  return columns;
}

/** By the plain name, which is one shared string: making a longer one for each number would cost more than the rest. */
function columnsByName(rows: readonly Numbers[]): Map<string, Float64Array> {
  const columns = new Map<string, Float64Array>();
  rows.forEach((row, position) => {
    for (const name in row) {
      const column = columns.get(name) ?? new Float64Array(rows.length).fill(Number.NaN);
      if (!columns.has(name)) columns.set(name, column);
      column[position] = row[name] ?? Number.NaN;
    }
  });
  return columns;
}
