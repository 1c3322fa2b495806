import type { CommitBatch } from "@resource-broker/broker";
import type { LedgerEvent } from "@resource-broker/domain";
import { ADMIN } from "@resource-broker/domain/testing";
import { clusterOf, type LedgerDriver, requestFor, reserve } from "./ledger-driver.ts";

type SoftKind = "advertised" | "adoption-offered" | "adoption-withdrawn";

/** Every kind of event that must survive: a new one must find its day below. */
export const DURABLE_KINDS: Readonly<Record<Exclude<LedgerEvent["kind"], SoftKind>, true>> = {
  granted: true,
  refused: true,
  activated: true,
  renewed: true,
  acknowledged: true,
  ended: true,
  "key-closed": true,
  "key-reopened": true,
  cordoned: true,
  uncordoned: true,
  adopted: true,
  "adoption-window-set": true,
  retained: true,
  forgotten: true,
};

const DAY_MS = 24 * 60 * 60 * 1000;
const [ROME, PARIS] = [
  { clusterId: "rome", isAdmin: false },
  { clusterId: "paris", isAdmin: false },
];

/** A short history in which everything happens at least once. */
export const FULL_HISTORY: readonly ((driver: LedgerDriver) => CommitBatch | undefined)[] = [
  (driver) =>
    driver.batch(
      { kind: "advertise", advertisement: clusterOf("paris", 16) },
      reserve("rome", "kept", requestFor(2, { durationMs: DAY_MS })),
      reserve("rome", "released", requestFor(3)),
      reserve("rome", "in use", requestFor(1)),
      reserve("rome", "refused", requestFor(1000)),
    ),
  (driver) => {
    const { id } = reservationOf(driver, "kept");
    driver.now += 60_000;
    return driver.batch(
      { kind: "activate", by: ROME, id },
      { kind: "acknowledge", by: PARIS, id },
      { kind: "renew", by: ROME, id, durationMs: 30 * DAY_MS },
    );
  },
  (driver) => {
    const { id } = reservationOf(driver, "released");
    return driver.batch(
      { kind: "release", by: ROME, id },
      { kind: "refuse", by: PARIS, id: reservationOf(driver, "in use").id, why: "its node is gone" },
      { kind: "release-by-key", requester: "berlin", key: "never used" },
    );
  },
  (driver) =>
    driver.batch(
      { kind: "advertise", advertisement: clusterOf("tokyo", 8) },
      { kind: "cordon", by: ADMIN, clusterId: "paris", why: "new kernel" },
      { kind: "cordon", by: ADMIN, clusterId: "tokyo" },
    ),
  (driver) => driver.batch({ kind: "uncordon", by: ADMIN, clusterId: "paris" }),
  (driver) => {
    const offer = {
      id: "rsv-berlin-adopted",
      requester: "berlin",
      provider: "tokyo",
      granted: requestFor(1).resources,
      phase: "Active" as const,
      generation: 4,
      createdAt: driver.now - DAY_MS,
      key: "from before",
    };
    return driver.batch(
      { kind: "open-adoption", by: ADMIN, durationMs: DAY_MS },
      { kind: "adopt", by: ADMIN, offer },
    );
  },
  (driver) => {
    // Its pods still run at paris: it must be remembered longer than the others.
    const { id, granted } = reservationOf(driver, "in use");
    const usage = [{ reservationId: id, granted, used: granted }];
    driver.now += DAY_MS + 60_000;
    return driver.batch(
      { kind: "advertise", advertisement: clusterOf("paris", 16, { usage }) },
      { kind: "expire-due" },
    );
  },
];

function reservationOf(driver: LedgerDriver, key: string) {
  const found = [...driver.ledger.reservations.values()].find((reservation) => reservation.key === key);
  if (found === undefined) throw new Error(`no reservation was made with key ${key}`);
  return found;
}
