import {
  amountForm,
  amountOf,
  describeAmount,
  describeResources,
  type KnownResource,
  parseAmount,
  parseTime,
  RESOURCES,
  type ResourceName,
  type ResourceVector,
  vectorFrom,
} from "@resource-broker/base";
import type { ReservationCostDTO, SomeQuantitiesDTO } from "@resource-broker/contract";
import type { Column } from "./print.ts";

const UNITS = [
  { name: "day", ms: 86_400_000, from: 2 },
  { name: "hour", ms: 3_600_000, from: 2 },
  { name: "minute", ms: 60_000, from: 1 },
  { name: "second", ms: 1000, from: 0 },
] as const;

/** `12s`, `90s`, `4m`, `36h`, `5d`: short enough for a column; two of a unit before the next is used. */
export function age(ms: number): string {
  const unit = UNITS.find(({ ms: size }) => ms >= 2 * size) ?? UNITS[3];
  return `${Math.max(0, Math.floor(ms / unit.ms))}${unit.name.charAt(0)}`;
}

/** `2027-11-15 (in 365 days)`: a date a person can place without counting. */
export function when(instant: number, now: number): string {
  return `${new Date(instant).toISOString().slice(0, 10)} (${distance(instant, now)})`;
}

/** `in 23 days`, `3 hours ago`; whole units, to the nearest. */
export function distance(instant: number, now: number): string {
  const ms = Math.abs(instant - now);
  if (ms < 1000) return "just now";
  const unit = UNITS.find(({ ms: size, from }) => ms >= size * from) ?? UNITS[3];
  const count = Math.round(ms / unit.ms);
  const text = `${count} ${unit.name}${count === 1 ? "" : "s"}`;
  return instant >= now ? `in ${text}` : `${text} ago`;
}

const SHOWN_DIGITS = 4;

/** `0.2109 EUR/h`, or a dash where there is no price. */
export function perHour(price: string | undefined, currency: string | undefined): string {
  return price === undefined || currency === undefined ? "-" : `${shortened(price)} ${currency}/h`;
}

/** `0.2109 EUR/h, 0.4219 EUR in all`. */
export function costText(cost: ReservationCostDTO | undefined): string {
  if (cost === undefined) return "none, the provider is not priced";
  const { total, currency } = cost;
  return `${perHour(cost.perHour, currency)}${total === undefined ? "" : `, ${shortened(total)} ${currency} in all`}`;
}

/** The digits that matter to a person; -o json has them all. */
function shortened(price: string): string {
  const value = Number(price);
  return value >= 10 ** SHOWN_DIGITS ? value.toFixed(0) : String(Number(value.toPrecision(SHOWN_DIGITS)));
}

/** What a peer wrote, as numbers. An amount that cannot be read was refused before it came here. */
export function amountsIn(quantities: SomeQuantitiesDTO): ResourceVector {
  return vectorFrom(quantities, (text, name) => {
    const parsed = parseAmount(text, { unit: amountForm(name).unit, rounding: "down" });
    return parsed.ok ? parsed.amount : 0;
  });
}

/** `4 CPU / 8Gi Memory`. */
export function described(quantities: SomeQuantitiesDTO): string {
  return describeResources(amountsIn(quantities));
}

const KNOWN: readonly KnownResource[] = RESOURCES;

/** A column for each known resource that only wide tables show. */
export function wideAmounts<Item>(amount: (item: Item, name: ResourceName) => string): Column<Item>[] {
  return KNOWN.filter(({ isWide }) => isWide).map(({ name, title }) => ({
    title: title.toUpperCase(),
    value: (item) => amount(item, name),
  }));
}

interface Capacity {
  readonly available: SomeQuantitiesDTO;
  readonly allocatable: SomeQuantitiesDTO;
}

/** `15/16`, `62Gi/64Gi`: what is left of how much. */
export function leftIn({ available, allocatable }: Capacity, name: ResourceName): string {
  const [left, all] = [amountOf(amountsIn(available), name), amountOf(amountsIn(allocatable), name)];
  return all === 0 && left === 0 ? "-" : `${shortAmount(name, left)}/${shortAmount(name, all)}`;
}

/** `4, 8Gi, 1 GPU`: for a column beside those of CPU and memory. */
export function listed(vector: ResourceVector): string {
  const { cpuMillis, memoryBytes, gpus } = vector;
  if (cpuMillis === 0 && memoryBytes === 0 && gpus === 0) return "-";
  const main = `${shortAmount("cpu", cpuMillis)}, ${shortAmount("memory", memoryBytes)}`;
  return gpus === 0 ? main : `${main}, ${gpus} GPU`;
}

/** `4`, `8Gi`; nothing is a dash. */
export function one(name: ResourceName, quantities: SomeQuantitiesDTO): string {
  const value = amountOf(amountsIn(quantities), name);
  return value === 0 ? "-" : shortAmount(name, value);
}

/** `4`, `8Gi`, `0`: an amount without its name. */
export function shortAmount(name: ResourceName, value: number): string {
  return value === 0 ? "0" : (describeAmount(name, value).split(" ")[0] ?? "");
}

/** `0.05 EUR/CPU-h`: the price of one unit for one hour. */
export function unitPrice(
  price: string | undefined,
  cost: { readonly currency: string } | undefined,
  unit: string,
): string {
  return price === undefined || cost === undefined ? "-" : `${price} ${cost.currency}/${unit}`;
}

/** `4m`, or a dash for an unknown time. */
export function agoOf(time: string | undefined, now: number): string {
  const at = time === undefined ? undefined : parseTime(time);
  return at === undefined ? "-" : age(now - at);
}

/** Lines under a title, set in a little; nothing when there are none. */
export function titled(title: string, text: string): string {
  return text === "" ? "" : `${title}:\n${text.trimEnd().replaceAll(/^(?=.)/gmu, "  ")}\n`;
}
