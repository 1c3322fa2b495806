import { Fault, type FaultCode, type ReservationInstruction } from "@resource-broker/contract";
import { fakeTime } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import type { DataPlaneState } from "../data-plane/data-plane.ts";
import type { Occurrence } from "../events/tell.ts";
import { reservationBook } from "../reservations/reservation-book.ts";
import { fakeCluster } from "../testing/fake-cluster.ts";
import { aRequest, aReservation, ended, UID } from "../testing/samples.ts";
import { borrowingController, type Origin, RESERVATION_INSTRUCTIONS } from "./borrowing-controller.ts";

const { id } = aReservation();
const ready: DataPlaneState = { kind: "ready", reason: "VirtualNodeReady", message: "the node is ready" };

function world() {
  const time = fakeTime();
  const cluster = fakeCluster(time);
  const book = reservationBook({ clusterId: "rome", now: time.wallMs });
  const events: Occurrence[] = [];
  const activated: string[] = [];
  const state: { origin: Origin; dataPlane: DataPlaneState; isRemoved: boolean; answer: Fault | undefined } =
    {
      origin: { kind: "request", request: aRequest() },
      dataPlane: ready,
      isRemoved: true,
      answer: undefined,
    };
  const find = (): ReservationInstruction | undefined =>
    cluster.find(RESERVATION_INSTRUCTIONS, { name: id, namespace: "default" });
  const controller = borrowingController({
    book,
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
    dataPlane: { ensure: async () => state.dataPlane, remove: async () => state.isRemoved },
    broker: () => ({ now: time.wallMs(), isSilent: false }),
    machine: time,
    tell: (occurrence) => void events.push(occurrence),
    namespace: "default",
  });
  book.learn("requester", aReservation());
  return { time, cluster, book, events, activated, state, find, reconcile: () => controller.reconcile(id) };
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
  ])("whose activation is answered with %s is kept, and %s", async (code, standing) => {
    const { reconcile, state, find, book } = world();
    state.answer = new Fault(code, code);
    await reconcile();
    expect(find()).toBeDefined();
    expect(book.get("requester", id)?.standing).toBe(standing);
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
    ["it ended", ({ book }) => book.learn("requester", ended("Expired"))],
    [
      "its request is gone",
      ({ state }) => {
        state.origin = { kind: "gone" };
      },
    ],
  ])("goes when %s, but not before the data plane is cleared", async (_, happen) => {
    const it = world();
    await it.reconcile();
    happen(it);
    it.state.isRemoved = false;
    expect((await it.reconcile()).requeueAfterMs).toBeGreaterThan(0);
    expect(it.find()).toBeDefined();
    it.state.isRemoved = true;
    await it.reconcile();
    expect(it.find()).toBeUndefined();
  });

  test("that is gone already is gone", async () => {
    const { reconcile, book, cluster } = world();
    await reconcile();
    book.learn("requester", ended("Expired"));
    cluster.setMishaps(({ verb }) =>
      verb === "delete" ? { fault: new Fault("not-found", "gone"), isDone: true } : undefined,
    );
    await expect(reconcile()).resolves.toEqual({});
  });
});
