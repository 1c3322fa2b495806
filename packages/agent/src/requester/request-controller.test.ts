import { Fault } from "@resource-broker/base";
import type { ResourceRequest } from "@resource-broker/contract/crd";
import { fakeClock } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import type { ObjectEvent } from "../events/record-event.ts";
import { RESOURCE_REQUESTS } from "../manifests/labels.ts";
import type { Reservation } from "../reservations/reservation.ts";
import { reservationCache } from "../reservations/reservation-cache.ts";
import { fakeCluster } from "../testing/fake-cluster.ts";
import { recordedLog } from "../testing/recorded-log.ts";
import { aRequest, aReservation, UID } from "../testing/samples.ts";
import { requestController } from "./request-controller.ts";

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
  const closed: string[] = [];
  const unwanted: string[] = [];
  const took: number[] = [];
  const find = (): ResourceRequest | undefined => cluster.find(RESOURCE_REQUESTS, NAME);
  const state: {
    answer: () => Promise<Reservation>;
    known: Reservation | undefined;
    looksAtKeys: boolean | Fault;
    seen: () => ResourceRequest | undefined;
  } = { answer: async () => aReservation(), known: undefined, looksAtKeys: true, seen: find };
  const controller = requestController({
    clusterId: "rome",
    cache,
    client: cluster.client,
    request: () => state.seen(),
    requestKeys: () => [KEY],
    instruction: () => undefined,
    releaseState: () => undefined,
    communicator: {
      requestReservation: (_, key) => {
        asked.push(key);
        return state.answer();
      },
      fetchReservation: async () => state.known,
      releaseByKey: async (key) => void closed.push(key),
    },
    supportsKeys: async () => {
      if (state.looksAtKeys instanceof Fault) throw state.looksAtKeys;
      return state.looksAtKeys;
    },
    clock: time,
    random: () => 0.5,
    recordEvent: (event) => void events.push(event),
    log,
    onReserved: (tookMs) => void took.push(tookMs),
    onRequestDeleted: ({ metadata }) => void unwanted.push(metadata.uid ?? ""),
  });
  const reconcile = () => controller.reconcile(KEY);
  const refuse = (code: Fault["code"], retryAfterMs?: number): void => {
    const details = retryAfterMs === undefined ? {} : { retryAfterMs };
    state.answer = () => Promise.reject(new Fault(code, `says ${code}`, { details }));
  };
  return {
    time,
    cluster,
    cache,
    events,
    log,
    asked,
    closed,
    unwanted,
    took,
    state,
    find,
    controller,
    reconcile,
    refuse,
  };
}

