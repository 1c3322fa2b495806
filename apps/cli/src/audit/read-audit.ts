import { auditPages } from "@resource-broker/client";
import type { Broker } from "../connection/broker.ts";

/** The number of the last line, 0 without any: found by halving, because the log can only be read forward. */
export async function lastSequence(broker: Broker): Promise<number> {
  const { value } = await broker.request(auditPages(0, 1));
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
  const { value } = await broker.request(auditPages(sequence, 1));
  return value.items.length > 0;
}
