import { Fault } from "@resource-broker/base";
import type { ResourceRequest } from "@resource-broker/contract/crd";
import { fakeClock } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import type { ObjectEvent } from "../events/record-event.ts";
import { RESOURCE_REQUESTS } from "../manifests/labels.ts";
import type { Reservation } from "../reservations/reservation.ts";
import { reservationCache } from "../reservations/reservation-cache.ts";
import { waitingCache } from "../reservations/waiting-cache.ts";
import { fakeCluster } from "../testing/fake-cluster.ts";
import { recordedLog } from "../testing/recorded-log.ts";
import { aRequest, aReservation, UID } from "../testing/samples.ts";
import { type RequestDeps, requestController } from "./request-controller.ts";

const KEY = "default/more";
const NAME = { name: "more", namespace: "default" };

function world(request: ResourceRequest = aRequest()) {
  const time = fakeClock();
  const cluster = fakeCluster(time);
  cluster.put(RESOURCE_REQUESTS, request);
  const cache = reservationCache({ clusterId: "rome", now: time.wallMs });
  const events: ObjectEvent[] = [];
  const log = recordedLog();
  const asked: string[] = [];
  const find = (): ResourceRequest | undefined => cluster.find(RESOURCE_REQUESTS, NAME);
  const state: {
    answer: () => Promise<Reservation>;
    known: Reservation | undefined;
    seen: () => ResourceRequest | undefined;
  } = { answer: async () => aReservation(), known: undefined, seen: find };
  const nothing = () => undefined;
  const deps = {
    cache,
    waiting: waitingCache({ clusterId: "rome", reservations: cache }),
    client: cluster.client,
    objects: { requests: { get: () => state.seen(), keys: () => [KEY] }, reservationInstruction: nothing },
    communicator: {
      reserve: (_: unknown, key: string) => {
        asked.push(key);
        return state.answer();
      },
      getReservation: async () => state.known,
    },
    link: { isCurrent: () => true, canQueue: () => false },
    observer: { reserved: nothing },
    releaseState: nothing,
    onRequestDeleted: nothing,
    onQueued: nothing,
    clock: time,
    random: () => 0.5,
    recordEvent: (event: ObjectEvent) => void events.push(event),
    log,
  };
  const controller = requestController({ clusterId: "rome" }, deps as unknown as RequestDeps);
  const reconcile = () => controller.reconcile(KEY);
  const refuse = (code: Fault["code"], retryAfterMs?: number): void => {
    const details = retryAfterMs === undefined ? {} : { retryAfterMs };
    state.answer = () => Promise.reject(new Fault(code, `says ${code}`, { details }));
  };
  return { time, cluster, cache, events, log, asked, state, find, reconcile, refuse };
}

describe("asking", () => {
  test.each([
    ["growing pauses", undefined, 250],
    ["the pause that the broker wants", 7000, 7000],
  ])("is not repeated before %s are over, whatever event comes in between", async (_, wanted, pauseMs) => {
    const { reconcile, refuse, asked, time } = world();
    refuse("overloaded", wanted);
    expect(await reconcile()).toEqual({ requeueAfterMs: pauseMs });
    expect(await reconcile()).toEqual({ requeueAfterMs: pauseMs });
    expect(asked).toHaveLength(1);
    await time.advance(pauseMs);
    await reconcile();
    expect(asked).toHaveLength(2);
  });
});

describe("an answer that is not for this request", () => {
  test.each([
    ["a reservation of another cluster", { requesterID: "berlin" }],
    ["a reservation of another request", { id: "rsv-rome-other", key: `${UID.replace("0b", "ff")}-1` }],
  ])("as %s is reported once, and asked about ever more seldom", async (_, wrong) => {
    const { reconcile, state, asked, cache, events, log, find, time } = world();
    state.answer = async () => aReservation(wrong);
    const pauses: number[] = [];
    for (let round = 0; round < 8; round++) {
      const { requeueAfterMs = 0 } = await reconcile();
      pauses.push(requeueAfterMs);
      await time.advance(requeueAfterMs);
    }
    expect(pauses).toEqual([250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000]);
    expect(new Set(asked)).toEqual(new Set([`${UID}-1`]));
    expect(cache.ofRequest(UID).size).toBe(0);
    const { id, requester } = aReservation(wrong);
    expect(find()?.status).toMatchObject({
      phase: "Pending",
      message: expect.stringContaining(
        `the reservation ${id} of ${requester}, which is not what was asked for`,
      ),
    });
    expect(events.map(({ reason, type }) => [type, reason])).toEqual([["Warning", "WrongAnswer"]]);
    expect(log.lines.filter((line) => line.startsWith("warn"))).toHaveLength(8);
    state.answer = async () => aReservation();
    await reconcile();
    expect(find()?.status?.phase).toBe("Reserved");
  });
});

describe("a request whose status names a reservation that nobody here remembers", () => {
  const reserved = aRequest({ status: { phase: "Active", reservationName: aReservation().id, attempts: 1 } });

  test("takes it up again when the broker knows it, also if that repeats no keys", async () => {
    const { reconcile, state, cache, asked } = world(reserved);
    const { key: _, ...keyless } = aReservation();
    state.known = keyless;
    expect(await reconcile()).toEqual({ requeueAfterMs: 0 });
    expect(cache.ofRequest(UID).get(1)?.reservation.id).toBe(keyless.id);
    expect(asked).toEqual([]);
  });

  test("is not looked up again at once when the broker answers with another one", async () => {
    const { reconcile, state, asked, find, time } = world(reserved);
    state.known = aReservation({ id: "rsv-rome-other", key: `${UID.replace("0b", "ff")}-1` });
    expect(await reconcile()).toEqual({ requeueAfterMs: 250 });
    expect(await reconcile()).toEqual({ requeueAfterMs: 250 });
    await time.advance(250);
    expect(await reconcile()).toEqual({ requeueAfterMs: 500 });
    expect(asked).toEqual([]);
    expect(find()?.status).toEqual(reserved.status);
  });
});
