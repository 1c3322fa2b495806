import type { Command, Waiting } from "@resource-broker/domain";
import {
  actor,
  commandsFor,
  type LedgerAction,
  ledgerAction,
  type World,
} from "@resource-broker/domain/testing";
import fc from "fast-check";
import { admit, requestFor, reserveOrWait } from "./ledger-driver.ts";

/** Few names: a key is often used again, for what waits, has left the queue, or was granted. */
const waitAction = fc.record({
  do: fc.constant("wait" as const),
  clusterId: fc.constantFrom("rome", "paris", "berlin", "tokyo"),
  key: fc.constantFrom("k0", "k1", "w0", "w1", "w2"),
  cpu: fc.integer({ min: 1, max: 12 }),
  priority: fc.constantFrom(0, 0, 5),
  seconds: fc.integer({ min: 1, max: 200 }),
});
const admitAction = fc.record({ do: fc.constant("admit" as const) });
const leaveAction = fc.record({ do: fc.constant("leave" as const), pick: fc.nat({ max: 30 }) });

type QueueAction =
  typeof waitAction | typeof admitAction | typeof leaveAction extends fc.Arbitrary<infer T> ? T : never;

/** What may happen to a ledger with requests that wait. */
export const queueOrLedgerAction: fc.Arbitrary<LedgerAction | QueueAction> = fc.oneof(
  { weight: 10, arbitrary: ledgerAction },
  { weight: 4, arbitrary: waitAction },
  { weight: 4, arbitrary: admitAction },
  { weight: 1, arbitrary: leaveAction },
);

/** Turns actions into commands for this world; undefined where an action makes no sense there. */
export function commandsWithQueueFor(
  world: World,
): (action: LedgerAction | QueueAction) => Command | undefined {
  const commandFor = commandsFor(world);
  let admitted = 0;
  return (each) => {
    switch (each.do) {
      case "wait": {
        const { clusterId, key, cpu, priority, seconds } = each;
        const wanted = { ...requestFor(cpu, { priority }), forMs: seconds * 1000 };
        // Sometimes the other actions offer a reservation with its ID for adoption.
        const reservationId = `rsv-${clusterId}-adopted-${key.slice(1)}`;
        return { ...reserveOrWait(clusterId, key, wanted), reservationId };
      }
      case "admit":
        return admit(`dec-admit-${++admitted}`);
      case "leave": {
        const entry = picked(world, each.pick);
        return entry && { kind: "release", by: actor(entry.requester), id: entry.id };
      }
      default:
        return commandFor(each);
    }
  };
}

function picked({ ledger }: World, index: number): Waiting | undefined {
  const all = [...ledger.waiting.byId.values()];
  return all[index % Math.max(1, all.length)];
}
