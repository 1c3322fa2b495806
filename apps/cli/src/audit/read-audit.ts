import {
  type AuditEntryDTO,
  type AuditPageDTO,
  auditPageSchema,
  LIMIT,
  PATH,
} from "@resource-broker/contract";
import type { Answer, Broker } from "../connection/broker.ts";
import { checkEnds } from "../connection/check-ends.ts";

export interface AuditLines {
  readonly items: readonly AuditEntryDTO[];
  /** The broker's time. */
  readonly at: number;
}

/** Page by page, from the line behind `after` to the last. */
export async function* auditPages(broker: Broker, after: number): AsyncGenerator<AuditLines> {
  let from = after;
  for (;;) {
    const { value, at } = await readPage(broker, from, LIMIT.pageMax);
    yield { items: value.items, at };
    const last = value.items.at(-1);
    if (value.next === undefined || last === undefined) return;
    checkEnds(value.items.length, last.sequence > from);
    from = last.sequence;
  }
}

/** The number of the last line, 0 without any: found by halving, because the log can only be read forward. */
export async function lastSequence(broker: Broker): Promise<number> {
  const { value } = await readPage(broker, 0, 1);
  const [first] = value.items;
  if (first === undefined) return 0;
  let there = first.sequence;
  let step = 1;
  while (await hasLineAfter(broker, there + step - 1)) {
    there += step;
    step *= 2;
  }
  // The last line is one of `there` … `there + step - 1`.
  for (step = Math.floor(step / 2); step >= 1; step = Math.floor(step / 2)) {
    if (await hasLineAfter(broker, there + step - 1)) there += step;
  }
  return there;
}

async function hasLineAfter(broker: Broker, sequence: number): Promise<boolean> {
  const { value } = await readPage(broker, sequence, 1);
  return value.items.length > 0;
}

function readPage(broker: Broker, after: number, limit: number): Promise<Answer<AuditPageDTO>> {
  const query = new URLSearchParams({ limit: String(limit), after: String(after) });
  return broker.request({ method: "GET", path: `${PATH.audit}?${query.toString()}` }, auditPageSchema);
}
