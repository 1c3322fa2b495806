import { dirname } from "node:path";
import { type Clock, errorText, Fault, FIELD_RESOURCES, isRecord, type Log } from "@resource-broker/base";
import { type CostDTO, formatDecimal } from "@resource-broker/contract";
import { type Reloads, readText, watchFolder } from "@resource-broker/runtime";
import { type CostReading, lastGoodPrices, type Parsed, type PriceSource, readCost } from "./price-source.ts";

/** OpenCost's prices of memory and storage are for GiB; ours are for GB. */
const GB_IN_GIB = 1e9 / 2 ** 30;

/** OpenCost's field names; its other fields are ignored. */
const SHEET_NAMES = {
  cpuCost: "CPU",
  memoryCost: "RAM",
  gpuCost: "GPU",
  storageCost: "storage",
  currency: "currencyCode",
  "spot.cpuCost": "spotCPU",
  "spot.memoryCost": "spotRAM",
  "spot.gpuCost": "spotGPU",
} as const;

/** Reads the JSON of OpenCost's custom prices. `currency` counts where the sheet names none. */
export function readPriceSheet(content: unknown, currency: string): CostReading {
  if (!isRecord(content)) {
    return { ok: false, problem: "it must hold a JSON object with CPU and RAM" };
  }
  const sheet = new Map<string, unknown>(Object.entries(content));
  const code = given(sheet.get("currencyCode")) ?? given(currency);
  if (code === undefined) {
    return { ok: false, problem: "it names no currencyCode: add one, or give --price-currency" };
  }
  const prices = pricesIn(sheet, "");
  const spot = pricesIn(sheet, "spot.");
  const tiers = Object.keys(spot).length === 0 ? prices : { ...prices, spot };
  const reading = readCost({ ...tiers, currency: code }, SHEET_NAMES);
  return reading.ok && reading.cost !== undefined ? { ok: true, cost: perGb(reading.cost) } : reading;
}

/** The prices of a tier; `prefix` leads to them in the CostDTO. */
function pricesIn(sheet: ReadonlyMap<string, unknown>, prefix: "" | "spot."): Record<string, unknown> {
  const names = new Map<string, string>(Object.entries(SHEET_NAMES));
  const fields = FIELD_RESOURCES.flatMap(({ costField }) => {
    const price = given(sheet.get(names.get(`${prefix}${costField}`) ?? ""));
    return price === undefined ? [] : [[costField, price] as const];
  });
  return Object.fromEntries(fields);
}

function perGb(cost: CostDTO): CostDTO {
  return {
    ...cost,
    ...convertedIn(cost),
    ...(cost.spot && { spot: { ...cost.spot, ...convertedIn(cost.spot) } }),
  };
}

/** The prices of what is measured in bytes, for GB. */
function convertedIn(prices: NonNullable<CostDTO["spot"]>): NonNullable<CostDTO["spot"]> {
  const bytes = FIELD_RESOURCES.filter(({ form }) => form.isBytes);
  const stated = bytes.flatMap(({ costField }) => {
    const price = prices[costField];
    return price === undefined ? [] : [[costField, converted(price)] as const];
  });
  return Object.fromEntries(stated);
}

function converted(pricePerGib: string): string {
  return formatDecimal(Number(pricePerGib) * GB_IN_GIB);
}

/** OpenCost writes unset fields as empty strings. */
function given(value: unknown): unknown {
  return value === "" || value === null ? undefined : value;
}

const SETTLE_MS = 200;
const POLL_MS = 10_000;
const MAX_LENGTH = 128 * 1024;

interface SheetOptions {
  readonly path: string;
  /** For sheets without a currency; "" where the flag is not given. */
  readonly currency: string;
}

interface SheetDeps {
  readonly clock: Pick<Clock, "after">;
  readonly log: Log;
  readonly reloads?: Pick<Reloads, "source">;
}

/** Prices from a file: it must be valid at start; later an invalid file changes nothing. */
export function sheetPrices(
  { path, currency }: SheetOptions,
  { clock, log, reloads }: SheetDeps,
): PriceSource {
  const prices = lastGoodPrices(path, { log, report: reloads?.source("prices") });
  let unwatch = (): void => undefined;

  const read = async (): Promise<CostReading> => {
    const content = await readText(path).catch(unreadable);
    if (typeof content !== "string") return content;
    const parsed = parse(content);
    return parsed.ok ? readPriceSheet(parsed.content, currency) : parsed;
  };

  return {
    start: async () => {
      const reading = await read();
      if (!reading.ok) throw new Fault("invalid", `--price-sheet ${path}: ${reading.problem}`);
      prices.update(reading);
      unwatch = watchFolder({
        folder: dirname(path),
        clock,
        debounceMs: SETTLE_MS,
        pollMs: POLL_MS,
        onChange: () => void prices.updateWhenRead(read()),
      });
    },
    stop: () => {
      prices.ignoreReadings();
      unwatch();
      return Promise.resolve();
    },
    current: prices.current,
    onChange: prices.onChange,
  };
}

function parse(text: string): Parsed {
  if (text.length > MAX_LENGTH) return { ok: false, problem: "it is larger than 128 KiB" };
  try {
    return { ok: true, content: JSON.parse(text) };
  } catch (error) {
    return { ok: false, problem: `it is not JSON: ${errorText(error)}` };
  }
}

function unreadable(error: unknown): CostReading {
  return { ok: false, problem: `it cannot be read: ${errorText(error)}` };
}