describe("asking", () => {
  test("leads to a grant, which is written down, told of and timed", async () => {
    const { reconcile, find, events, asked, took, time, refuse, state } = world();
    refuse("unreachable");
    await reconcile();
    await time.advance(2000);
    state.answer = async () => aReservation();
    await reconcile();
    expect(find()?.status).toMatchObject({ phase: "Reserved", targetClusterID: "paris" });
    expect(asked).toEqual([`${UID}-1`, `${UID}-1`]);
    expect(events.map(({ reason }) => reason)).toEqual(["BrokerUnavailable", "Reserved"]);
    expect(took).toEqual([2000]);
  });

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

  test("keeps a grant though its status cannot be written, and is not taken for a refusal", async () => {
    const { cluster, reconcile, find, asked, cache } = world();
    cluster.setCallFaults(() => ({ fault: new Fault("invalid", "an admission rule says no") }));
    await expect(reconcile()).rejects.toThrow("an admission rule says no");
    expect(cache.live("requester")).toHaveLength(1);
    cluster.setCallFaults(undefined);
    await reconcile();
    expect(find()?.status?.phase).toBe("Reserved");
    expect(asked).toHaveLength(1);
  });

  test("of a broker that must not be asked twice is written down first", async () => {
    const { state, reconcile, find } = world();
    state.looksAtKeys = false;
    const phases: unknown[] = [];
    state.answer = async () => {
      phases.push(find()?.status?.conditions?.find(({ type }) => type === "Reserved")?.reason);
      return aReservation();
    };
    await reconcile();
    expect(phases).toEqual(["Asking"]);
    expect(find()?.status).toMatchObject({ phase: "Reserved", attempts: 1 });
  });

  test("of a broker that must not be asked twice is left to people when its answer is lost", async () => {
    const { state, reconcile, find, refuse, asked } = world();
    state.looksAtKeys = false;
    refuse("unreachable");
    await reconcile();
    await reconcile();
    expect(find()?.status).toMatchObject({ phase: "Failed", attempts: 1 });
    expect(asked).toHaveLength(1);
  });

  test("of a broker that must not be asked twice is refused as ever when it cannot serve the wish", async () => {
    const { state, reconcile, find, refuse } = world();
    state.looksAtKeys = false;
    refuse("unsupported");
    await reconcile();
    expect(find()?.status).toMatchObject({ phase: "Failed", reason: "Invalid", message: "says unsupported" });
  });

  test("is put off while nobody knows how the broker treats keys", async () => {
    const { state, reconcile, find, asked } = world();
    state.looksAtKeys = new Fault("unreachable", "nobody answers");
    await reconcile();
    expect(asked).toEqual([]);
    expect(find()?.status).toMatchObject({ phase: "Pending", message: "nobody answers; asking again" });
  });

  test("with a key that belongs to another wish gives that back and uses the next", async () => {
    const { reconcile, refuse, closed, asked, state } = world();
    refuse("key-mismatch");
    await reconcile();
    expect(closed).toEqual([`${UID}-1`]);
    state.answer = async () => aReservation({ key: `${UID}-2` });
    await reconcile();
    expect(asked).toEqual([`${UID}-1`, `${UID}-2`]);
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

describe("a request that is deleted while the broker is asked", () => {
  test.each([
    ["granted", undefined],
    ["lost", "unreachable"],
    ["refused", "no-capacity"],
  ] as const)("is not wanted any more, also if the answer is %s", async (_, code) => {
    const { reconcile, refuse, unwanted, state, cluster } = world();
    if (code !== undefined) refuse(code);
    const { answer } = state;
    state.answer = () => {
      cluster.remove(RESOURCE_REQUESTS, NAME);
      return answer();
    };
    expect(await reconcile()).toEqual({});
    expect(unwanted).toEqual([UID]);
  });

  test("does not leave its status on a new one of the same name, though nobody has seen that yet", async () => {
    const { reconcile, refuse, state, cluster, find } = world();
    refuse("no-capacity");
    const { answer } = state;
    const old = find();
    state.seen = () => old;
    state.answer = () => {
      cluster.remove(RESOURCE_REQUESTS, NAME);
      cluster.put(RESOURCE_REQUESTS, aRequest({ metadata: { ...NAME, uid: "another" } }));
      return answer();
    };
    await expect(reconcile()).rejects.toMatchObject({ code: "invalid" });
    expect(find()?.status).toBeUndefined();
  });

  test("is no failure when only its status finds nobody", async () => {
    const { reconcile, refuse, state, cluster, find, events } = world();
    refuse("no-capacity");
    const { answer } = state;
    const old = find();
    state.seen = () => old;
    state.answer = () => {
      cluster.remove(RESOURCE_REQUESTS, NAME);
      return answer();
    };
    await expect(reconcile()).resolves.toEqual({});
    expect(events).toEqual([]);
  });
});

describe("a watch that lags", () => {
  test("makes nobody ask again for what was refused for good", async () => {
    const { reconcile, refuse, state, find, asked } = world();
    const old = find();
    state.seen = () => old;
    refuse("no-capacity");
    await reconcile();
    state.answer = async () => aReservation();
    await reconcile();
    expect(asked).toHaveLength(1);
    expect(find()?.status?.phase).toBe("Failed");
  });
});

describe("a queued request", () => {
  test("is repeated once after freed capacity, and others are not", async () => {
    const { reconcile, refuse, controller, asked } = world(
      aRequest({ spec: { requestedCPU: "4", requestedMemory: "8Gi", queue: true } }),
    );
    expect(controller.requeueQueued()).toEqual([]);
    refuse("no-capacity");
    await reconcile();
    await reconcile();
    expect(asked).toHaveLength(1);
    expect(controller.requeueQueued()).toEqual([KEY]);
    await reconcile();
    await reconcile();
    expect(asked).toEqual([`${UID}-1`, `${UID}-2`]);
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

  test("asks for it again with the same key when the broker does not", async () => {
    const { reconcile, asked } = world(reserved);
    await reconcile();
    expect(asked).toEqual([`${UID}-1`]);
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

  test("does not take up somebody else's", async () => {
    const { reconcile, state, asked } = world(reserved);
    state.known = aReservation({ requesterID: "berlin" });
    await reconcile();
    expect(asked).toEqual([`${UID}-1`]);
  });
});
