import { describe, expect, test } from "vitest";
import { fakeDataPlane } from "../testing/fake-data-plane.ts";
import { testFleet } from "../testing/test-fleet.ts";
import { MINUTE_MS } from "../testing/test-fleet-setups.ts";

const working = (reason: string) =>
  ({ kind: "working", reason, message: reason, retryAfterMs: 1000 }) as const;

function world() {
  const plane = fakeDataPlane();
  const small = testFleet({ dataPlane: plane });
  const condition = (type: string) =>
    small.rome.request("more")?.status?.conditions?.find((each) => each.type === type);
  return { ...small, plane, condition };
}

describe("the data plane", () => {
  test("is reported by the request, step by step, and the broker when it is ready", async () => {
    const { rome, time, begin, plane, condition, broker } = world();
    await begin();
    plane.setState(working("Peering"));
    rome.createRequest("more", { offload: { namespaces: ["shop"] } });
    await time.advance(5000);
    expect(condition("Peered")).toMatchObject({ status: "False", reason: "Peering" });
    const began = condition("Peered")?.lastTransitionTime;
    plane.setState(working("AwaitingGrant"));
    await time.advance(5000);
    expect(condition("Peered")).toMatchObject({ status: "False", reason: "AwaitingGrant" });
    expect(condition("Peered")?.lastTransitionTime).not.toBe(began);
    expect(broker.live()).toMatchObject([{ phase: "Reserved" }]);
    plane.setState({ kind: "ready", reason: "NodeReady", message: "ready" });
    await time.advance(5000);
    expect(condition("Peered")).toMatchObject({ status: "True" });
    expect(broker.live()).toMatchObject([{ phase: "Active" }]);
    expect(plane.specs[0]?.offload).toEqual({ namespaces: ["shop"] });
  });

  test("that fails after it was ready is reported", async () => {
    const { rome, time, begin, plane, condition } = world();
    await begin();
    rome.createRequest("more");
    await time.advance(5000);
    expect(condition("Ready")).toMatchObject({ status: "True" });
    plane.setState({ ...working("NodeNotReady"), isStalled: true });
    await time.advance(MINUTE_MS);
    expect(condition("Ready")).toMatchObject({ status: "False", reason: "NodeNotReady" });
    expect(rome.events.map(({ reason }) => reason)).toContain("DataPlaneTrouble");
  });

  test("is cleared when the reservation expires, also while it is coming in", async () => {
    const { rome, time, begin, plane, condition } = world();
    await begin();
    plane.setState(working("Peering"));
    plane.block(true);
    rome.createRequest("more", { duration: "2m" });
    await time.advance(MINUTE_MS);
    expect(plane.there.size).toBe(1);
    await time.advance(2 * MINUTE_MS);
    expect(rome.request("more")?.status).toMatchObject({ phase: "Released", reason: "Expired" });
    expect(condition("Clean")).toMatchObject({ status: "False", reason: "Draining" });
    plane.block(false);
    await time.advance(MINUTE_MS);
    expect(condition("Clean")).toMatchObject({ status: "True", reason: "NothingLeft" });
    expect(plane.there.size).toBe(0);
    expect(rome.reservationInstructions()).toEqual([]);
    expect(rome.events.map(({ reason }) => reason)).toContain("Cleaned");
  });

  test("is cleared when the request is deleted, though its instruction goes with it", async () => {
    const { rome, time, begin, plane } = world();
    await begin();
    rome.createRequest("more");
    await time.advance(5000);
    plane.block(true);
    rome.deleteRequest("more");
    await time.advance(10_000);
    expect(rome.reservationInstructions()).toEqual([]);
    expect(plane.there.size).toBe(1);
    plane.block(false);
    await time.advance(10_000);
    expect(plane.there.size).toBe(0);
  });

  test("is cleared of what nobody knows any more, and of nothing else", async () => {
    const { rome, time, begin, plane } = world();
    plane.there.add("rsv-rome-forgotten");
    await begin();
    rome.createRequest("more");
    await time.advance(2 * MINUTE_MS);
    expect(plane.there).toEqual(new Set(rome.reservationInstructions()));
    expect(plane.there.size).toBe(1);
  });

  test("keeps what it has while the broker cannot be asked", async () => {
    const { rome, time, begin, plane, broker } = world();
    await begin();
    rome.createRequest("more");
    await time.advance(5000);
    plane.there.add("rsv-rome-unclear");
    broker.down();
    await time.advance(3 * MINUTE_MS);
    expect(plane.there.size).toBe(2);
    broker.up();
    await time.advance(3 * MINUTE_MS);
    expect([...plane.there]).toEqual(rome.reservationInstructions());
  });

  test("gets what other clusters state, and is told when the stream opens again", async () => {
    const heard: string[] = [];
    const plane = {
      ...fakeDataPlane(),
      onStatement: (from: string, statement: string) => void heard.push(`${from}: ${statement}`),
      onConnected: () => void heard.push("connected"),
    };
    const { time, begin, broker } = testFleet({ dataPlane: plane });
    await begin();
    await time.advance(MINUTE_MS);
    expect(new Set(heard)).toEqual(new Set(["connected"]));
    heard.length = 0;
    await broker.connect("paris").putStatement("rome", "signed");
    await time.advance(5000);
    expect(heard).toEqual(["paris: signed"]);
    broker.cutStreams();
    await time.advance(MINUTE_MS);
    expect(heard.slice(1)).toEqual(expect.arrayContaining(["connected", "paris: signed"]));
  });
});
