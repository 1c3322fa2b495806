import { HEADER, type ReservationDTO, type WaitingRequestDTO } from "@resource-broker/contract";
import { describe, expect, test } from "vitest";
import { hearReply, knownOf } from "./hear-reply.ts";
import { newTrackedRequest, type TrackedRequest } from "./tracked-request.ts";

const AT = "2026-07-01T10:00:00.000Z";
const common = {
  id: "rsv-1",
  requesterID: "rome",
  requestedResources: { cpu: "2", memory: "4Gi" },
  key: "k",
};
const reserved: ReservationDTO = {
  ...common,
  targetClusterID: "paris",
  status: { phase: "Reserved", message: "" },
  createdAt: AT,
};
const waits: WaitingRequestDTO = {
  ...common,
  tenant: "rome",
  status: { phase: "Pending", message: "" },
  createdAt: AT,
  until: AT,
  generation: 1,
  tier: "on-demand",
  priority: 0,
};
const left: WaitingRequestDTO = {
  ...waits,
  status: { phase: "Released", message: "" },
  endedAt: AT,
  reason: "ReleasedByRequester",
};

type Told = readonly [status: number, body: unknown, isReplay?: boolean];

/** What is wrong with the last of several replies, each to a call made after the one before. */
function told(replies: readonly Told[], change: Partial<TrackedRequest> = {}): readonly string[] {
  const request = { ...newTrackedRequest("rome", "k", { cpu: 2, memoryGi: 4, waitFor: "1h" }), ...change };
  return replies.map(([status, body, isReplay = false]) => {
    const headers = isReplay ? { [HEADER.idempotencyReplayed.toLowerCase()]: "true" } : {};
    return hearReply(request, { status, headers, body }, knownOf(request)).join("; ");
  });
}

describe("a client is told", () => {
  test.each<{ name: string; replies: Told[]; change?: Partial<TrackedRequest> }>([
    {
      name: "that its request waits, and again",
      replies: [
        [202, waits],
        [202, waits, true],
      ],
    },
    {
      name: "that it waits, and is granted",
      replies: [
        [202, waits],
        [200, reserved, true],
        [200, reserved],
      ],
    },
    {
      name: "that it left as it asked to",
      replies: [
        [202, waits],
        [200, left],
      ],
      change: { release: "asked" },
    },
    {
      name: "that it is reserved at once",
      replies: [
        [201, reserved],
        [200, reserved, true],
      ],
    },
  ])("$name", ({ replies, change }) => {
    expect(told(replies, change)).toEqual(replies.map(() => ""));
  });

  test.each<{ name: string; replies: Told[]; problem: string; change?: Partial<TrackedRequest> }>([
    {
      name: "twice that it is new",
      replies: [
        [202, waits],
        [202, waits],
      ],
      problem: "was made twice",
    },
    {
      name: "that it waits and then was made",
      replies: [
        [202, waits],
        [201, reserved],
      ],
      problem: "made twice",
    },
    {
      name: "another ID",
      replies: [
        [202, waits],
        [202, { ...waits, id: "rsv-2" }, true],
      ],
      problem: "waits as rsv-2",
    },
    {
      name: "another ID when granted",
      replies: [
        [202, waits],
        [200, { ...reserved, id: "rsv-2" }],
      ],
      problem: "is rsv-2",
    },
    {
      name: "that it waits after it was granted",
      replies: [
        [201, reserved],
        [202, waits, true],
      ],
      problem: "was reserved",
    },
    {
      name: "that it left by itself",
      replies: [
        [202, waits],
        [200, left],
      ],
      problem: "left the queue",
    },
    {
      name: "that it is granted after it left",
      replies: [
        [200, left],
        [200, reserved],
      ],
      change: { release: "asked" },
      problem: "left the queue, and is rsv-1",
    },
    {
      name: "that it waits after it left",
      replies: [
        [200, left],
        [202, waits, true],
      ],
      change: { release: "asked" },
      problem: "was released, and waits",
    },
    {
      name: "that it waits without a word of it",
      replies: [[202, reserved]],
      problem: "with a provider: true",
    },
  ])("what it must not be told: $name", ({ replies, problem, change }) => {
    expect(told(replies, change).at(-1)).toContain(problem);
  });
});

test("a client that did not ask to wait must not be told that it does", () => {
  const request = newTrackedRequest("rome", "k", { cpu: 2, memoryGi: 4 });
  const problems = hearReply(request, { status: 202, headers: {}, body: waits }, knownOf(request));
  expect(problems).toEqual(["k of rome: waits, and did not ask to"]);
});
