import type { CommitBatch } from "@resource-broker/broker";
import type { LedgerEvent } from "@resource-broker/domain";
import { ADMIN, accept, bind, enroll, evict, invite, priced } from "@resource-broker/domain/testing";
import { admit, clusterOf, type LedgerDriver, requestFor, reserve, reserveOrWait } from "./ledger-driver.ts";

type SoftKind = "advertised" | "adoption-offered" | "adoption-withdrawn" | "settled";

/** Every kind of event that must survive: a new one must find its day below. */
export const DURABLE_KINDS: Readonly<Record<Exclude<LedgerEvent["kind"], SoftKind>, true>> = {
  granted: true,
  refused: true,
  queued: true,
  unqueued: true,
  nominated: true,
  "nomination-lapsed": true,
  "day-closed": true,
  preempting: true,
  reprieved: true,
  resumed: true,
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
  "member-invited": true,
  "member-enrolled": true,
  "member-accepted": true,
  "member-bound": true,
  "member-evicted": true,
  retained: true,
  forgotten: true,
};

const MINUTE_MS = 60 * 1000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const [ROME, PARIS, MADRID] = [
  { clusterId: "rome", isAdmin: false },
  { clusterId: "paris", isAdmin: false },
  { clusterId: "madrid", isAdmin: false },
];

/** A short history in which everything happens at least once. */
export const FULL_HISTORY: readonly ((driver: LedgerDriver) => CommitBatch | undefined)[] = [
  (driver) =>
    driver.batch(
      { kind: "advertise", advertisement: clusterOf("paris", 16, { cost: priced(0.04) }) },
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
  (driver) =>
    driver.batch(
      reserve("madrid", "fills", requestFor(13)),
      waits("madrid", "waits", 4),
      waits("madrid", "leaves", 4),
      waits("lima", "in vain", 1000),
      waits("rome", "until evicted", 1000),
    ),
  (driver) =>
    driver.batch(
      { kind: "release", by: MADRID, id: waitingOf(driver, "leaves").id },
      { kind: "release", by: MADRID, id: reservationOf(driver, "fills").id },
      // It waits only for those before it, and is granted in the same millisecond.
      waits("lima", "soon", 1),
      admit("dec-first"),
      admit("dec-second"),
      admit("dec-none"),
    ),
  (driver) => {
    driver.now += 2 * HOUR_MS;
    return driver.batch({ kind: "expire-due" });
  },
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
    const batch = driver.batch(invite({ clusterId: "oslo", needsConfirmation: true }), bind("B", "berlin"));
    driver.now += 60_000;
    return batch;
  },
  (driver) => driver.batch(enroll({ clusterId: "oslo" }), evict("rome", "its machines were sold")),
  (driver) =>
    driver.batch(accept("A", "oslo"), invite({ tokenId: "token00002" }), enroll({ tokenId: "token00002" })),
  (driver) => driver.batch(evict("berlin"), invite({ clusterId: "berlin", tokenId: "token00003" })),
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
  (driver) => {
    // The first days that were charged are forgotten.
    driver.now += 41 * DAY_MS;
    return driver.batch({ kind: "expire-due" });
  },
  (driver) =>
    driver.batch(
      { kind: "advertise", advertisement: clusterOf("quito", 500) },
      { kind: "advertise", advertisement: clusterOf("sucre", 2000) },
      reserve("lima", "part of quito", requestFor(200, { target: "quito" })),
      reserve("lima", "most of sucre", requestFor(1900, { target: "sucre" })),
      waits("lima", "nominated", 400),
      admit("dec-look-1"),
      admit("dec-look-2"),
    ),
  (driver) => driver.batch({ kind: "cordon", by: ADMIN, clusterId: "quito" }, admit("dec-look-3")),
  (driver) => {
    const batch = driver.batch(
      { kind: "advertise", advertisement: clusterOf("hamburg", 300) },
      { kind: "advertise", advertisement: clusterOf("osaka", 0, { protocol: 3 }) },
      admit("dec-look-4"),
      admit("dec-look-5"),
      reserve("osaka", "gives way", requestFor(300, { target: "hamburg", tier: "spot" })),
    );
    driver.now += 11 * MINUTE_MS;
    return batch;
  },
  (driver) =>
    driver.batch(waits("lima", "gives notice", 300), admit("dec-notice"), () => ({
      kind: "release",
      by: ADMIN,
      id: waitingOf(driver, "gives notice").id,
    })),
  (driver) => driver.batch(waits("lima", "preempts", 300), admit("dec-notice-2")),
  (driver) => {
    driver.now += 5 * MINUTE_MS;
    return driver.batch(
      { kind: "advertise", advertisement: clusterOf("hamburg", 300) },
      { kind: "expire-due" },
      admit("dec-preempts"),
      () => ({
        ...waits("osaka", "resumes", 1000),
        resumes: reservationOf(driver, "gives way").id,
      }),
    );
  },
  (driver) => {
    const part = (key: string) => reserve("osaka", key, requestFor(4, { target: "malmo" }));
    return driver.batch(
      { kind: "advertise", advertisement: clusterOf("malmo", 8) },
      admit("dec-look-6"),
      part("drained"),
      { kind: "drain", by: ADMIN, clusterId: "malmo", why: "new disks", graceMs: MINUTE_MS },
      { kind: "uncordon", by: ADMIN, clusterId: "malmo" },
      part("drained later"),
      { kind: "drain", by: ADMIN, clusterId: "malmo", graceMs: HOUR_MS },
    );
  },
  (driver) =>
    driver.batch(waits("lima", "still waits", 1000), waits("lima", "has left", 1000), () => ({
      kind: "release",
      by: ADMIN,
      id: waitingOf(driver, "has left").id,
    })),
];

/** Those of rome may wait for a day, the others for an hour. */
function waits(requester: string, key: string, cpu: number) {
  return reserveOrWait(requester, key, {
    ...requestFor(cpu),
    forMs: requester === "rome" ? DAY_MS : HOUR_MS,
  });
}

function waitingOf(driver: LedgerDriver, key: string) {
  const found = [...driver.ledger.waiting.byId.values()].find((entry) => entry.key === key);
  if (found === undefined) throw new Error(`no request waits with key ${key}`);
  return found;
}

function reservationOf(driver: LedgerDriver, key: string) {
  const found = [...driver.ledger.reservations.values()].find((reservation) => reservation.key === key);
  if (found === undefined) throw new Error(`no reservation was made with key ${key}`);
  return found;
}
