import { perResource } from "@resource-broker/base";
import type { CostModel, PriceWindow, ReservationCost, UnitPrices } from "@resource-broker/domain";
import type { CostDTO, ReservationCostDTO } from "../wire/cost.ts";
import { mapValues, present } from "./present.ts";

const MAX_DECIMAL = 999_999_999_999;
const SIGNIFICANT_DIGITS = 12;

/** Prices are only compared, so floating-point numbers are sufficient. */
export function toCostModel(dto: CostDTO): CostModel {
  return present({
    currency: dto.currency,
    onDemand: toUnitPrices(dto),
    spot: dto.spot && toUnitPrices(dto.spot),
    windows: dto.windows?.map(toWindow),
  });
}

export function fromCostModel(model: CostModel): CostDTO {
  return present({
    ...fromUnitPrices(model.onDemand),
    // A model made from a DTO always has these two.
    cpuCost: formatDecimal(model.onDemand.cpuHour ?? 0),
    memoryCost: formatDecimal(model.onDemand.memoryGbHour ?? 0),
    currency: model.currency,
    spot: model.spot && fromUnitPrices(model.spot),
    windows: model.windows?.map(fromWindow),
  });
}

export function fromReservationCost({ perHour, total, currency }: ReservationCost): ReservationCostDTO {
  return present({ perHour: formatDecimal(perHour), total: decimalOf(total), currency });
}

/** A price as a decimal string without binary rounding errors: 0.336, not 0.33599999999999997. */
export function formatDecimal(amount: number): string {
  const bounded = Math.min(Math.max(amount, 0), MAX_DECIMAL);
  const precise = bounded.toPrecision(SIGNIFICANT_DIGITS);
  const decimals = precise.split(".")[1]?.length ?? 0;
  const text =
    precise.includes("e") || decimals > SIGNIFICANT_DIGITS ? bounded.toFixed(SIGNIFICANT_DIGITS) : precise;
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

type UnitPricesDTO = NonNullable<CostDTO["spot"]>;

function toUnitPrices(dto: UnitPricesDTO): UnitPrices {
  const { extendedCost } = dto;
  return present({
    ...perResource("priceSlot", ({ costField }) => numberOf(dto[costField])),
    extendedHour: extendedCost && mapValues(extendedCost, (price) => Number(price)),
  });
}

function fromUnitPrices(prices: UnitPrices): UnitPricesDTO {
  const { extendedHour } = prices;
  return present({
    ...perResource("costField", ({ priceSlot }) => decimalOf(prices[priceSlot])),
    extendedCost: extendedHour && mapValues(extendedHour, (price) => formatDecimal(price)),
  });
}

function numberOf(decimal: string | undefined): number | undefined {
  return decimal === undefined ? undefined : Number(decimal);
}

function decimalOf(amount: number | undefined): string | undefined {
  return amount === undefined ? undefined : formatDecimal(amount);
}

function toWindow({ from, to, ...window }: NonNullable<CostDTO["windows"]>[number]): PriceWindow {
  return { ...window, fromMinute: toMinute(from), toMinute: toMinute(to) };
}

function fromWindow({ fromMinute, toMinute: endMinute, ...window }: PriceWindow) {
  return { ...window, from: toTimeOfDay(fromMinute), to: toTimeOfDay(endMinute) };
}

function toMinute(timeOfDay: string): number {
  return Number(timeOfDay.slice(0, 2)) * 60 + Number(timeOfDay.slice(3));
}

function toTimeOfDay(minute: number): string {
  const pad = (part: number): string => String(part).padStart(2, "0");
  return `${pad(Math.floor(minute / 60))}:${pad(minute % 60)}`;
}
