import { Fault, type ReservationDTO } from "@resource-broker/contract";
import { request as aWish } from "@resource-broker/domain/testing";
import { describe, expect, test } from "vitest";
import { RESERVATION_INSTRUCTIONS } from "../borrowings/borrowing-deps.ts";
import { PROVIDER_INSTRUCTIONS } from "../holds/hold-controller.ts";
import { asAdmin } from "../testing/fake-broker.ts";
import {
  conditionOf,
  expectLent,
  expectNothing,
  first,
  HOUR_MS,
  lending,
  lost,
  MINUTE_MS,
} from "../testing/lending.ts";
import { gate } from "../testing/mishap.ts";
import { REQUESTS, type SmallWorld, smallWorld } from "../testing/small-world.ts";

describe("instructions", () => {
  test.each<["twice" | "swapped"]>([["twice"], ["swapped"]])("that come %s change nothing", async (fate) => {
    const world = smallWorld();
    const { broker, rome, paris, time, begin } = world;
    await begin();
    let kept: Parameters<Parameters<typeof broker.setDistortion>[0] & object>[1] | undefined;
    broker.setDistortion((_, event) => {
      if (fate === "twice") return [event, event];
      const before = kept;
      kept = before === undefined ? event : undefined;
      return before === undefined ? [] : [event, before];
    });
    rome.ask("more");
    await time.advance(MINUTE_MS);
    const id = expectLent(world);
    rome.unask("more");
    await time.advance(3 * MINUTE_MS);
    expectNothing(world);
    // A late word from before the end does not bring it back.
    const old: ReservationDTO = {
      id,
      requesterID: "rome",
      targetClusterID: "paris",
      requestedResources: { cpu: "4", memory: "8Gi" },
      status: { phase: "Active", message: "" },
      createdAt: "2026-07-01T10:00:00Z",
      generation: 2,
    };
    broker.setDistortion(undefined);
    broker.send("paris", { kind: "instruction", reservation: old });
    broker.send("rome", { kind: "reservation", reservation: old });
    await time.advance(MINUTE_MS);
    expect(paris.holds()).toEqual([]);
    expect(rome.borrowings()).toEqual([]);
  });

  test("that are lost on the stream are found by the next census", async () => {
    const world = smallWorld();
    const { broker, rome, paris, time, begin } = world;
    await begin();
    broker.setDistortion(() => []);
    rome.ask("more");
    await time.advance(2 * MINUTE_MS);
    expectLent(world);
    rome.unask("more");
    await time.advance(2 * MINUTE_MS);
    expect(paris.holds()).toEqual([]);
  });

  test("for another cluster are ignored, with a line in the log", async () => {
    const world = await lending();
    const { broker, paris, time } = world;
    const foreign: ReservationDTO = {
      id: "rsv-rome-foreign",
      requesterID: "rome",
      targetClusterID: "berlin",
      requestedResources: { cpu: "1", memory: "1Gi" },
      status: { phase: "Reserved", message: "" },
      createdAt: "2026-07-01T10:00:00Z",
      generation: 1,
    };
    broker.send("paris", { kind: "instruction", reservation: foreign });
    await time.advance(1000);
    expectLent(world);
    expect(paris.logLines.join("\n")).toContain("an instruction for another cluster is ignored");
  });

  test("deleted by hand are written again while their reservation lives, and not after", async () => {
    const world = await lending();
    const { rome, paris, time, id } = world;
    rome.remove(RESERVATION_INSTRUCTIONS, { name: id, namespace: "default" });
    paris.remove(PROVIDER_INSTRUCTIONS, { name: `${id}-provider`, namespace: "default" });
    await time.advance(1000);
    expectLent(world);
    world.broker.run({ kind: "release", ...asAdmin, id });
    await time.advance(5 * MINUTE_MS);
    expectNothing(world);
    expect(rome.request("more")?.status).toMatchObject({ phase: "Released", reason: "ReleasedByAdmin" });
  });

  test("edited by hand say what they should again", async () => {
    const world = await lending();
    const { paris, time, id } = world;
    const name = { name: `${id}-provider`, namespace: "default" };
    paris.edit(PROVIDER_INSTRUCTIONS, name, (hold) => ({
      ...hold,
      spec: { ...hold.spec, requestedCPU: "400" },
    }));
    await time.advance(1000);
    expect(paris.find(PROVIDER_INSTRUCTIONS, name)?.spec.requestedCPU).toBe("4");
  });

  test("come of a reservation that an admin made, too", async () => {
    const world = smallWorld();
    const { broker, rome, paris, time, begin } = world;
    await begin();
    const made = broker.run({
      kind: "reserve",
      requester: "rome",
      request: aWish({ cpu: 2, memoryGi: 1 }),
      reservationId: "rsv-rome-byadmin",
      decisionId: "dec-1",
    });
    expect(made.kind).toBe("granted");
    await time.advance(1000);
    expectLent(world);
    expect(rome.borrowings()).toEqual(["rsv-rome-byadmin"]);
    expect(paris.holds()).toEqual(["rsv-rome-byadmin"]);
    // Nobody's deleted request: it stays.
    await time.advance(5 * MINUTE_MS);
    expectLent(world);
  });
});

