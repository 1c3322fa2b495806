import { Fault, type FaultCode } from "@resource-broker/base";
import type { ReservationInstruction } from "@resource-broker/contract/crd";
import { fakeClock } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import type { DataPlaneState, DeliverySpec, ReleaseState } from "../data-plane/data-plane.ts";
import type { ObjectEvent } from "../events/record-event.ts";
import { RESERVATION_INSTRUCTIONS } from "../manifests/labels.ts";
import { reservationCache } from "../reservations/reservation-cache.ts";
import { fakeCluster } from "../testing/fake-cluster.ts";
import { aRequest, aReservation, ended, UID } from "../testing/samples.ts";
import { type Origin, reservationInstructionController } from "./reservation-instruction-controller.ts";

const { id } = aReservation();
const ready: DataPlaneState = { kind: "ready", reason: "VirtualNodeReady", message: "the node is ready" };

const draining: ReleaseState = {
  kind: "working",
  reason: "Draining",
  message: "1 pod is left",
  retryAfterMs: 400,
  isStalled: true,
};

function world() {
  const specs: DeliverySpec[] = [];
  const received: string[] = [];
  const time = fakeClock();
  const cluster = fakeCluster(time);
  const cache = reservationCache({ clusterId: "rome", now: time.wallMs });
  const events: ObjectEvent[] = [];
  const activated: string[] = [];
  const state: {
    origin: Origin;
    dataPlane: DataPlaneState;
    release: ReleaseState | undefined;
    isRemoved: boolean;
    answer: Fault | undefined;
  } = {
    origin: { kind: "request", request: aRequest() },
    dataPlane: ready,
    release: undefined,
    isRemoved: true,
    answer: undefined,
  };
  const find = (): ReservationInstruction | undefined =>
    cluster.find(RESERVATION_INSTRUCTIONS, { name: id, namespace: "default" });
  const controller = reservationInstructionController({
    cache,
    client: cluster.client,
    instruction: find,
    originOf: () => state.origin,
    communicator: {
      activate: async (wanted) => {
        activated.push(wanted);
        if (state.answer !== undefined) throw state.answer;
        return aReservation({ status: { phase: "Active", message: "Use paris" }, generation: 2 });
      },
    },
    dataPlane: {
      establish: async (spec) => {
        specs.push(spec);
        return state.dataPlane;
      },
      observe: async () => ({ ...state.dataPlane, message: "only looked at" }),
      release: async () => state.release ?? (state.isRemoved ? { kind: "clean" } : draining),
      listReservationIds: async () => [],
    },
    onReleaseState: (wanted) => void received.push(wanted),
    broker: () => ({ now: time.wallMs(), isSilent: false }),
    clock: time,
    recordEvent: (event) => void events.push(event),
    namespace: "default",
  });
  cache.update("requester", aReservation());
  const reconcile = () => controller.reconcile(id);
  return {
    time,
    cluster,
    cache,
    events,
    activated,
    state,
    find,
    specs,
    heard: received,
    controller,
    reconcile,
  };
}

