import { describe, expect, test } from "vitest";
import { aRequest } from "../testing/samples.ts";
import { noticeEvents } from "./notice-events.ts";

const ID = "rsv-rome-a";
const ENDS = "ends at 2026-07-01T10:05:00.000Z: a waiting request of priority 50 needs its capacity";
const podOf = (name: string, namespace = "shop") => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace },
});
const pods = (count: number) =>
  Array.from({ length: count }, (_, index) => podOf(`p${String(index).padStart(3, "0")}`)).reverse();
const eventsOf = (now: string | undefined, count: number) =>
  noticeEvents({ id: ID, now }, aRequest(), pods(count));

describe("the events of a notice", () => {
  test("are a warning on the request and on each pod of its node", () => {
    const message = `reservation ${ID} ${ENDS}`;
    expect(eventsOf(ENDS, 2)).toMatchObject([
      { regarding: { kind: "ResourceRequest" }, type: "Warning", message: `${message}; pods on its node: 2` },
      { regarding: podOf("p000"), type: "Warning", reason: "Preempting", message },
      { regarding: podOf("p001"), type: "Warning", reason: "Preempting", message },
    ]);
  });

  test("and of its withdrawal are normal", () => {
    const message = `reservation ${ID} stays: the notice was withdrawn`;
    expect(eventsOf(undefined, 1)).toMatchObject([
      { type: "Normal", reason: "Reprieved", message: `${message}; pods on its node: 1` },
      { regarding: podOf("p000"), type: "Normal", reason: "Reprieved", message },
    ]);
    expect(eventsOf(undefined, 0)).toMatchObject([{ message }]);
  });

  test("are on the first 50 pods by name, and the request's says so", () => {
    const [first, ...others] = eventsOf(ENDS, 51);
    expect(first?.message).toContain("pods on its node: 51 (the first 50 by name have this event, too)");
    expect(others.map(({ regarding }) => regarding.metadata.name)).toEqual(
      pods(50)
        .reverse()
        .map(({ metadata }) => metadata.name),
    );
    expect(eventsOf(ENDS, 50)[0]?.message).toMatch(/pods on its node: 50$/);
  });
});
