import type { Reservation } from "@resource-broker/domain";
import { expect, test } from "vitest";
import type { AuditEntry, AuditQuery } from "../../../store/store.ts";
import { heldMoments } from "./acknowledgement-times.ts";

const NOON = Date.UTC(2026, 0, 5, 12);
const RESERVED = { id: "rsv-1", reservedAt: NOON, acknowledged: true } as Reservation;

function logOf(...actions: readonly string[]) {
  const entries = actions.map((action, at): AuditEntry => {
    const about = { by: "rome", action, subject: "rsv-1", detail: "", hash: "" };
    return { ...about, sequence: at + 1, commitNumber: at + 1, at: NOON + at };
  });
  const state = { reads: 0, isBroken: false };
  const readAudit = ({ after, limit }: AuditQuery): Promise<readonly AuditEntry[]> => {
    state.reads++;
    if (state.isBroken) return Promise.reject(new Error("gone"));
    return Promise.resolve(entries.filter(({ sequence }) => sequence > after).slice(0, limit));
  };
  const lines = { last: () => Promise.resolve(entries.length) };
  return { state, moments: heldMoments({ readAudit }, lines) };
}

test.each([
  { name: "that the log knows", actions: ["reserve", "acknowledge"], at: NOON + 1 },
  { name: "that the log has forgotten", actions: ["reserve", "renew"], at: undefined },
])("a moment $name is looked up once", async ({ actions, at }) => {
  const { state, moments } = logOf(...actions);
  expect(await moments.find(RESERVED)).toBe(at);
  const { reads } = state;
  expect(reads).toBeGreaterThan(0);
  expect(await moments.find(RESERVED)).toBe(at);
  expect(state.reads).toBe(reads);
});

test("a log that cannot be read is asked again", async () => {
  const { state, moments } = logOf("reserve", "acknowledge");
  state.isBroken = true;
  expect(await moments.find(RESERVED)).toBeUndefined();
  state.isBroken = false;
  expect(await moments.find(RESERVED)).toBe(NOON + 1);
});

test("with many moments the oldest is let go, and the newest is still known", async () => {
  const { state, moments } = logOf("reserve", "acknowledge");
  const [last, many] = [{ ...RESERVED, id: "rsv-10001" }, 10_001];
  for (let count = 1; count <= many; count++) {
    const event = { kind: "acknowledged", id: `rsv-${count}`, at: NOON + count } as const;
    moments.add({ number: count, at: NOON, events: [event] });
  }
  expect(await moments.find(last)).toBe(NOON + many);
  expect(await moments.find({ ...RESERVED, id: "rsv-2" })).toBe(NOON + 2);
  expect(state.reads).toBe(0);
  await moments.find(RESERVED);
  expect(state.reads).toBeGreaterThan(0);
});