describe("a borrowing", () => {
  test("is written with its owner, delivered, told of, and activated, each once", async () => {
    const { reconcile, find, events, activated, cluster } = world();
    await reconcile();
    expect(find()).toMatchObject({
      metadata: {
        labels: { "rear.fluidos.eu/request-uid": UID },
        ownerReferences: [{ uid: UID, name: "more" }],
      },
      spec: { targetClusterID: "paris", requestedCPU: "4" },
      status: { delivered: true },
    });
    await reconcile();
    await reconcile();
    expect(activated).toEqual([id]);
    expect(events.map(({ reason }) => reason)).toEqual(["Delivered"]);
    const before = cluster.calls.length;
    await reconcile();
    expect(cluster.calls).toHaveLength(before);
  });

  test("of a request in another namespace has a label and no owner", async () => {
    const { reconcile, find, state } = world();
    const request = aRequest();
    state.origin = {
      kind: "request",
      request: { ...request, metadata: { ...request.metadata, namespace: "team" } },
    };
    await reconcile();
    expect(find()?.metadata.ownerReferences).toBeUndefined();
    expect(find()?.metadata.labels).toMatchObject({ "rear.fluidos.eu/request-uid": UID });
  });

  test("that nobody asked for here has neither", async () => {
    const { reconcile, find, state } = world();
    state.origin = { kind: "foreign" };
    await reconcile();
    expect(find()?.metadata.labels).not.toHaveProperty("rear.fluidos.eu/request-uid");
    expect(find()?.status?.delivered).toBe(true);
  });

  test("is not activated before the data plane is ready", async () => {
    const { reconcile, state, activated, find } = world();
    state.dataPlane = { kind: "working", reason: "Peering", message: "peering", retryAfterMs: 700 };
    expect(await reconcile()).toMatchObject({ requeueAfterMs: 700 });
    expect(activated).toEqual([]);
    expect(find()?.status).toMatchObject({ delivered: false });
    state.dataPlane = ready;
    await reconcile();
    expect(activated).toEqual([id]);
  });

  test.each<[FaultCode, string]>([
    ["unsupported", "confirmed"],
    ["already-ended", "confirmed"],
    ["not-found", "unknown"],
  ])("whose activation is answered with %s is kept, and %s", async (code, syncState) => {
    const { reconcile, state, find, cache } = world();
    state.answer = new Fault(code, code);
    await reconcile();
    expect(find()).toBeDefined();
    expect(cache.get("requester", id)?.syncState).toBe(syncState);
  });

  test("whose activation does not arrive is activated again", async () => {
    const { reconcile, state, activated } = world();
    state.answer = new Fault("unreachable", "nobody answers");
    await expect(reconcile()).rejects.toThrow("nobody answers");
    state.answer = undefined;
    await reconcile();
    expect(activated).toHaveLength(2);
  });

  test.each<[string, (state: ReturnType<typeof world>) => unknown]>([
    ["it ended", ({ cache }) => cache.update("requester", ended("Expired"))],
    [
      "its request is gone",
      ({ state }) => {
        state.origin = { kind: "gone" };
      },
    ],
  ])("goes when %s, but not before the data plane is cleared", async (_, act) => {
    const it = world();
    await it.reconcile();
    act(it);
    it.state.isRemoved = false;
    expect((await it.reconcile()).requeueAfterMs).toBe(400);
    expect(it.find()?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: "Clean", status: "False", reason: "Draining" }),
    );
    await it.reconcile();
    it.state.isRemoved = true;
    await it.reconcile();
    expect(it.find()).toBeUndefined();
    expect(it.events.slice(1).map(({ reason }) => reason)).toEqual(["CleanupTrouble", "Cleaned"]);
    expect(it.heard).toEqual([id, id]);
    expect(it.controller.releaseState(id)).toEqual({ kind: "clean" });
  });

  test("that is gone already is gone", async () => {
    const { reconcile, cache, cluster } = world();
    await reconcile();
    cache.update("requester", ended("Expired"));
    cluster.setCallFaults(({ verb }) =>
      verb === "delete" ? { fault: new Fault("not-found", "gone"), isDone: true } : undefined,
    );
    await expect(reconcile()).resolves.toEqual({});
  });

  test("is brought in with what its request says of pods", async () => {
    const { reconcile, state, specs } = world();
    const request = aRequest();
    const offload = { namespaces: ["shop"] };
    state.origin = { kind: "request", request: { ...request, spec: { ...request.spec, offload } } };
    await reconcile();
    expect(specs).toMatchObject([{ reservation: { id }, offload }]);
  });

  test("that the broker does not know is looked at, and nothing new is made for it", async () => {
    const { reconcile, cache, find, specs } = world();
    cache.markUnknown(id);
    await reconcile();
    expect(specs).toEqual([]);
    expect(find()?.status?.conditions?.[0]?.message).toBe("only looked at");
  });

  test("that is stalled is reported once for each reason", async () => {
    const { reconcile, state, events } = world();
    for (const reason of ["PeeringFailed", "PeeringFailed", "SliceDenied"]) {
      state.dataPlane = { kind: "working", reason, message: reason, retryAfterMs: 1, isStalled: true };
      await reconcile();
    }
    expect(events.map(({ reason, message }) => [reason, message])).toEqual([
      ["DataPlaneTrouble", "PeeringFailed"],
      ["DataPlaneTrouble", "SliceDenied"],
    ]);
  });

  test("is reported when a step that was all right becomes a problem, while it comes and while it goes", async () => {
    const { reconcile, state, events, cache } = world();
    const working = { kind: "working", retryAfterMs: 1000, message: "not yet" } as const;
    for (const isStalled of [false, true, true]) {
      state.dataPlane = { ...working, reason: "NodeNotReady", isStalled };
      await reconcile();
    }
    expect(events.map(({ reason }) => reason)).toEqual(["DataPlaneTrouble"]);
    cache.update("requester", ended("Expired"));
    for (const isStalled of [false, true, true]) {
      state.release = { ...working, reason: "SliceLeaving", isStalled };
      await reconcile();
    }
    expect(events.map(({ reason }) => reason)).toEqual(["DataPlaneTrouble", "CleanupTrouble"]);
  });

  test("whose instruction went with its request is taken down all the same", async () => {
    const { reconcile, state, cluster, controller } = world();
    await reconcile();
    cluster.remove(RESERVATION_INSTRUCTIONS, { name: id, namespace: "default" });
    state.origin = { kind: "gone" };
    state.isRemoved = false;
    expect(await reconcile()).toMatchObject({ requeueAfterMs: 400 });
    state.isRemoved = true;
    await reconcile();
    expect(controller.releaseState(id)).toEqual({ kind: "clean" });
  });

  test("that nobody remembers is taken down when it was found", async () => {
    const { controller, state } = world();
    const orphan = "rsv-rome-forgotten";
    state.isRemoved = false;
    expect(await controller.reconcile(orphan)).toEqual({});
    controller.markOrphan(orphan);
    expect(await controller.reconcile(orphan)).toMatchObject({ requeueAfterMs: 400 });
    state.isRemoved = true;
    expect(await controller.reconcile(orphan)).toEqual({});
    state.isRemoved = false;
    expect(await controller.reconcile(orphan)).toEqual({});
  });

  test("that was clean and is found again is taken down again", async () => {
    const { reconcile, controller, state, cache } = world();
    await reconcile();
    cache.update("requester", ended("Expired"));
    await reconcile();
    state.isRemoved = false;
    expect(await reconcile()).toEqual({});
    controller.markOrphan(id);
    expect(await reconcile()).toMatchObject({ requeueAfterMs: 400 });
  });

  test("is forgotten with the cache", async () => {
    const { reconcile, controller, cache, time } = world();
    await reconcile();
    cache.update("requester", ended("Expired"));
    await reconcile();
    controller.prune();
    expect(controller.releaseState(id)).toBeDefined();
    await time.advance(25 * 3_600_000);
    cache.prune();
    controller.prune();
    expect(controller.releaseState(id)).toBeUndefined();
  });
});
