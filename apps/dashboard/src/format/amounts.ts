import {
  type AmountFields,
  amountForm,
  type KnownName,
  type KnownResource,
  lookup,
  parseAmount,
  perKnownResource,
  RESOURCES,
  resourceTitle,
} from "@resource-broker/base";

/** Cores, bytes or pieces of each known resource; absent: none. */
export type Amounts = Readonly<Partial<Record<KnownName, number>>>;

/** Every known resource, in the order in which they are shown. */
export const NAMES: readonly KnownName[] = RESOURCES.map(({ name }) => name);

/** Those with a column of their own in every table. */
export const MAIN_NAMES = RESOURCES.filter(({ isWide }) => !isWide).map(({ name }) => name);

/** Those with a column, and others of which there is some. */
export function namesIn(...all: readonly Amounts[]): readonly KnownName[] {
  return NAMES.filter((name) => MAIN_NAMES.includes(name) || all.some((amounts) => (amounts[name] ?? 0) > 0));
}

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

export function amountText(name: string, value: number): string {
  return amountForm(name).isBytes ? byteSize(value) : plainNumber(value);
}

/** With its unit, where it stands alone: "4 CPU", "8 GiB", "1 GPU", "64 MiB HugePages-2Mi". */
export function amountWithUnit(name: string, value: number): string {
  // Bytes without a name are memory, as everywhere.
  return name === "memory" ? byteSize(value) : `${amountText(name, value)} ${resourceTitle(name)}`;
}

/** All that is more than nothing: "4 CPU · 8 GiB · 1 GPU". */
export function amountsText(amounts: Amounts): string {
  const parts = NAMES.filter((name) => (amounts[name] ?? 0) > 0);
  return parts.map((name) => amountWithUnit(name, amounts[name] ?? 0)).join(" · ") || "nothing";
}

/** A Kubernetes quantity in cores, bytes or pieces; NaN where it cannot be read. */
export function quantityValue(name: string, quantity: string): number {
  const { unit } = amountForm(name);
  const parsed = parseAmount(quantity, { unit, rounding: "up" });
  return parsed.ok ? parsed.amount / (unit === "milli" ? 1000 : 1) : Number.NaN;
}

/** A Kubernetes quantity as people read it: "126400m" → "126.4 CPU". What cannot be read stays as it is. */
export function quantityText(name: string, quantity: string): string {
  const value = quantityValue(name, quantity);
  return Number.isNaN(value) ? quantity : amountWithUnit(name, value);
}

/** Kubernetes quantities for people: "3.5 CPU · 8 GiB · 1 GPU". */
export function quantitiesText({ extended = {}, ...fields }: AmountFields<string>): string {
  const stated = [...Object.entries<string>(fields), ...Object.entries(extended)];
  const some = stated.filter(([name, quantity]) => quantity !== "0" || name === "cpu" || name === "memory");
  return inParts(some.map(([name, quantity]) => quantityText(name, quantity)));
}

/** Nothing where nothing is said. */
export function amountsOf(quantities: AmountFields<string> = {}): Readonly<Record<KnownName, number>> {
  const { extended = {}, ...fields } = quantities;
  const stated = ({ name }: KnownResource): string =>
    lookup<string>(fields, name) ?? lookup(extended, name) ?? "0";
  return perKnownResource((resource) => quantityValue(resource.name, stated(resource)));
}

/** Parts of a line that may break between them, never inside one. */
export function inParts(parts: readonly string[]): string {
  return parts
    .filter((part) => part !== "")
    .map((part) => part.replaceAll(" ", "\u00a0"))
    .join("\u00a0· ");
}

/** "1 reservation", "1,042 reservations". */
export function count(value: number, one: string): string {
  return `${THOUSANDS.format(value)} ${one}${value === 1 ? "" : "s"}`;
}

export function percent(share: number): string {
  const value = share * 100;
  return `${(Math.abs(value) < 10 && value !== 0 ? ONE_DIGIT : THOUSANDS).format(value)} %`;
}
