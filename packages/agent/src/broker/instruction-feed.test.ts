import { Fault } from "@resource-broker/base";
import type { ReservationDTO } from "@resource-broker/contract";
import { fakeClock } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { reservationCache } from "../reservations/reservation-cache.ts";
import { type FakeStreams, fakeStreams } from "../testing/fake-stream.ts";
import { recordedLog } from "../testing/recorded-log.ts";
import { aWireReservation } from "../testing/samples.ts";
import type { BrokerEvent } from "../transport/broker-communicator.ts";
import { noBroker } from "../transport/no-broker.ts";
import { brokerCommunicator } from "../transport/reservation-mapping.ts";
import { instructionFeed } from "./instruction-feed.ts";

const MINUTE_MS = 60_000;

function world({ pollIntervalMs = 5000 } = {}) {
  const time = fakeClock();
  const log = recordedLog();
  const streams: FakeStreams = fakeStreams(time);
  const cache = reservationCache({ clusterId: "paris", now: time.wallMs });
  const seen = { missed: 0, heard: 0, capacity: 0, opened: 0, polled: 0 };
  const broker: {
    fault: Fault | undefined;
    pollFault: Fault | undefined;
    beginning: BrokerEvent[];
    instructions: ReservationDTO[];
  } = { fault: undefined, pollFault: undefined, beginning: [{ kind: "heartbeat" }], instructions: [] };
  const feed = instructionFeed(
    { pollIntervalMs },
    {
      communicator: brokerCommunicator({
        ...noBroker(),
        watchInstructions: async function* (signal) {
          seen.opened++;
          if (broker.fault !== undefined) throw broker.fault;
          yield* streams.open("paris", broker.beginning, signal);
        },
        fetchInstructions: async () => {
          seen.polled++;
          if (broker.pollFault !== undefined) throw broker.pollFault;
          return broker.instructions;
        },
      }),
      cache,
      clock: time,
      random: () => 0.5,
      log,
      onMissedEvents: () => void seen.missed++,
      onActivity: () => void seen.heard++,
      onCapacity: () => void seen.capacity++,
    },
  );
  return { time, log, streams, cache, seen, broker, feed };
}

const received = (reservation: ReservationDTO): BrokerEvent => ({ kind: "instruction", reservation });
const EXPIRED = aWireReservation({
  status: { phase: "Released", message: "" },
  reason: "Expired",
  generation: 2,
});
const unreachable = new Fault("unreachable", "nobody answers");
const older = new Fault("unsupported", "an older broker");

describe("a stream", () => {
  test("brings instructions into the cache, and reports missed events at its beginning", async () => {
    const { time, feed, broker, cache, seen, streams } = world();
    broker.beginning = [received(aWireReservation())];
    feed.start();
    await time.advance(1);
    expect(cache.live("provider")).toHaveLength(1);
    expect(feed.isStreaming()).toBe(true);
    expect(seen.missed).toBe(1);
    streams.send("paris", received(EXPIRED));
    await time.advance(1);
    expect(cache.live("provider")).toEqual([]);
    expect(seen.polled).toBe(0);
    await feed.stop();
  });

  test("reports capacity, heartbeats, and a reset as a gap", async () => {
    const { time, feed, streams, seen } = world();
    feed.start();
    await time.advance(1);
    streams.send("paris", { kind: "capacity", capacity: { change: "freed" } });
    streams.send("paris", { kind: "reset", reset: { reason: "too old" } });
    await time.advance(MINUTE_MS);
    expect(seen).toMatchObject({ capacity: 1, missed: 2, opened: 1 });
    expect(seen.heard).toBeGreaterThanOrEqual(6);
    await feed.stop();
  });

  test("that breaks is opened again, and people hear once that it did", async () => {
    const { time, feed, streams, seen, broker, log } = world();
    feed.start();
    await time.advance(20_000);
    broker.fault = unreachable;
    streams.cut();
    await time.advance(MINUTE_MS);
    expect(feed.isStreaming()).toBe(false);
    broker.fault = undefined;
    await time.advance(10_000);
    expect(feed.isStreaming()).toBe(true);
    expect(seen.missed).toBe(2);
    const lines = log.lines.filter((line) => line.includes("stream of instructions"));
    expect(lines.map((line) => line.split(" ")[0])).toEqual(["warn", "info"]);
    await feed.stop();
  });

  test("that cannot be opened is bridged by polling, no more often than set", async () => {
    const { time, feed, broker, cache, seen } = world();
    broker.fault = unreachable;
    broker.instructions = [aWireReservation()];
    feed.start();
    await time.advance(MINUTE_MS);
    expect(cache.live("provider")).toHaveLength(1);
    expect(seen.polled).toBeGreaterThan(5);
    expect(seen.polled).toBeLessThanOrEqual(13);
    await feed.stop();
  });

  test("that cannot be opened is not bridged where polling is off", async () => {
    const { time, feed, broker, seen } = world({ pollIntervalMs: 0 });
    broker.fault = unreachable;
    feed.start();
    await time.advance(MINUTE_MS);
    expect(seen.polled).toBe(0);
    await feed.stop();
  });
});

describe("a broker that does not push", () => {
  test("is polled, and asked for a stream again from time to time", async () => {
    const { time, feed, broker, cache, seen } = world();
    broker.fault = older;
    broker.instructions = [aWireReservation()];
    feed.start();
    await time.advance(4 * MINUTE_MS);
    expect(cache.live("provider")).toHaveLength(1);
    expect(seen.polled).toBe(49);
    expect(seen.opened).toBe(1);
    broker.fault = undefined;
    await time.advance(2 * MINUTE_MS);
    expect(feed.isStreaming()).toBe(true);
    const polled = seen.polled;
    await time.advance(2 * MINUTE_MS);
    expect(seen.polled).toBe(polled);
    await feed.stop();
  });

  test("after it did push is not taken for one that pushes", async () => {
    const { time, feed, broker, streams } = world();
    feed.start();
    await time.advance(1);
    broker.fault = older;
    streams.cut();
    await time.advance(MINUTE_MS);
    expect(feed.isStreaming()).toBe(false);
    await feed.stop();
  });

  test("and does not answer polls either is reported once", async () => {
    const { time, feed, broker, log } = world();
    broker.fault = older;
    broker.pollFault = unreachable;
    feed.start();
    await time.advance(MINUTE_MS);
    broker.pollFault = undefined;
    await time.advance(MINUTE_MS);
    expect(log.lines.map((line) => line.split(" ")[0])).toEqual(["warn", "info"]);
    await feed.stop();
  });

  test("is left alone where polling is off", async () => {
    const { time, feed, broker, seen } = world({ pollIntervalMs: 0 });
    broker.fault = older;
    feed.start();
    await time.advance(4 * MINUTE_MS);
    expect(seen.polled).toBe(0);
    await feed.stop();
  });
});

test.each([
  ["a stream", undefined],
  ["polls", older],
  ["failures", unreachable],
])("stopping ends %s, and nothing is asked after", async (_, fault) => {
  const { time, feed, broker, seen } = world();
  broker.fault = fault;
  feed.start();
  await time.advance(7000);
  await feed.stop();
  const before = { ...seen };
  await time.advance(10 * MINUTE_MS);
  expect(seen).toEqual(before);
});
