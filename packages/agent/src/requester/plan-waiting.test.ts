import { describe, expect, test } from "vitest";
import type { QueuePlace, WaitingRequest } from "../reservations/reservation.ts";
import { aRequest, NOW, UID } from "../testing/samples.ts";
import { waitingStatus } from "./plan-waiting.ts";
import type { RequestStatus } from "./request-status.ts";

const OLD_PLACE: QueuePlace = { position: 2, of: 7, reason: "Capacity" };

function waitingOf(changes: Partial<WaitingRequest> = {}): WaitingRequest {
  return {
    id: "rsv-rome-first",
    requester: "rome",
    tenant: "rome",
    phase: "Pending",
    message: "Waits for 4 CPU / 8Gi Memory",
    createdAt: "2026-07-01T10:00:00Z",
    until: "2026-07-02T10:00:00Z",
    generation: 1,
    key: `${UID}-1`,
    ...changes,
  };
}

const statusAfter = (status: RequestStatus | undefined, waiting: WaitingRequest): RequestStatus =>
  waitingStatus({ request: aRequest(status === undefined ? {} : { status }), now: NOW }, waiting);

const queuedReason = ({ conditions = [] }: RequestStatus) =>
  conditions.find(({ type }) => type === "Queued")?.reason;

describe("the place that a status shows", () => {
  const before = statusAfter(undefined, waitingOf({ queue: OLD_PLACE, message: "position 2 of 7" }));

  test("stays while the broker states none, and while it does not matter that it changed", () => {
    for (const queue of [undefined, { ...OLD_PLACE, of: 8 }]) {
      const after = statusAfter(before, waitingOf(queue === undefined ? {} : { queue }));
      expect(after.queue).toEqual({ ...OLD_PLACE, place: "2/7" });
      expect(after.message).toBe("position 2 of 7");
    }
  });

  test("is never that of another attempt: the new one begins without a place", () => {
    const after = statusAfter(before, waitingOf({ id: "rsv-rome-second", key: `${UID}-2` }));
    expect(after).toMatchObject({ reservationName: "rsv-rome-second", attempts: 2 });
    expect(after.queue).toBeUndefined();
    expect(after.message).toBe("Waits for 4 CPU / 8Gi Memory");
    expect(queuedReason(after)).toBe("Waiting");
  });

  test("is written for another attempt, however near it is to the old one", () => {
    const queue: QueuePlace = { position: 3, of: 7, reason: "Capacity" };
    const second = waitingOf({ id: "rsv-rome-second", key: `${UID}-2`, queue, message: "position 3 of 7" });
    expect(statusAfter(before, second)).toMatchObject({
      queue: { place: "3/7" },
      message: "position 3 of 7",
    });
  });
});
