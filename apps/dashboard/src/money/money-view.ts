import type { UiMoneyReport, UiSpend } from "@resource-broker/contract/dashboard";
import { count, percent } from "../format/amounts.ts";
import { digitsFor, moneyText } from "../format/money.ts";

export interface SpendView {
  readonly id: string;
  readonly spent: string;
  readonly saved: string;
  readonly reservations: string;
  /** Of the biggest, from 0 to 1. */
  readonly share: number;
}

export interface MoneyView {
  readonly spent: string;
  readonly saved: string;
  /** "12 % less than the mean price". */
  readonly savedNote: string;
  readonly unpriced: string | null;
  readonly byRequester: readonly SpendView[];
  readonly byProvider: readonly SpendView[];
  readonly isEmpty: boolean;
}

export function moneyView(report: UiMoneyReport): MoneyView {
  const { currency, spent, saved, unpriced } = report;
  const mean = spent + saved;
  return {
    spent: moneyText(spent, currency),
    saved: moneyText(saved, currency),
    savedNote: mean > 0 ? comparedToMean(saved / mean) : "nothing to compare yet",
    unpriced: unpriced === 0 ? null : `${count(unpriced, "reservation")} without a price not counted`,
    byRequester: spends(report.byRequester, currency),
    byProvider: spends(report.byProvider, currency),
    isEmpty: report.byRequester.length === 0 && report.byProvider.length === 0,
  };
}

function comparedToMean(share: number): string {
  if (Math.abs(share) < 0.0005) return "as much as at the mean price";
  return `${percent(Math.abs(share))} ${share > 0 ? "less" : "more"} than at the mean price`;
}

function spends(rows: readonly UiSpend[], currency: string): SpendView[] {
  const biggest = Math.max(0, ...rows.map(({ spent }) => spent));
  const digits = digitsFor(biggest);
  return rows.map(({ id, spent, saved, reservations }) => ({
    id,
    spent: moneyText(spent, currency, digits),
    saved: moneyText(saved, currency, digits),
    reservations: count(reservations, "reservation"),
    share: biggest === 0 ? 0 : spent / biggest,
  }));
}
