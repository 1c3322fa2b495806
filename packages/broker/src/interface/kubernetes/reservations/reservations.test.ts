import {
  KUBE_ANNOTATION,
  KUBE_LABEL,
  type Reservation,
  RESERVATION_FINALIZER,
} from "@resource-broker/contract";
import { isLive } from "@resource-broker/domain";
import { CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES } from "@resource-broker/kube";
import { memoryDisk } from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { identify } from "../forge/identify.ts";
import { RESERVATIONS } from "../objects/resources.ts";
import { agentsWish, publish, say, wish } from "../testing/samples.ts";
import {
  definitions,
  NAMESPACE,
  namespaceObject,
  openScene,
  type Scene,
  type SceneBroker,
} from "../testing/scene.ts";

const PARTS = {
  policy: { maxTtlMs: 48 * 60 * 60 * 1000, quotas: { poor: { cpuMillis: 1000 } }, stalenessMs: 1e12 },
};

let scene: Scene;
let broker: SceneBroker;
beforeAll(async () => {
  scene = await openScene();
  broker = await scene.startBroker(PARTS);
  await publish(scene.client, "paris", { cpu: 64 });
  await publish(scene.client, "berlin", { cpu: 8 });
  await scene.advertisement("paris", ({ status }) => status?.active === true);
  await scene.advertisement("berlin", ({ status }) => status?.active === true);
});
afterAll(() => scene.stop());

const create = (object: Reservation) => scene.client.create(RESERVATIONS, object);
const remove = (name: string) => scene.client.delete(RESERVATIONS, { name, namespace: NAMESPACE });
const inPhase = (name: string, phase: string) =>
  scene.reservation(name, ({ status }) => status?.phase === phase);
const annotate = (name: string, annotations: object) =>
  scene.client.patch(RESERVATIONS, {
    name: { name, namespace: NAMESPACE },
    patch: { kind: "merge", body: { metadata: { annotations } } },
  });
const reservationOf = (object: Reservation) =>
  broker.engine.ledger.reservations.get(object.status?.reservationID ?? "");

describe("a person's Reservation", () => {
  test("gets the best cluster, with labels, target, decision and the finalizer", async () => {
    await create(wish("best"));
    const { metadata, spec, status } = await inPhase("best", "Reserved");
    expect(spec.targetClusterID).toBe("paris");
    expect(metadata.finalizers).toEqual([RESERVATION_FINALIZER]);
    expect(metadata.labels).toEqual({ [KUBE_LABEL.requester]: "rome", [KUBE_LABEL.target]: "paris" });
    expect(status).toMatchObject({
      message: "Use paris for 0.5 CPU / 512Mi Memory",
      generation: 1,
      ledgerID: broker.engine.ledgerId,
    });
    expect(JSON.parse(status?.decision ?? "{}")).toMatchObject({ winner: "paris", considered: 2 });
    expect(await scene.eventsOf("best")).toContain("Reserved");
  });

  test("gets the cluster that it names", async () => {
    await create(wish("named", { targetClusterID: "berlin" }));
    expect((await inPhase("named", "Reserved")).spec.targetClusterID).toBe("berlin");
  });

  test("is refused with a reason for each cluster, and held no longer", async () => {
    await create(
      wish("huge", { targetClusterID: "berlin", requestedResources: { cpu: "60", memory: "1Gi" } }),
    );
    const { status } = await inPhase("huge", "Failed");
    expect(status).toMatchObject({ reason: "NoCapacity", code: "no-capacity" });
    expect(status?.message).toContain("berlin: needs");
    expect(status?.explanation).toContain("paris");
    const { metadata } = await scene.reservation(
      "huge",
      ({ metadata: { finalizers = [] } }) => finalizers.length === 0,
    );
    expect(metadata.labels?.[KUBE_LABEL.target]).toBeUndefined();
    expect(await scene.eventsOf("huge")).toContain("Refused");
  });

  test.each([
    [
      "over its quota",
      { requesterID: "poor", requestedResources: { cpu: "2", memory: "1Gi" } },
      "NoCapacity",
      "quota-exceeded",
    ],
    ["for longer than the policy allows", { duration: "72h" }, "Invalid", "ttl-too-long"],
    ["for half a GPU", { requestedResources: { cpu: "1", memory: "1Gi", gpu: "0.5" } }, "Invalid", "invalid"],
  ])("is refused when it asks %s", async (name, spec, reason, code) => {
    const object = wish(
      name
        .replaceAll(/[^a-z]/gu, "")
        .toLowerCase()
        .slice(0, 30),
      spec,
    );
    await create(object);
    expect((await inPhase(object.metadata.name, "Failed")).status).toMatchObject({ reason, code });
  });

  test("is released by deleting it, and the object goes only then", async () => {
    await create(wish("short"));
    const object = await inPhase("short", "Reserved");
    await remove("short");
    await scene.gone("short");
    expect(reservationOf(object)).toMatchObject({ phase: "Released", reason: "ReleasedByRequester" });
    await scene.until(
      "an Event tells of it",
      async () => (await scene.eventsOf("short")).includes("Released") || undefined,
    );
  });

  test("ends by itself after its duration, and stays to be seen", async () => {
    await create(wish("brief", { duration: "5s" }));
    await inPhase("brief", "Reserved");
    await scene.time.advance(5000);
    const { status, metadata } = await inPhase("brief", "Released");
    expect(status).toMatchObject({ reason: "Expired" });
    expect(metadata.finalizers ?? []).toEqual([]);
    await remove("brief");
    await scene.gone("brief");
  });

  test("without a requester is made for nobody", async () => {
    const { requesterID: _, ...spec } = wish("x").spec;
    await create({ ...wish("anybody"), spec });
    const object = await inPhase("anybody", "Reserved");
    expect(reservationOf(object)?.requester).toBe("nobody");
  });
});

