import { isDeepStrictEqual } from "node:util";
import { type LedgerEvent, type LedgerView, ledgerFrom } from "@resource-broker/domain";
import { comparableLedger, recordsOf } from "@resource-broker/domain/testing";

/** Undefined when a ledger that is built again from its records is the live one. */
export function differsWhenRebuilt(ledger: LedgerView, now: number): string | undefined {
  const rebuilt = ledgerFrom(recordsOf(ledger), now);
  return isDeepStrictEqual(comparableLedger(rebuilt), comparableLedger(ledger))
    ? undefined
    : "a rebuilt ledger is another one";
}

/** The reservation or waiting request that an event is about. */
export function subjectOf(event: LedgerEvent): string | undefined {
  if ("reservation" in event) return event.reservation.id;
  if (event.kind === "queued") return event.waiting.id;
  return "id" in event ? event.id : undefined;
}

export function requestIn(event: LedgerEvent): { readonly priority: number } | undefined {
  if (event.kind === "granted") return event.reservation.request;
  return event.kind === "refused" ? event.decision.request : undefined;
}

/** Under which name events are counted. */
export const COUNTED = {
  granted: "grants",
  refused: "refusals",
  ended: "ends",
  queued: "queued",
  preempting: "notices",
  reprieved: "reprieves",
  "member-enrolled": "joins",
  "member-evicted": "evictions",
} as const;

export function isCounted(kind: string): kind is keyof typeof COUNTED {
  return kind in COUNTED;
}
