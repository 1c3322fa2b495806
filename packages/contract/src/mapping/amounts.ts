import {
  formatBytes,
  formatCount,
  formatCpu,
  parseAmount,
  type ResourceVector,
  resourceVector,
} from "@resource-broker/base";
import { MAX_PROBLEMS, type Problem } from "../schema/problem.ts";
import type { ResourceQuantitiesDTO, SomeQuantitiesDTO } from "../wire/quantities.ts";
import { mapValues, present } from "./present.ts";

/** Result of a mapping. The form of wire values is validated before, so only amounts can be out of range. */
export type Mapped<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Parses amounts and collects all problems, so that the caller gets them in one reply. */
export interface AmountReader {
  /** Requested or used amounts: rounded up. */
  readonly roundedUp: (quantities: SomeQuantitiesDTO, path: string) => ResourceVector;
  /** Capacity: rounded down. */
  readonly roundedDown: (quantities: SomeQuantitiesDTO, path: string) => ResourceVector;
  /** Requested amounts: rounded up, and device counts must be whole numbers. */
  readonly wholeUnits: (quantities: SomeQuantitiesDTO, path: string) => ResourceVector;
  readonly bytes: (quantity: string, path: string) => number;
  readonly problem: (path: string, message: string) => void;
  /** The value, or the collected problems. */
  readonly finish: <T>(value: T) => Mapped<T>;
}

type Rounding = "up" | "down" | "whole";

export function amountReader(): AmountReader {
  const problems: Problem[] = [];
  const problem = (path: string, message: string): void => {
    if (problems.length < MAX_PROBLEMS) problems.push({ path, message });
  };
  const read = (
    text: string,
    path: string,
    options: { unit: "milli" | "one"; rounding: Rounding },
  ): number => {
    const { unit, rounding } = options;
    const parsed = parseAmount(text, { unit, rounding: rounding === "down" ? "down" : "up" });
    if (!parsed.ok) problem(path, parsed.problem);
    else if (rounding !== "whole" || isWhole(text, parsed.amount)) return parsed.amount;
    else problem(path, `${JSON.stringify(text)} is not a whole number; write for example 1`);
    return 0;
  };
  const vector = (quantities: SomeQuantitiesDTO, path: string, rounding: Rounding): ResourceVector => {
    // CPU and bytes may be split finer than the ledger counts; half a GPU cannot be lent.
    const size = rounding === "whole" ? "up" : rounding;
    const amount = (
      name: "cpu" | "memory" | "gpu" | "storage",
      unit: "milli" | "one",
      how: Rounding,
    ): number => {
      const text = quantities[name];
      return text === undefined ? 0 : read(text, `${path}.${name}`, { unit, rounding: how });
    };
    const extended = Object.entries(quantities.extended ?? {}).map(
      ([name, text]) => [name, read(text, `${path}.extended["${name}"]`, { unit: "one", rounding })] as const,
    );
    return resourceVector({
      cpuMillis: amount("cpu", "milli", size),
      memoryBytes: amount("memory", "one", size),
      storageBytes: amount("storage", "one", size),
      gpus: amount("gpu", "one", rounding),
      extended: Object.fromEntries(extended),
    });
  };
  return {
    roundedUp: (quantities, path) => vector(quantities, path, "up"),
    roundedDown: (quantities, path) => vector(quantities, path, "down"),
    wholeUnits: (quantities, path) => vector(quantities, path, "whole"),
    bytes: (quantity, path) => read(quantity, path, { unit: "one", rounding: "down" }),
    problem,
    finish: (value) => (problems.length === 0 ? { ok: true, value } : { ok: false, problems }),
  };
}

/** Amounts as Kubernetes prints them. CPU and memory are always stated, the others where there are any. */
export function toQuantities(vector: ResourceVector): ResourceQuantitiesDTO {
  return {
    cpu: formatCpu(vector.cpuMillis),
    memory: formatBytes(vector.memoryBytes),
    ...otherQuantities(vector),
  };
}

/** Only what is more than nothing; undefined when there is nothing at all. */
export function toSomeQuantities(vector: ResourceVector): SomeQuantitiesDTO | undefined {
  const { cpuMillis, memoryBytes } = vector;
  const some: SomeQuantitiesDTO = present({
    cpu: cpuMillis === 0 ? undefined : formatCpu(cpuMillis),
    memory: memoryBytes === 0 ? undefined : formatBytes(memoryBytes),
    ...otherQuantities(vector),
  });
  return Object.keys(some).length === 0 ? undefined : some;
}

function otherQuantities(vector: ResourceVector): Pick<SomeQuantitiesDTO, "gpu" | "storage" | "extended"> {
  const { gpus, storageBytes, extended } = vector;
  return present({
    gpu: gpus === 0 ? undefined : formatCount(gpus),
    storage: storageBytes === 0 ? undefined : formatBytes(storageBytes),
    extended:
      Object.keys(extended).length === 0 ? undefined : mapValues(extended, (amount) => formatCount(amount)),
  });
}

function isWhole(text: string, roundedUp: number): boolean {
  const down = parseAmount(text, { unit: "one", rounding: "down" });
  return down.ok && down.amount === roundedUp;
}
