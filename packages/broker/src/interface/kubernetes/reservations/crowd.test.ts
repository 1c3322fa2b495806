import type { Reservation } from "@resource-broker/contract/crd";
import { isLive } from "@resource-broker/domain";
import { expect, test } from "vitest";
import { RESERVATIONS } from "../objects/object-informers.ts";
import { NAMESPACE } from "../testing/environment.ts";
import { personsReservation } from "../testing/samples.ts";
import { reservationsHub } from "./testing/reservations-hub.ts";

/** Each asks for half a CPU: there is room for three quarters of them. */
const COUNT = process.env["LONG"] === undefined ? 48 : 1000;
const LENT_CPU = (COUNT * 3) / 8;
const providers = { paris: LENT_CPU / 2, berlin: LENT_CPU / 2 };
const hub = reservationsHub({ broker: { policy: { stalenessMs: 1e12 } }, providers });

async function settled(): Promise<readonly Reservation[] | undefined> {
  const objects: Reservation[] = [];
  await hub.env.client.list(RESERVATIONS, { namespace: NAMESPACE }, (object) => void objects.push(object));
  const isSettled = objects.every(({ status }) => status?.phase !== undefined);
  return isSettled && objects.length === COUNT ? objects : undefined;
}

test(`${COUNT} Reservations that come at once are all answered, and nothing is lent twice`, async () => {
  const names = Array.from({ length: COUNT }, (_, number) => `guest-${number}`);
  await Promise.all(names.map((name) => hub.create(personsReservation(name))));
  await hub.env.until("all of them are decided", () => Promise.resolve(undecided() === 0 || undefined));
  const objects = await hub.env.until("all of them are told", settled);

  const written = objects.filter(({ status }) => status?.phase === "Reserved");
  const { reservations, accounts } = hub.broker.engine.ledger;
  const reservation = [...reservations.values()].filter(({ phase }) => isLive(phase));
  expect(written.map(({ status }) => status?.reservationID ?? "").toSorted()).toEqual(
    reservation.map(({ id }) => id).toSorted(),
  );
  expect(reservation).toHaveLength((COUNT * 3) / 4);
  for (const [clusterId, cpu] of Object.entries(providers)) {
    const lent = reservation.filter(({ provider }) => provider === clusterId);
    expect(lent.reduce((sum, { granted }) => sum + granted.cpuMillis, 0)).toBe(cpu * 1000);
    expect(accounts.get(clusterId)).toMatchObject({
      available: { cpuMillis: 0 },
      overcommitted: { cpuMillis: 0 },
    });
  }
  const refused = objects.filter(({ status }) => status?.phase === "Failed");
  expect(refused.every(({ status }) => status?.reason === "NoCapacity")).toBe(true);
});

/** Told by the ledger, which costs less to look at than the objects. */
function undecided(): number {
  return (COUNT * 3) / 4 - hub.broker.engine.ledger.reservations.size;
}