describe("the parties' words", () => {
  test("activate, acknowledge and release, each seen in status and Events", async () => {
    await create(wish("words"));
    await inPhase("words", "Reserved");
    await say(scene.client, "words", { type: "providerHolding" });
    await scene.reservation("words", ({ status }) =>
      (status?.conditions ?? []).some(({ type, status: is }) => type === "Ready" && is === "True"),
    );
    await say(scene.client, "words", { type: "requesterActive" });
    await inPhase("words", "Active");
    await say(scene.client, "words", { type: "requesterReleased" });
    const { status } = await inPhase("words", "Released");
    expect(status).toMatchObject({ reason: "ReleasedByRequester", generation: 4 });
    const types = (status?.conditions ?? []).map(({ type }) => type).toSorted();
    expect(types).toEqual(["ProviderHolding", "Ready", "RequesterActive", "RequesterReleased", "Reserved"]);
    await scene.until("Events tell of it", async () => {
      const events = await scene.eventsOf("words");
      return ["Reserved", "Activated", "Released"].every((reason) => events.includes(reason)) || undefined;
    });
  });

  test("of a provider that cannot hold it end it with its reason", async () => {
    await create(wish("unheld"));
    await inPhase("unheld", "Reserved");
    await say(scene.client, "unheld", {
      type: "providerHolding",
      status: "False",
      reason: "Refused",
      message: "the disk is broken",
    });
    const { status } = await inPhase("unheld", "Failed");
    expect(status).toMatchObject({
      reason: "ProviderRefused",
      message: "Failed (ProviderRefused: the disk is broken)",
    });
  });

  test("make it last longer, once for each wish", async () => {
    await create(wish("longer", { requesterID: "oslo", duration: "1h" }));
    await inPhase("longer", "Reserved");
    await annotate("longer", { [KUBE_ANNOTATION.renew]: "2h first" });
    const { status } = await scene.reservation(
      "longer",
      (object) => object.status?.renewed === "2h first" && object.status.generation === 2,
    );
    const lastsMs = Date.parse(status?.expiresAt ?? "") - Date.parse(status?.reservedAt ?? "");
    expect(lastsMs).toBeGreaterThan(7_199_000);
    await annotate("longer", { other: "change" });
    await scene.time.advance(1000);
    expect((await scene.reservation("longer")).status?.expiresAt).toBe(status?.expiresAt);
  });

  test.each([
    ["too long", "9000h a", "ttl-too-long"],
    ["no duration", "soon b", "invalid"],
  ])("are answered when a renewal is refused because it is %s", async (why, text, code) => {
    const name = why.replace(" ", "-");
    await create(wish(name, { requesterID: "oslo", duration: "1h" }));
    const { status: before } = await inPhase(name, "Reserved");
    await annotate(name, { [KUBE_ANNOTATION.renew]: text });
    const { status } = await scene.reservation(
      name,
      (object) => object.status?.message?.includes("renewal was refused") === true,
    );
    expect(status).toMatchObject({ renewed: text, code, expiresAt: before?.expiresAt, phase: "Reserved" });
    await annotate(name, { [KUBE_ANNOTATION.renew]: "90m again" });
    const renewed = await scene.reservation(
      name,
      (object) => object.status?.renewed === "90m again" && !object.status.message?.includes("refused"),
    );
    expect(renewed.status?.code).toBeUndefined();
  });
});

