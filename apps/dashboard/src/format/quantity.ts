import type { UiResource } from "@resource-broker/contract/dashboard";
import { amountWithUnit } from "./amounts.ts";

const UNITS: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
};

/** A Kubernetes quantity as people read it: "126400m" → "126.4 CPU". What cannot be read stays as it is. */
export function quantityText(resource: UiResource, quantity: string): string {
  const [, number = "", unit = ""] = /^([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)([A-Za-z]*)$/.exec(quantity) ?? [];
  const factor = UNITS[unit];
  if (number === "" || factor === undefined) return quantity;
  return amountWithUnit(resource, Number(number) * factor);
}
