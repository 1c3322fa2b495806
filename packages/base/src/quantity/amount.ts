import { fastAmount, NOT_FAST } from "./fast-amount.ts";
import { parseQuantity, type Quantity } from "./quantity.ts";
import { quoted } from "./quantity-problem.ts";

export interface AmountOptions {
  /** What one unit of the ledger is: a thousandth (CPU) or a whole one (bytes, counts). */
  readonly unit: "milli" | "one";
  /** `up` is away from zero, as Kubernetes rounds; `down` is toward zero. */
  readonly rounding: "up" | "down";
}

export type AmountResult =
  | { readonly ok: true; readonly amount: number }
  | { readonly ok: false; readonly problem: string };

const MAX_AMOUNT = BigInt(Number.MAX_SAFE_INTEGER);

/** A quantity as the ledger counts: a safe integer, so that sums of plain Numbers stay exact. */
export function parseAmount(text: string, options: AmountOptions): AmountResult {
  const amount = fastAmount(text, scaleOf(options.unit), options.rounding === "up");
  return amount === NOT_FAST ? parseExactAmount(text, options) : { ok: true, amount };
}

/** The same result without the fast path; exported for the test that compares both. */
export function parseExactAmount(text: string, options: AmountOptions): AmountResult {
  const parsed = parseQuantity(text);
  if (!parsed.ok) return parsed;
  const amount = wholeUnits(parsed.quantity, options);
  if (amount > MAX_AMOUNT || amount < -MAX_AMOUNT) {
    const largest = `${MAX_AMOUNT}${options.unit === "milli" ? "m" : ""}`;
    return {
      ok: false,
      problem: `${quoted(text)} is too large: the most that can be counted is "${largest}".`,
    };
  }
  return { ok: true, amount: Number(amount) };
}

function scaleOf(unit: AmountOptions["unit"]): number {
  return unit === "milli" ? 3 : 0;
}

function wholeUnits({ digits, scale }: Quantity, { unit, rounding }: AmountOptions): bigint {
  const power = scaleOf(unit) - scale;
  if (power >= 0) return digits * 10n ** BigInt(power);
  const divisor = 10n ** BigInt(-power);
  const towardZero = digits / divisor;
  if (rounding === "down" || digits % divisor === 0n) return towardZero;
  return digits < 0n ? towardZero - 1n : towardZero + 1n;
}
