import { formatTime } from "@resource-broker/base";
import { expect, test } from "vitest";
import { aReservation } from "../testing/samples.ts";
import { type BrokerView, type Expiry, expiryOf, GRACE_MS } from "./expiry.ts";
import type { CachedReservation } from "./reservation-cache.ts";

const NOW = Date.parse("2026-07-01T10:00:00Z");
const LATER: Expiry = { kind: "later", inMs: GRACE_MS };
const OVER: Expiry = { kind: "over" };

function entry(
  inMs: number | undefined,
  syncState: CachedReservation["syncState"] = "confirmed",
): CachedReservation {
  const expiresAt = inMs === undefined ? {} : { expiresAt: formatTime(NOW + inMs) };
  const reservation = aReservation({ status: { phase: "Active", message: "", ...expiresAt } });
  return { role: "provider", reservation, syncState, endedAt: undefined };
}

function ofOlder(inMs: number): CachedReservation {
  const { generation: _, ...reservation } = entry(inMs).reservation;
  return { ...entry(inMs), reservation };
}

const received: BrokerView = { now: NOW, isSilent: false };
const silent: BrokerView = { now: NOW, isSilent: true };
const older: BrokerView = { now: NOW, isSilent: false, isOlder: true };
const never: BrokerView = { now: undefined, isSilent: true };

test.each<[string, CachedReservation, BrokerView, Expiry]>([
  ["without an end lasts", entry(undefined), silent, { kind: "none" }],
  ["whose time comes is looked at after it", entry(5000), received, { kind: "later", inMs: 5000 + GRACE_MS }],
  [
    "of many weeks is looked at in between: no timer is that long",
    entry(1e10),
    received,
    { kind: "later", inMs: 3_600_000 },
  ],
  ["whose time is over waits for the broker's word", entry(-GRACE_MS), received, LATER],
  ["whose time is over ends if the broker is silent", entry(-GRACE_MS), silent, OVER],
  ["whose time is just over does not end yet", entry(1 - GRACE_MS), silent, { kind: "later", inMs: 1 }],
  ["whose time is over ends if the broker does not know it", entry(-GRACE_MS, "unknown"), received, OVER],
  ["that is only remembered waits for the broker's word", entry(-GRACE_MS, "unconfirmed"), received, LATER],
  ["that an older broker granted ends at its time: it renews nothing", ofOlder(0), older, OVER],
  [
    "that an older broker granted is looked at when its time comes",
    ofOlder(5000),
    older,
    { kind: "later", inMs: 5000 },
  ],
  ["that an older broker granted waits for the word of a newer one", ofOlder(-GRACE_MS), received, LATER],
  ["that a newer broker granted waits though an older one answers", entry(-GRACE_MS), older, LATER],
  ["never ends by this machine's clock alone", entry(-1e9), never, LATER],
])("a reservation %s", (_, held, view, expected) => {
  expect(expiryOf(held, view)).toEqual(expected);
});
