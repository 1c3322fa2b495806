import { BINARY_SUFFIXES, DECIMAL_SUFFIXES } from "./suffixes.ts";

export const BINARY_UNITS = [...BINARY_SUFFIXES.keys()];
const DECIMAL_UNITS = [...DECIMAL_SUFFIXES.keys()];
const MILLI = DECIMAL_UNITS.indexOf("m");
const ONE = DECIMAL_UNITS.indexOf("");

/** Milli-CPU as Kubernetes prints them: "500m", "4", "1500m". */
export function formatCpu(cpuMillis: number): string {
  return canonicalDecimal(cpuMillis, MILLI);
}

/** Bytes as Kubernetes prints them: "8Gi", "1536Mi", and plain where no binary unit divides them. */
export function formatBytes(bytes: number): string {
  // Kubernetes prints what is smaller than 1Ki in decimal units.
  if (Math.abs(bytes) < 1024) return canonicalDecimal(bytes, ONE);
  let amount = bytes;
  let unit = "";
  for (const larger of BINARY_UNITS) {
    if (amount % 1024 !== 0) break;
    amount /= 1024;
    unit = larger;
  }
  return `${amount}${unit}`;
}

export function formatCount(count: number): string {
  return canonicalDecimal(count, ONE);
}

/** Moves up a unit as long as nothing is lost. `unit` is the index of the amount's own unit. */
function canonicalDecimal(amount: number, unit: number): string {
  if (amount === 0) return "0";
  let rest = amount;
  let index = unit;
  while (rest % 1000 === 0 && index < DECIMAL_UNITS.length - 1) {
    rest /= 1000;
    index++;
  }
  return `${rest}${DECIMAL_UNITS[index]}`;
}

/** Bytes for people, with at most two decimals: "7.45Gi". */
export function roundedBytes(bytes: number): string {
  let amount = bytes;
  let unit = "B";
  for (const larger of BINARY_UNITS) {
    // Compared as it will be shown, so that 1023.999Mi becomes 1Gi and not 1024Mi.
    if (Math.abs(twoDecimals(amount)) < 1024) break;
    amount /= 1024;
    unit = larger;
  }
  return `${twoDecimals(amount)}${unit}`;
}

function twoDecimals(amount: number): number {
  return Math.round(amount * 100) / 100;
}
