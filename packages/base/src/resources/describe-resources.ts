import { BINARY_UNITS } from "../quantity/format-amount.ts";
import { amountForm, resourceTitle } from "./resource-table.ts";
import { amountOf, type ResourceName, type ResourceVector, resourceNames } from "./resource-vector.ts";

/** For people, always "<number> <name>": "1.5 CPU", "7.45Gi Memory", "2 GPU", "3 amd.com/gpu". May be rounded. */
export function describeAmount(resource: ResourceName, amount: number): string {
  return `${amountForm(resource).show(amount)} ${resourceTitle(resource)}`;
}

/** The same, rounded down: for advice that must be correct when it is followed. */
export function describeAtMost(resource: ResourceName, amount: number): string {
  if (!amountForm(resource).isBytes) return describeAmount(resource, amount);
  const unit = BINARY_UNITS.findLastIndex((_, index) => amount >= 1024 ** (index + 1));
  const step = 1024 ** (unit + 1) / 100;
  return describeAmount(resource, Math.floor(amount / step) * step);
}

/** "4 CPU / 8Gi Memory / 2 GPU". */
export function describeResources(vector: ResourceVector): string {
  const described = resourceNames(vector).map((name) => describeAmount(name, amountOf(vector, name)));
  return described.length === 0 ? "nothing" : described.join(" / ");
}
