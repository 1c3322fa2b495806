import { emptyVector, type ResourceVector, SLOTS, slotAmounts } from "@resource-broker/base";
import type { CandidateRecord, Decision, RefusedOutcome, ScoredOutcome } from "@resource-broker/domain";
import { parseStored } from "./seals.ts";

/**
 * The numbers of all candidates, column by column: `values[column * count + candidate]`. First the columns that every
 * decision has, then those with names of their own. NaN: this candidate has no such number.
 */
interface NumberTable {
  readonly count: number;
  /** Names of the columns after the fixed ones: score parts, ratings, extended resources. */
  readonly openNames: readonly string[];
  readonly values: Float64Array;
}

type Numbers = Readonly<Record<string, number>>;

/** The column of each fixed number; vectors take a column for each slot. */
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
function tabulate(candidates: readonly CandidateRecord[]): NumberTable {
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
    slotAmounts(vector).forEach((amount, slot) => {
      values[at + slot * count] = amount;
    });
  }
}

/** The candidate at this position. `refused` is its outcome when it was not scored. */
function candidateAt(
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
  const vector = (column: number, prefix: string): Required<ResourceVector> => {
    const filled = emptyVector();
    SLOTS.forEach((slot, index) => {
      filled[slot] = at(column + index);
    });
    return { ...filled, extended: named(prefix) };
  };
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

function columnsIn(openNames: readonly string[]): number {
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

/**
 * Decisions are most of what the store writes, and nearly all of a decision is numbers, the same few of each candidate.
 * They are kept column by column as doubles, and a column of equal numbers only once; the rest is JSON. It takes a
 * quarter of the space of plain JSON and half its time, most of which goes into printing doubles.
 */
interface Layout {
  readonly version: number;
  readonly decision: Omit<Decision, "candidates">;
  readonly clusterIds: readonly string[];
  /** Outcomes of the refused candidates; the scores of the others are in columns. */
  readonly refused: readonly (readonly [position: number, outcome: RefusedOutcome])[];
  readonly openNames: readonly string[];
  /** Columns of equal numbers, with the number; null stands for NaN. The other columns follow as doubles. */
  readonly constants: readonly (readonly [column: number, value: number | null])[];
}

const VERSION = 1;
const LENGTH_BYTES = 4;
const DOUBLE_BYTES = 8;

export function encodeDecision({ candidates, ...decision }: Decision): Uint8Array {
  const table = tabulate(candidates);
  const constants = constantColumns(table);
  const layout: Layout = {
    version: VERSION,
    decision,
    clusterIds: candidates.map(({ clusterId }) => clusterId),
    refused: refusedAmong(candidates),
    openNames: table.openNames,
    constants: [...constants].map(([column, value]) => [column, Number.isNaN(value) ? null : value]),
  };
  const text = JSON.stringify(layout);
  const textBytes = Buffer.byteLength(text);
  const varying = columnsIn(table.openNames) - constants.size;
  const bytes = Buffer.allocUnsafe(LENGTH_BYTES + textBytes + varying * table.count * DOUBLE_BYTES);
  bytes.writeUInt32LE(textBytes, 0);
  bytes.write(text, LENGTH_BYTES);
  const doubles = new DataView(bytes.buffer, bytes.byteOffset + LENGTH_BYTES + textBytes);
  writeDoubles(doubles, table, constants);
  return bytes;
}

function refusedAmong(candidates: Decision["candidates"]): Layout["refused"] {
  const refused: [position: number, outcome: RefusedOutcome][] = [];
  for (const [position, { outcome }] of candidates.entries()) {
    if (outcome.kind === "refused") refused.push([position, outcome]);
  }
  return refused;
}

export function decodeDecision(stored: Uint8Array): Decision {
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
  let offset = LENGTH_BYTES + bytes.readUInt32LE(0);
  const layout = parseStored<Layout>(bytes.toString("utf8", LENGTH_BYTES, offset));
  const { version, decision, clusterIds, openNames } = layout;
  if (version !== VERSION) throw new Error(`decision record of unknown version ${version}`);
  const constants = new Map(layout.constants);
  const count = clusterIds.length;
  const values = Float64Array.from({ length: columnsIn(openNames) * count }, (_, index) => {
    const constant = constants.get(Math.floor(index / count));
    if (constant !== undefined) return constant ?? Number.NaN;
    offset += DOUBLE_BYTES;
    return bytes.readDoubleLE(offset - DOUBLE_BYTES);
  });
  const table = { count, openNames, values };
  const refused = new Map(layout.refused);
  const candidates = clusterIds.map((clusterId, position) =>
    candidateAt(table, position, { clusterId, refused: refused.get(position) }),
  );
  return { ...decision, candidates };
}

function writeDoubles(
  doubles: DataView,
  { count, values }: NumberTable,
  constants: ReadonlyMap<number, number>,
): void {
  let offset = 0;
  for (let start = 0; start < values.length; start += count) {
    if (constants.has(start / count)) continue;
    for (let at = start; at < start + count; at++, offset += DOUBLE_BYTES)
      doubles.setFloat64(offset, values[at] ?? Number.NaN, true);
  }
}

/** The columns whose numbers are all the same, with that number. */
function constantColumns({ count, values }: NumberTable): Map<number, number> {
  const constants = new Map<number, number>();
  for (let start = 0; start < values.length; start += count) {
    const first = values[start] ?? Number.NaN;
    let at = start + 1;
    while (at < start + count && Object.is(values[at], first)) at++;
    if (at === start + count) constants.set(start / count, first);
  }
  return constants;
}
