import { dirname } from "node:path";
import { Fault } from "@resource-broker/contract";
import { type Clock, type Log, readText, type Reloads, watchFolder } from "@resource-broker/runtime";
import type { CostReading } from "./cost-reading.ts";
import { lastGoodPrices } from "./last-good-prices.ts";
import { readPriceSheet } from "./price-sheet.ts";
import type { PriceSource } from "./price-source.ts";

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
