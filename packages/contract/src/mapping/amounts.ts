import {
  amountForm,
  formatResources,
  formatSome,
  parseAmount,
  type ResourceVector,
  vectorFrom,
} from "@resource-broker/base";
import { MAX_PROBLEMS, type Problem } from "../schema/problem.ts";
import type { Validation } from "../schema/validate.ts";
import type { ResourceQuantitiesDTO, SomeQuantitiesDTO } from "../wire/quantities.ts";

/** Result of a mapping. The form of wire values is validated before, so only amounts can be out of range. */
export type Mapped<T> = Validation<T>;

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
  const vector = (quantities: SomeQuantitiesDTO, path: string, rounding: Rounding): ResourceVector =>
    vectorFrom(quantities, (text, name, isField) => {
      const { unit, isCounted } = amountForm(name);
      const place = isField ? `${path}.${name}` : `${path}.extended["${name}"]`;
      // CPU and bytes may be split finer than the ledger counts; half a GPU cannot be lent.
      return read(text, place, { unit, rounding: rounding === "whole" && !isCounted ? "up" : rounding });
    });
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
  return formatResources(vector);
}

/** Only what is more than nothing; undefined when there is nothing at all. */
export function toSomeQuantities(vector: ResourceVector): SomeQuantitiesDTO | undefined {
  const some = formatSome(vector);
  return Object.keys(some).length === 0 ? undefined : some;
}

function isWhole(text: string, roundedUp: number): boolean {
  const down = parseAmount(text, { unit: "one", rounding: "down" });
  return down.ok && down.amount === roundedUp;
}