describe("an agent's Reservation", () => {
  test("bears the name of the reservation, and is the same one when it is created again", async () => {
    const object = agentsWish("key-1");
    await create(object);
    const { status } = await inPhase(object.metadata.name, "Reserved");
    expect(status?.reservationID).toBe(object.metadata.name);
    await expect(create(object)).rejects.toMatchObject({ code: "already-exists" });
  });

  test("that was refused is decided anew when it is deleted and created again", async () => {
    const object = agentsWish("key-2", { requestedResources: { cpu: "70", memory: "1Gi" } });
    await create(object);
    const { metadata } = await inPhase(object.metadata.name, "Failed");
    await remove(object.metadata.name);
    await scene.gone(object.metadata.name);
    await publish(scene.client, "tokyo", { cpu: 128 });
    await scene.advertisement("tokyo", ({ status }) => status?.active === true);
    await create(object);
    const again = await inPhase(object.metadata.name, "Reserved");
    expect(again.metadata.uid).not.toBe(metadata.uid);
    await remove(object.metadata.name);
    await scene.gone(object.metadata.name);
  });

  test("whose key was closed before is refused", async () => {
    const { metadata, spec } = agentsWish("key-3");
    await create({ ...wish(metadata.name, { intent: "Release", requesterID: "rome", key: "key-3" }) });
    expect((await inPhase(metadata.name, "Released")).status?.reservationID).toBeUndefined();
    await remove(metadata.name);
    await scene.gone(metadata.name);
    await create({ ...wish(metadata.name), spec });
    expect((await inPhase(metadata.name, "Failed")).status?.code).toBe("key-released");
  });
});

describe("a Quote", () => {
  test("says what would happen, holds nothing, and is deleted after ten minutes", async () => {
    const before = broker.engine.commitNumber;
    await create(wish("fits", { intent: "Quote" }));
    await create(wish("does-not", { intent: "Quote", requestedResources: { cpu: "900", memory: "1Gi" } }));
    const { status, metadata } = await scene.reservation("fits", (object) => object.status?.fits === true);
    expect(status?.phase).toBeUndefined();
    expect(metadata.finalizers ?? []).toEqual([]);
    expect(JSON.parse(status?.decision ?? "{}")).toMatchObject({ considered: expect.any(Number) });
    const refused = await scene.reservation("does-not", (object) => object.status?.fits === false);
    expect(refused.status?.message).toContain("berlin: needs");
    expect(broker.engine.commitNumber).toBe(before);
    await scene.time.advance(10 * 60 * 1000);
    await scene.gone("fits");
    await scene.gone("does-not");
  });
});

describe("an offer", () => {
  test("waits for the other party, is adopted when both agree, and is deleted after ten minutes", async () => {
    const id = "rsv-rome-abcdefghijklmnop";
    const offer = (by: string) =>
      wish(`${id}-offer-${by}`, {
        intent: "Adopt",
        targetClusterID: "paris",
        offer: {
          id,
          by,
          phase: "Active",
          generation: 3,
          createdAt: new Date(scene.time.wallMs()).toISOString(),
          ...(by === "rome" ? { key: "old-key" } : {}),
        },
      });
    await create(offer("paris"));
    await scene.reservation(`${id}-offer-paris`, ({ status }) => status?.outcome === "waiting");
    await create(offer("rome"));
    await scene.reservation(`${id}-offer-rome`, ({ status }) => status?.outcome === "adopted");
    await scene.reservation(`${id}-offer-paris`, ({ status }) => status?.outcome === "adopted");
    expect(broker.engine.ledger.reservations.get(id)).toMatchObject({
      phase: "Active",
      key: "old-key",
      generation: 4,
    });
    await scene.time.advance(10 * 60 * 1000);
    await scene.gone(`${id}-offer-paris`);
    await scene.gone(`${id}-offer-rome`);
  });

  test("of a stranger is refused", async () => {
    const id = "rsv-rome-bbbbbbbbbbbbbbbb";
    await create(
      wish(`${id}-offer-tokyo`, {
        intent: "Adopt",
        targetClusterID: "paris",
        offer: { id, by: "tokyo", phase: "Active", generation: 3, createdAt: "2026-01-05T10:00:00Z" },
      }),
    );
    const { status } = await scene.reservation(
      `${id}-offer-tokyo`,
      (object) => object.status?.outcome === "refused",
    );
    expect(status).toMatchObject({ code: "forbidden" });
  });
});

