import type { Reply, Waiting } from "@resource-broker/domain";
import { request } from "@resource-broker/domain/testing";
import { describe, expect, test } from "vitest";
import { keyClosedStatus, refusalIn } from "./reservation-calls.ts";

const waiting: Waiting = {
  id: "rsv-rome-k",
  requester: "rome",
  request: request(),
  key: "k",
  protocol: 3,
  phase: "Pending",
  createdAt: 0,
  since: 0,
  until: 1,
  generation: 1,
};
const waits: Reply = { kind: "waiting", waiting, isReplay: true };

describe("an object", () => {
  test("is decided again later, and not refused, while waiting requests go first", () => {
    const reply: Reply = { kind: "rejected", code: "overloaded", message: "ask again in a second" };
    expect(() => refusalIn(reply, "full")).toThrow("ask again in a second");
  });

  test("with the key of a request that waits over HTTP is refused, and says where to look", () => {
    expect(refusalIn(waits, "full")).toMatchObject({
      code: "no-capacity",
      message: expect.stringContaining("rsv-rome-k waits in the queue with this key"),
    });
  });

  test("that closes the key of a request that waits has released it", () => {
    expect(keyClosedStatus(waits)).toMatchObject({ phase: "Released", reservationID: "rsv-rome-k" });
  });
});