describe("a provider that refuses afterwards", () => {
  test("makes the requester tear down and ask again, with the next attempt", async () => {
    const world = smallWorld();
    const { broker, rome, paris, berlin, time, begin } = world;
    await begin(rome, paris);
    paris.occupy("crowd", "14");
    rome.ask("more");
    await time.advance(200);
    expect(paris.holds()).toEqual([]);
    expect(paris.events.map(({ reason }) => reason)).toContain("HoldRefused");
    expect(rome.request("more")?.status).toMatchObject({
      phase: "Failed",
      reason: "NoCapacity",
      attempts: 2,
    });
    expect(rome.events.map(({ reason }) => reason)).toContain("ProviderRefused");
    expect(rome.borrowings()).toEqual([]);
    rome.unask("more");
    await begin(berlin);
    rome.ask("again");
    await time.advance(1000);
    expect(broker.live()).toMatchObject([{ provider: "berlin" }]);
    expect(rome.request("again")?.status).toMatchObject({ phase: "Active", targetClusterID: "berlin" });
  });
});

describe("a queued request", () => {
  test("shows its attempts, and is served as soon as capacity is freed", async () => {
    const world = smallWorld({ cpu: "6" });
    const { rome, time, begin } = world;
    await begin();
    rome.ask("first");
    await time.advance(1000);
    rome.ask("second", { queue: true });
    await time.advance(65_000);
    expect(rome.request("second")?.status).toMatchObject({
      phase: "Pending",
      attempts: 3,
      explanation: expect.stringContaining("paris: "),
    });
    expect(conditionOf(world, "second")?.reason).toBe("Queued");
    rome.unask("first");
    await time.advance(1000);
    expect(rome.request("second")?.status).toMatchObject({ phase: "Active", attempts: 4 });
  });

  test("is nudged by freed capacity also in an agent that started anew", async () => {
    const world = smallWorld({ cpu: "6" });
    const { rome, time, begin } = world;
    await begin();
    rome.ask("first");
    await time.advance(1000);
    rome.ask("second", { queue: true });
    await time.advance(1000);
    rome.kill();
    const started = rome.start();
    await time.advance(1000);
    await started;
    rome.unask("first");
    await time.advance(1000);
    expect(rome.request("second")?.status?.phase).toBe("Active");
  });
});

describe("a deleted request", () => {
  test.each([
    ["before the broker was reached", false],
    ["while its answer was on the way", true],
  ])("holds nothing, though it was deleted %s", async (_, isDone) => {
    const world = smallWorld();
    const { broker, rome, time, begin } = world;
    await begin();
    const late = gate();
    broker.setMishaps(first("requestReservation", { isDone, until: late.passed }));
    rome.ask("more");
    await time.advance(100);
    rome.unask("more");
    await time.advance(100);
    late.open();
    await time.advance(1000);
    expectNothing(world);
  });

  test("holds nothing, though the answer was lost and an older attempt's number is all that was seen", async () => {
    const world = smallWorld({ cpu: "6" });
    const { broker, rome, time, begin } = world;
    await begin();
    rome.ask("first");
    await time.advance(1000);
    rome.ask("second", { queue: true });
    await time.advance(1000);
    rome.setWatchLag(10 * MINUTE_MS);
    const late = gate();
    broker.setMishaps((call) =>
      call.method === "requestReservation"
        ? { isDone: true, until: late.passed, fault: new Fault("unreachable", "lost") }
        : undefined,
    );
    broker.run({ kind: "release", ...asAdmin, id: broker.live()[0]?.id ?? "" });
    await time.advance(1000);
    expect(broker.live()).toHaveLength(1);
    rome.setWatchLag(0);
    rome.unask("second");
    late.open();
    await time.advance(12 * MINUTE_MS);
    expectNothing(world);
  });

  test("and a new one under the same name are two: neither gets the other's answer", async () => {
    const world = smallWorld({ cpu: "6" });
    const { broker, rome, time, begin } = world;
    await begin();
    const late = gate();
    broker.setMishaps(first("requestReservation", { until: late.passed }));
    rome.ask("more", { requestedCPU: "100" });
    await time.advance(100);
    rome.setWatchLag(5000);
    rome.unask("more");
    const { metadata } = rome.ask("more", { requestedCPU: "2" });
    late.open();
    await time.advance(1000);
    expect(rome.request("more")?.status).toBeUndefined();
    await time.advance(30_000);
    expect(rome.request("more")).toMatchObject({
      metadata: { uid: metadata.uid },
      status: { phase: "Active" },
    });
    expect(broker.live()).toMatchObject([{ key: `${metadata.uid}-1` }]);
  });

  test("while the broker is away and the agent starts anew is given back after two censuses", async () => {
    const world = await lending();
    const { broker, rome, time } = world;
    broker.down();
    rome.unask("more");
    await time.advance(1000);
    rome.kill();
    const started = rome.start();
    await time.advance(1000);
    await started;
    broker.up();
    await time.advance(29_000);
    expect(broker.live()).toHaveLength(1);
    await time.advance(2 * MINUTE_MS);
    expectNothing(world);
  });

  test("that had ended long before says nothing of giving back", async () => {
    const world = smallWorld();
    const { rome, time, begin, broker } = world;
    await begin();
    rome.ask("more", { duration: "1m" });
    await time.advance(2 * MINUTE_MS);
    expect(rome.request("more")?.status?.phase).toBe("Released");
    const before = broker.calls.length;
    rome.unask("more");
    await time.advance(100);
    expect(rome.events.map(({ reason }) => reason)).not.toContain("Released");
    expect(broker.calls.slice(before).filter(({ method }) => method.startsWith("release"))).toEqual([]);
  });
});