describe("an ended Reservation", () => {
  test("of an agent is deleted after a day, of a person it stays", async () => {
    const agents = agentsWish("day-1", { duration: "1s" });
    await create(agents);
    await create(wish("day-2", { duration: "1s" }));
    await inPhase(agents.metadata.name, "Released");
    await inPhase("day-2", "Released");
    await broker.stop();
    await scene.time.advance(24 * 60 * 60 * 1000);
    broker = await scene.startBroker({ ...PARTS, disk: broker.disk });
    await scene.gone(agents.metadata.name);
    const { id } = identify(agents);
    expect(broker.engine.ledger.reservations.has(id)).toBe(false);
    expect((await scene.reservation("day-2")).status?.phase).toBe("Released");
  });
});

describe("a broker without its memory", () => {
  test("decides nothing again, marks what it does not know, and lets it be deleted", async () => {
    const other = await openScene();
    try {
      const first = await other.startBroker();
      await publish(other.client, "paris");
      await other.advertisement("paris", ({ status }) => status?.active === true);
      await other.client.create(RESERVATIONS, wish("lost"));
      await other.reservation("lost", ({ status }) => status?.phase === "Reserved");
      await first.stop();
      const second = await other.startBroker({ disk: memoryDisk() });
      const { status } = await other.reservation("lost", (object) =>
        (object.status?.conditions ?? []).some(
          ({ type, status: is }) => type === "Orphaned" && is === "True",
        ),
      );
      expect(status?.phase).toBe("Reserved");
      expect(second.engine.ledger.reservations.size).toBe(0);
      await other.client.delete(RESERVATIONS, { name: "lost", namespace: NAMESPACE });
      await other.gone("lost");
    } finally {
      await other.stop();
    }
  });
});

describe("deleting the place of all objects", () => {
  const DEFINITION = { name: "reservations.broker.fluidos.eu" };

  test.each([
    [
      "namespace",
      (place: Scene) => place.client.delete(NAMESPACES, { name: NAMESPACE }),
      () => [namespaceObject()],
    ],
    [
      "definition",
      (place: Scene) => place.client.delete(CUSTOM_RESOURCE_DEFINITIONS, DEFINITION),
      definitions,
    ],
  ])("(the %s) releases nothing and is not held up", async (_, deletePlace, back) => {
    const other = await openScene();
    try {
      const own = await other.startBroker({ policy: { stalenessMs: 1e12 } });
      await publish(other.client, "paris");
      await other.advertisement("paris", ({ status }) => status?.active === true);
      await other.client.create(RESERVATIONS, wish("kept"));
      await other.client.create(RESERVATIONS, agentsWish("kept-too"));
      await other.reservation("kept", ({ status }) => status?.phase === "Reserved");
      await other.reservation(
        agentsWish("kept-too").metadata.name,
        ({ status }) => status?.phase === "Reserved",
      );
      await deletePlace(other);
      await other.until("the place is gone", async () => {
        const [namespace, definition] = [
          await other.client.find(NAMESPACES, { name: NAMESPACE }),
          await other.client.find(CUSTOM_RESOURCE_DEFINITIONS, DEFINITION),
        ];
        return namespace === undefined || definition === undefined ? true : undefined;
      });
      other.cluster.seed(back());
      await other.until("there can be objects again", () => other.client.create(RESERVATIONS, wish("again")));
      await other.reservation("again", ({ status }) => status?.phase === "Reserved");
      const live = [...own.engine.ledger.reservations.values()].filter(({ phase }) => isLive(phase));
      expect(live).toHaveLength(3);
    } finally {
      await other.stop();
    }
  });
});
