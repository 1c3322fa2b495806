import { type AmountOptions, formatQuantity, parseAmount, parseQuantity } from "@resource-broker/base";
import { type BenchRow, measure, medianNanoseconds } from "./bench-row.ts";

const CPU: AmountOptions = { unit: "milli", rounding: "up" };
const BYTES: AmountOptions = { unit: "one", rounding: "up" };
const TYPICAL_CPU = ["500m", "2", "1.5", "250m", "4", "100m", "3920m", "0.25"];
const TYPICAL_BYTES = ["8Gi", "512Mi", "16393244Ki", "128974848", "1.5Gi", "64Mi", "110", "20Gi"];
const UNUSUAL = ["129e6", "+7", "-1.5", "128974848000000000000m", "1.0000000000001"];
const WRONG = ["", "1gi", " 1", "8GB", "Infinity", "0x10"];

const LENGTH = 100;
const WORST_REPEATS = 50;
const RANDOM_INPUTS = 400;

export function quantityBenchmarks(): BenchRow[] {
  return [
    perInput("read a typical quantity as an amount", "0.5 µs", [
      ...TYPICAL_CPU.map((text) => () => parseAmount(text, CPU)),
      ...TYPICAL_BYTES.map((text) => () => parseAmount(text, BYTES)),
    ]),
    perInput(
      "… an unusual one, exactly",
      "",
      UNUSUAL.map((text) => () => parseAmount(text, CPU)),
    ),
    perInput(
      "… a wrong one, refused with its reason",
      "",
      WRONG.map((text) => () => parseAmount(text, CPU)),
    ),
    perInput(
      "read and print a quantity exactly",
      "",
      TYPICAL_BYTES.map((text) => () => canonical(text)),
    ),
    worstOf100Characters(),
  ];
}

/** The mean over a mix, so that no single text can be specialised for. */
function perInput(name: string, target: string, reads: readonly (() => unknown)[]): BenchRow {
  const row = measure(name, target, () => {
    let last: unknown;
    for (const read of reads) last = read();
    return last;
  });
  return { ...row, nanoseconds: row.nanoseconds / reads.length };
}

function worstOf100Characters(): BenchRow {
  const inputs = [...adverseInputs(), ...randomInputs()];
  // All once before any is timed: the first must not pay for the compiler.
  for (const text of inputs) medianNanoseconds(WORST_REPEATS, () => parseAmount(text, CPU));
  const times = inputs.map((text) => medianNanoseconds(WORST_REPEATS, () => parseAmount(text, CPU)));
  return {
    name: `read the slowest of ${inputs.length} texts of ${LENGTH} characters`,
    nanoseconds: Math.max(...times),
    target: "50 µs",
  };
}

function adverseInputs(): string[] {
  const nines = "9".repeat(LENGTH);
  return [
    nines,
    ...["n", "m", "E", "Ki", "Ei", "e100", "e-100", "gi", " ", "e", "💥"].map((end) =>
      endingWith(nines, end),
    ),
    ...["n", "Ki", "Ei", "e-100", "E"].map((end) => endingWith(`0.${nines}`, end)),
    ...["n", "Ei", "e-100", ".1"].map((end) => endingWith(`0.${"0".repeat(LENGTH)}`, end)),
    endingWith(`-${nines}`, "e-100"),
    endingWith(`1e${"0".repeat(LENGTH)}`, "3"),
    endingWith(`1e${nines}`, "9"),
    ...["e", "Gi", "-", ".", " ", "x", "\u202e"].map((filling) =>
      `1${filling.repeat(LENGTH)}`.slice(0, LENGTH),
    ),
  ];
}

function endingWith(text: string, end: string): string {
  return text.slice(0, LENGTH - end.length) + end;
}

/** Always the same texts, so that two runs can be compared. */
function randomInputs(): string[] {
  const alphabet = "0123456789012345678901234567890123456789+-.eEinumkKMGTP ";
  let seed = 1;
  const next = (): string => {
    seed = (seed * 48_271) % 2_147_483_647;
    return alphabet.charAt(seed % alphabet.length);
  };
  return Array.from({ length: RANDOM_INPUTS }, () => Array.from({ length: LENGTH }, next).join(""));
}

function canonical(text: string): string {
  const parsed = parseQuantity(text);
  return parsed.ok ? formatQuantity(parsed.quantity) : parsed.problem;
}
