import { dirname } from "node:path";
import { type Clock, Fault, type Log } from "@resource-broker/base";
import { type CostDTO, formatDecimal } from "@resource-broker/contract";
import { type Reloads, readText, watchFolder } from "@resource-broker/runtime";
import { type CostReading, lastGoodPrices, type PriceSource, readCost } from "./price-source.ts";

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
  if (typeof content !== "object" || content === null || Array.isArray(content)) {
    return { ok: false, problem: "it must hold a JSON object with CPU and RAM" };
  }
  const sheet = new Map<string, unknown>(Object.entries(content));
  const code = given(sheet.get("currencyCode")) ?? given(currency);
  if (code === undefined) {
    return { ok: false, problem: "it names no currencyCode: add one, or give --price-currency" };
  }
  const spot = present({
    cpuCost: sheet.get("spotCPU"),
    memoryCost: sheet.get("spotRAM"),
    gpuCost: sheet.get("spotGPU"),
  });
  const reading = readCost(
    {
      ...present({
        cpuCost: sheet.get("CPU"),
        memoryCost: sheet.get("RAM"),
        gpuCost: sheet.get("GPU"),
        storageCost: sheet.get("storage"),
      }),
      ...(Object.keys(spot).length === 0 ? {} : { spot }),
      currency: code,
    },
    SHEET_NAMES,
  );
  return reading.ok && reading.cost !== undefined ? { ok: true, cost: perGb(reading.cost) } : reading;
}

function perGb(cost: CostDTO): CostDTO {
  const { memoryCost, storageCost, spot } = cost;
  return {
    ...cost,
    memoryCost: converted(memoryCost),
    ...(storageCost === undefined ? {} : { storageCost: converted(storageCost) }),
    ...(spot?.memoryCost === undefined ? {} : { spot: { ...spot, memoryCost: converted(spot.memoryCost) } }),
  };
}

function converted(pricePerGib: string): string {
  return formatDecimal(Number(pricePerGib) * GB_IN_GIB);
}

function present(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => given(value) !== undefined));
}

/** OpenCost writes unset fields as empty strings. */
function given(value: unknown): unknown {
  return value === "" || value === null ? undefined : value;
}

const SETTLE_MS = 200;
const POLL_MS = 10_000;
const MAX_LENGTH = 128 * 1024;

export interface SheetOptions {
  readonly path: string;
  /** For sheets without a currency; "" where the flag is not given. */
  readonly currency: string;
}

export interface SheetDeps {
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
  /** Reads are asynchronous; only the newest result counts, and none after the stop. */
  let generation = 0;

  const read = async (): Promise<CostReading> => {
    const content = await readText(path).catch((error: unknown) => unreadable(error));
    if (typeof content !== "string") return content;
    const parsed = parse(content);
    return parsed.ok ? readPriceSheet(parsed.content, currency) : parsed;
  };
  const reload = async (): Promise<void> => {
    const mine = ++generation;
    const reading = await read();
    if (mine === generation) prices.update(reading);
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
        onChange: () => void reload(),
      });
    },
    stop: () => {
      generation++;
      unwatch();
      return Promise.resolve();
    },
    current: prices.current,
    onChange: prices.onChange,
  };
}

type Parsed =
  | { readonly ok: true; readonly content: unknown }
  | { readonly ok: false; readonly problem: string };

function parse(text: string): Parsed {
  if (text.length > MAX_LENGTH) return { ok: false, problem: "it is larger than 128 KiB" };
  try {
    return { ok: true, content: JSON.parse(text) };
  } catch (error) {
    return { ok: false, problem: `it is not JSON: ${messageOf(error)}` };
  }
}

function unreadable(error: unknown): CostReading {
  return { ok: false, problem: `it cannot be read: ${messageOf(error)}` };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
