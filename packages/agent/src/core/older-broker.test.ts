import { Fault } from "@resource-broker/base";
import { describe, expect, test } from "vitest";
import { gate } from "../testing/call-fault.ts";
import { asAdmin } from "../testing/fake-broker.ts";
import { type TestFleet, testFleet } from "../testing/test-fleet.ts";

const MINUTE_MS = 60_000;

async function withOlderBroker(kind: true | "cannotTell" = true): Promise<TestFleet> {
  const world = testFleet();
  world.broker.setOlder(kind);
  await world.begin();
  return world;
}

/** What is booked; an older broker forgets nothing. */
const reservations = ({ broker }: TestFleet) => broker.live().map(({ id }) => id);

describe("with an older broker", () => {
  test("a request travels as before, by polling", async () => {
    const world = await withOlderBroker();
    const { rome, paris, time } = world;
    rome.createRequest("more");
    await time.advance(6000);
    const [id] = reservations(world);
    expect(rome.reservationInstructions()).toEqual([id]);
    expect(paris.providerInstructions()).toEqual([id]);
    expect(rome.request("more")?.status).toMatchObject({
      phase: "Reserved",
      reservationName: id,
      attempts: 1,
    });
    expect(rome.core().isStreaming()).toBe(false);
    await time.advance(10 * MINUTE_MS);
    expect(reservations(world)).toEqual([id]);
    expect(paris.providerInstructions()).toEqual([id]);
    const polls = world.broker.calls.filter(
      ({ clusterId, method }) => clusterId === "paris" && method === "listInstructions",
    );
    expect(polls.length).toBeLessThanOrEqual(10 * 12 + 2);
  });

  test("a deleted request is not hung: its instruction goes, and people hear once that the broker is too old", async () => {
    const world = await withOlderBroker();
    const { rome, time } = world;
    rome.createRequest("more");
    await time.advance(6000);
    rome.deleteRequest("more");
    await time.advance(10 * MINUTE_MS);
    expect(rome.reservationInstructions()).toEqual([]);
    expect(rome.events.filter(({ reason }) => reason === "ReleaseUnsupported")).toHaveLength(1);
    expect(rome.logLines.filter((line) => line.includes("cannot release reservations"))).toHaveLength(1);
  });

  test("a reservation that was ended there is noticed by asking for it by its name", async () => {
    const { broker, rome, paris, time } = await withOlderBroker();
    rome.createRequest("more");
    await time.advance(6000);
    for (const { id } of broker.live()) broker.run({ kind: "release", ...asAdmin, id });
    await time.advance(2 * MINUTE_MS);
    expect([rome.reservationInstructions(), paris.providerInstructions()]).toEqual([[], []]);
    expect(rome.request("more")?.status?.phase).toBe("Released");
  });

  test.each([true, "cannotTell"] as const)(
    "a reservation ends at its time, also where it cannot be asked for by its name (older: %s)",
    async (kind) => {
      const { rome, paris, time } = await withOlderBroker(kind);
      rome.createRequest("more", { duration: "5m" });
      await time.advance(6000);
      expect([rome.reservationInstructions().length, paris.providerInstructions().length]).toEqual([1, 1]);
      await time.advance(5 * MINUTE_MS - 7000);
      expect([rome.reservationInstructions().length, paris.providerInstructions().length]).toEqual([1, 1]);
      await time.advance(4000);
      expect([rome.reservationInstructions(), paris.providerInstructions()]).toEqual([[], []]);
      expect(rome.request("more")?.status).toMatchObject({ phase: "Released", reason: "Expired" });
      await time.advance(10 * MINUTE_MS);
      expect([rome.reservationInstructions(), paris.providerInstructions()]).toEqual([[], []]);
    },
  );

  test.each([
    ["lost", new Fault("unreachable", "the connection broke")],
    ["an error of its own", new Fault("internal", "500")],
  ])("an answer that is %s is not asked for again: it would book twice", async (_, fault) => {
    const world = await withOlderBroker();
    const { broker, rome, time } = world;
    broker.setCallFaults(({ method }) => (method === "reserve" ? { fault, isDone: true } : undefined));
    rome.createRequest("more");
    await time.advance(10 * MINUTE_MS);
    expect(reservations(world)).toHaveLength(1);
    expect(rome.request("more")?.status).toMatchObject({
      phase: "Failed",
      message: expect.stringContaining("ask its operator"),
    });
  });

  test("a broker that is not there was not asked: the request waits for it", async () => {
    const world = await withOlderBroker();
    const { broker, rome, time } = world;
    broker.down();
    rome.createRequest("more");
    await time.advance(MINUTE_MS);
    expect(rome.request("more")?.status).toMatchObject({ phase: "Pending" });
    broker.up();
    await time.advance(MINUTE_MS);
    expect(reservations(world)).toHaveLength(1);
    expect(rome.request("more")?.status?.phase).toBe("Reserved");
  });

  test("an agent killed while it asked does not ask again", async () => {
    const world = await withOlderBroker();
    const { broker, rome, time } = world;
    const late = gate();
    broker.setCallFaults(({ method }) =>
      method === "reserve" ? { isDone: true, until: late.passed } : undefined,
    );
    rome.createRequest("more");
    await time.advance(100);
    rome.kill();
    broker.setCallFaults(undefined);
    const started = rome.start();
    await time.advance(5 * MINUTE_MS);
    await started;
    expect(reservations(world)).toHaveLength(1);
    expect(rome.request("more")?.status).toMatchObject({ phase: "Failed" });
  });

  test("that was upgraded, everything newer works without a restart", async () => {
    const world = await withOlderBroker();
    const { broker, rome, time } = world;
    rome.createRequest("more");
    await time.advance(6000);
    broker.setOlder(false);
    await time.advance(10 * MINUTE_MS);
    expect(rome.core().isStreaming()).toBe(true);
    rome.createRequest("again");
    await time.advance(1000);
    expect(rome.request("again")?.status?.phase).toBe("Active");
  });
});
