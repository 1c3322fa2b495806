import type { LedgerEvent, Reservation } from "@resource-broker/domain";
import { expect, test } from "vitest";
import type { Engine } from "../../engine/engine.ts";
import { ReservationIndex } from "./reservation-index.ts";

const between = (id: string, requester: string, provider: string): Reservation =>
  ({ id, requester, provider }) as Reservation;

test("what the ledger has forgotten is let go in time, and what it has stays with both its parties", () => {
  const reservations = new Map<string, Reservation>();
  const ledger = { reservations } as unknown as Engine["ledger"];
  const index = new ReservationIndex({ ledger });
  let number = 0;
  const commit = (...events: LedgerEvent[]): void => index.update({ number: ++number, at: 0, events });
  const grant = (reservation: Reservation): void => {
    reservations.set(reservation.id, reservation);
    commit({ kind: "granted", reservation } as LedgerEvent);
  };
  const forget = (id: string): void => {
    reservations.delete(id);
    commit({ kind: "forgotten", id } as LedgerEvent);
  };
  grant(between("kept", "rome", "paris"));
  for (let count = 0; count <= 1000; count++) grant(between(`old-${count}`, "rome", "berlin"));
  for (let count = 0; count <= 1000; count++) forget(`old-${count}`);
  expect([...index.idsOf("rome")]).toEqual(["kept"]);
  expect([...index.idsOf("paris")]).toEqual(["kept"]);
  expect([...index.idsOf("berlin")]).toEqual([]);
});