describe("a reservation whose time is over", () => {
  const untilTold = { duration: "5m" };

  test("while the broker is silent ends a minute later, by the broker's time", async () => {
    const world = smallWorld();
    const { broker, rome, paris, time, begin } = world;
    await begin();
    rome.ask("more", untilTold);
    await time.advance(1000);
    expectLent(world);
    broker.down();
    await time.advance(5 * MINUTE_MS + 50_000);
    expect([rome.borrowings().length, paris.holds().length]).toEqual([1, 1]);
    await time.advance(15_000);
    expect([rome.borrowings(), paris.holds()]).toEqual([[], []]);
    expect(rome.request("more")?.status).toMatchObject({ phase: "Released", reason: "Expired" });
  });

  test("but was renewed meanwhile comes back with the broker", async () => {
    const world = smallWorld();
    const { broker, rome, time, begin } = world;
    await begin();
    rome.ask("more", untilTold);
    await time.advance(1000);
    const id = expectLent(world);
    broker.down();
    broker.run({ kind: "renew", ...asAdmin, id, durationMs: HOUR_MS });
    await time.advance(7 * MINUTE_MS);
    expect(rome.borrowings()).toEqual([]);
    broker.up();
    await time.advance(MINUTE_MS);
    expectLent(world);
    expect(rome.request("more")?.status?.phase).toBe("Active");
  });

  test("and was renewed in time goes on", async () => {
    const world = smallWorld();
    const { broker, rome, paris, time, begin } = world;
    await begin();
    rome.ask("more", untilTold);
    await time.advance(1000);
    const id = expectLent(world);
    broker.run({ kind: "renew", ...asAdmin, id, durationMs: HOUR_MS });
    await time.advance(30 * MINUTE_MS);
    expectLent(world);
    expect(paris.all(PROVIDER_INSTRUCTIONS)[0]?.spec.expiresAt).toBe(rome.request("more")?.status?.expiresAt);
  });
});

describe("a spec that is edited", () => {
  const edit = ({ rome }: SmallWorld, requestedCPU: string) =>
    rome.edit(REQUESTS, { name: "more", namespace: "default" }, (request) => ({
      ...request,
      spec: { ...request.spec, requestedCPU },
    }));

  test("after the reservation is refused by the API server, or, with older CRDs, ignored and said so", async () => {
    const strict = await lending();
    expect(() => edit(strict, "8")).toThrow("already reserved");
    const world = await lending({ kinds: { areOlder: true } });
    edit(world, "8");
    await world.time.advance(MINUTE_MS);
    expectLent(world);
    expect(conditionOf(world, "more")).toMatchObject({
      status: "True",
      reason: "SpecChangeIgnored",
      message: expect.stringContaining("create a new one"),
    });
    edit(world, "4000m");
    await world.time.advance(MINUTE_MS);
    expect(conditionOf(world, "more")?.reason).toBe("Granted");
  });

  test("after an answer was lost: what the first wish got is given back, and the second is asked for", async () => {
    const world = smallWorld();
    const { broker, rome, time, begin } = world;
    await begin();
    broker.setDistortion(() => []);
    let isOver = false;
    broker.setMishaps((call) => {
      if (isOver || call.method !== "requestReservation") return undefined;
      isOver = true;
      edit(world, "8");
      return lost(true);
    });
    rome.ask("more");
    await time.advance(1);
    broker.setDistortion(undefined);
    await time.advance(3 * MINUTE_MS);
    expectLent(world);
    expect(broker.live()).toMatchObject([{ granted: { cpuMillis: 8000 } }]);
    expect(rome.request("more")?.status).toMatchObject({ phase: "Active", attempts: 2 });
  });
});
