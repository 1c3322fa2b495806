import type { UiAmounts, UiResource } from "@resource-broker/contract/dashboard";

export const RESOURCES: readonly UiResource[] = ["cpu", "memory", "gpu"];

export const RESOURCE_TITLES: Readonly<Record<UiResource, string>> = {
  cpu: "CPU",
  memory: "Memory",
  gpu: "GPU",
};

const BINARY_UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const THOUSANDS = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const ONE_DIGIT = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const TWO_DIGITS = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });

/** 1,240 or 12.5 or 0.25: as many digits as matter. */
export function plainNumber(value: number): string {
  const size = Math.abs(value);
  if (size >= 1000) return THOUSANDS.format(value);
  return (size >= 10 ? ONE_DIGIT : TWO_DIGITS).format(value);
}

/** Bytes in the largest binary unit that keeps at least one whole. */
export function byteSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (Math.abs(value) >= 1024 && unit < BINARY_UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${(Math.abs(value) >= 100 ? THOUSANDS : ONE_DIGIT).format(value)} ${BINARY_UNITS[unit] ?? "B"}`;
}

export function amountText(resource: UiResource, value: number): string {
  return resource === "memory" ? byteSize(value) : plainNumber(value);
}

/** With its unit, where it stands alone: "4 CPU", "8 GiB", "1 GPU". */
export function amountWithUnit(resource: UiResource, value: number): string {
  return resource === "memory" ? byteSize(value) : `${plainNumber(value)} ${RESOURCE_TITLES[resource]}`;
}

/** All that is more than nothing: "4 CPU · 8 GiB · 1 GPU". */
export function amountsText(amounts: UiAmounts): string {
  const parts = RESOURCES.filter((resource) => amounts[resource] > 0).map((resource) =>
    amountWithUnit(resource, amounts[resource]),
  );
  return parts.length === 0 ? "nothing" : parts.join(" · ");
}

/** Parts of a line that may break between them, never inside one. */
export function inParts(parts: readonly string[]): string {
  return parts
    .filter((part) => part !== "")
    .map((part) => part.replaceAll(" ", "\u00a0"))
    .join("\u00a0· ");
}

export function count(value: number, one: string, many = `${one}s`): string {
  return `${THOUSANDS.format(value)} ${value === 1 ? one : many}`;
}

export function percent(share: number): string {
  const value = share * 100;
  return `${(Math.abs(value) < 10 && value !== 0 ? ONE_DIGIT : THOUSANDS).format(value)} %`;
}
