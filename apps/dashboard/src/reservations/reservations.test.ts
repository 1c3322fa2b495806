import type { ReservationDTO } from "@resource-broker/contract";
import { expect, test } from "vitest";
import { costText, endsAt, isLive, reasonText, timelineView, usageViews } from "./reservation-view.ts";

const AT = "2026-07-01T10:00:00.000Z";

const inPhase = (phase: ReservationDTO["status"]["phase"]): ReservationDTO => ({
  id: "rsv-rome-k3",
  requesterID: "rome",
  targetClusterID: "paris",
  requestedResources: { cpu: "4", memory: "8Gi" },
  status: { phase, message: "" },
  createdAt: AT,
});

test("only what is granted and has not ended is live", () => {
  const phases = ["Pending", "Reserved", "Active", "Released", "Failed"] as const;
  expect(phases.filter((phase) => isLive(inPhase(phase)))).toEqual(["Reserved", "Active"]);
});

test("reasons and prices read as people say them", () => {
  expect(reasonText("ReleasedByRequester")).toBe("Released by requester");
  expect(reasonText()).toBe("");
  expect(costText({ ...inPhase("Active"), cost: { perHour: "0.336", currency: "EUR" } })).toBe("€0.336");
  expect(costText(inPhase("Active"))).toBeNull();
});

test("a reservation ends by its notice, or when it expires, whichever comes first", () => {
  const [soon, late] = ["2026-07-01T10:05:00.000Z", "2026-07-01T11:00:00.000Z"] as const;
  const reservation = inPhase("Active");
  const expiring = (expiresAt: string) => ({ ...reservation, status: { ...reservation.status, expiresAt } });
  const notice = (at: string) => ({ preempting: { at, byPriority: 5 } });
  expect(endsAt(reservation)).toBeUndefined();
  expect(endsAt(expiring(late))).toBe(late);
  expect(endsAt({ ...expiring(late), ...notice(soon) })).toBe(soon);
  expect(endsAt({ ...expiring(soon), ...notice(late) })).toBe(soon);
  expect(endsAt({ ...reservation, ...notice(late) })).toBe(late);
});

const LATER = "2026-07-01T10:00:00.120Z";

test("a timeline shows what is done, what is waited for, and what is to come", () => {
  const timeline = [
    { step: "requested", at: AT, text: "asked" },
    { step: "reserved", at: AT, text: "locked" },
    { step: "told", at: LATER, text: "told" },
    { step: "enforced", text: "waits" },
    { step: "active", text: "waits" },
  ] as const;
  const steps = timelineView({ steps: timeline, reservation: inPhase("Reserved") });
  expect(steps.map(({ state }) => state)).toEqual(["done", "done", "done", "current", "waiting"]);
  expect(steps.map(({ since }) => since)).toEqual(["", "", "+120 ms", "", ""]);
});

test("what an ended reservation never reached is not waited for", () => {
  const timeline = [
    { step: "active", text: "never used" },
    { step: "end", at: LATER, text: "expired" },
  ] as const;
  expect(
    timelineView({ steps: timeline, reservation: inPhase("Released") }).map(({ state }) => state),
  ).toEqual(["skipped", "done"]);
});

test("use is reported against what was granted, also where it is more", () => {
  const granted = { cpu: 4, memory: 2 ** 33, "hugepages-2Mi": 2 ** 26 };
  expect(usageViews(granted).map(({ text }) => text)).toEqual([
    "4 held; use not reported",
    "8 GiB held; use not reported",
    "64 MiB held; use not reported",
  ]);
  const over = usageViews(granted, { cpu: 6, memory: 2 ** 32 });
  expect(over.map(({ share }) => share)).toEqual([1.5, 0.5, 0]);
  expect(over[0]?.text).toBe("6 of 4 used (150 %)");
});
