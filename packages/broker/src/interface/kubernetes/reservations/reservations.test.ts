import { KUBE_LABEL, RESERVATION_FINALIZER, type Reservation } from "@resource-broker/contract/crd";
import { describe, expect, test } from "vitest";
import { identify } from "../builders/identify.ts";
import { agentsReservation, personsReservation } from "../testing/samples.ts";
import { advertiseProvider, reservationsHub } from "./testing/reservations-hub.ts";

const SLICE_DEFAULTS = { pods: 50, ephemeralStorage: "5Gi" };
const hub = reservationsHub({
  broker: {
    policy: { maxTtlMs: 48 * 60 * 60 * 1000, quotas: { poor: { cpuMillis: 1000 } }, stalenessMs: 1e12 },
    sliceDefaults: () => SLICE_DEFAULTS,
  },
  providers: { paris: 64, berlin: 8 },
});
const { create, remove, inPhase } = hub;
const reservationOf = (object: Reservation) =>
  hub.broker.engine.ledger.reservations.get(object.status?.reservationID ?? "");

describe("a person's Reservation", () => {
  test("gets the best cluster, with labels, target, decision and the finalizer", async () => {
    await create(personsReservation("best"));
    const { metadata, spec, status } = await inPhase("best", "Reserved");
    expect(spec.targetClusterID).toBe("paris");
    expect(metadata.finalizers).toEqual([RESERVATION_FINALIZER]);
    expect(metadata.labels).toEqual({ [KUBE_LABEL.requester]: "rome", [KUBE_LABEL.target]: "paris" });
    expect(status).toMatchObject({
      message: "Use paris for 0.5 CPU / 512Mi Memory",
      generation: 1,
      sliceDefaults: SLICE_DEFAULTS,
      ledgerID: hub.broker.engine.ledgerId,
    });
    expect(JSON.parse(status?.decision ?? "{}")).toMatchObject({ winner: "paris", considered: 2 });
    expect(await hub.env.eventsOf("best")).toContain("Reserved");
  });

  test("gets the cluster that it names", async () => {
    await create(personsReservation("named", { targetClusterID: "berlin" }));
    expect((await inPhase("named", "Reserved")).spec.targetClusterID).toBe("berlin");
  });

  test("is refused with a reason for each cluster, and held no longer", async () => {
    await create(
      personsReservation("huge", {
        targetClusterID: "berlin",
        requestedResources: { cpu: "60", memory: "1Gi" },
      }),
    );
    const { status } = await inPhase("huge", "Failed");
    expect(status).toMatchObject({ reason: "NoCapacity", code: "no-capacity" });
    expect(status?.message).toContain("berlin: needs");
    expect(status?.explanation).toContain("paris");
    const { metadata } = await hub.env.reservation(
      "huge",
      ({ metadata: { finalizers = [] } }) => finalizers.length === 0,
    );
    expect(metadata.labels?.[KUBE_LABEL.target]).toBeUndefined();
    expect(await hub.env.eventsOf("huge")).toContain("Refused");
  });

  test.each([
    [
      "over its quota",
      { requesterID: "poor", requestedResources: { cpu: "2", memory: "1Gi" } },
      "NoCapacity",
      "quota-exceeded",
    ],
    ["for longer than the policy allows", { duration: "72h" }, "Invalid", "ttl-too-long"],
  ])("is refused when it asks %s", async (name, spec, reason, code) => {
    const object = personsReservation(
      name
        .replaceAll(/[^a-z]/gu, "")
        .toLowerCase()
        .slice(0, 30),
      spec,
    );
    await create(object);
    expect((await inPhase(object.metadata.name, "Failed")).status).toMatchObject({ reason, code });
  });

  test("for half a GPU is not even stored: the definition says what is wrong", async () => {
    const requestedResources = { cpu: "1", memory: "1Gi", gpu: "0.5" };
    await expect(create(personsReservation("half", { requestedResources }))).rejects.toThrow(
      "must be a whole number",
    );
  });

  test("is released by deleting it, and the object goes only then", async () => {
    await create(personsReservation("short"));
    const object = await inPhase("short", "Reserved");
    await remove("short");
    await hub.env.gone("short");
    expect(reservationOf(object)).toMatchObject({ phase: "Released", reason: "ReleasedByRequester" });
    await hub.env.until(
      "an Event tells of it",
      async () => (await hub.env.eventsOf("short")).includes("Released") || undefined,
    );
  });

  test("ends by itself after its duration, and stays to be seen", async () => {
    await create(personsReservation("brief", { duration: "5s" }));
    await inPhase("brief", "Reserved");
    await hub.env.time.advance(5000);
    const { status, metadata } = await inPhase("brief", "Released");
    expect(status).toMatchObject({ reason: "Expired" });
    expect(metadata.finalizers ?? []).toEqual([]);
    await remove("brief");
    await hub.env.gone("brief");
  });

  test.each([
    ["without a requester", undefined],
    ["in the name of nobody", "nobody"],
  ])("%s is refused, unless the policy has a quota for nobody: then that counts", async (_, requesterID) => {
    const { requesterID: __, ...rest } = personsReservation("x").spec;
    const spec = requesterID === undefined ? rest : { ...rest, requesterID };
    const name = requesterID === undefined ? "anybody" : "nobodys";
    await create({ ...personsReservation(name), spec });
    const { status, metadata } = await inPhase(name, "Failed");
    expect(status).toMatchObject({ reason: "Invalid", message: expect.stringContaining("spec.requesterID") });
    expect(metadata.finalizers ?? []).toEqual([]);
    const { engine } = hub.broker;
    const strict = engine.policy;
    engine.setPolicy({ ...strict, quotas: { ...strict.quotas, nobody: { cpuMillis: 500 } } });
    await create({ ...personsReservation(`${name}-allowed`), spec });
    const object = await inPhase(`${name}-allowed`, "Reserved");
    expect(reservationOf(object)?.requester).toBe("nobody");
    await create({ ...personsReservation(`${name}-more`), spec });
    await inPhase(`${name}-more`, "Failed");
    engine.setPolicy(strict);
    expect((await inPhase(`${name}-allowed`, "Reserved")).status?.phase).toBe("Reserved");
    await remove(`${name}-allowed`);
    await hub.env.gone(`${name}-allowed`);
  });
});

describe("an agent's Reservation", () => {
  test("bears the name of the reservation, and is the same one when it is created again", async () => {
    const object = agentsReservation("key-1");
    await create(object);
    const { status } = await inPhase(object.metadata.name, "Reserved");
    expect(status?.reservationID).toBe(object.metadata.name);
    await expect(create(object)).rejects.toMatchObject({ code: "already-exists" });
  });

  test("that was refused is decided again when it is deleted and created again", async () => {
    const object = agentsReservation("key-2", { requestedResources: { cpu: "70", memory: "1Gi" } });
    await create(object);
    const { metadata } = await inPhase(object.metadata.name, "Failed");
    await remove(object.metadata.name);
    await hub.env.gone(object.metadata.name);
    await advertiseProvider(hub.env, "tokyo", { cpu: 128 });
    await create(object);
    const again = await inPhase(object.metadata.name, "Reserved");
    expect(again.metadata.uid).not.toBe(metadata.uid);
    await remove(object.metadata.name);
    await hub.env.gone(object.metadata.name);
  });

  test("whose key was closed before is refused", async () => {
    const { metadata, spec } = agentsReservation("key-3");
    await create({
      ...personsReservation(metadata.name, { intent: "Release", requesterID: "rome", key: "key-3" }),
    });
    expect((await inPhase(metadata.name, "Released")).status?.reservationID).toBeUndefined();
    await remove(metadata.name);
    await hub.env.gone(metadata.name);
    await create({ ...personsReservation(metadata.name), spec });
    expect((await inPhase(metadata.name, "Failed")).status?.code).toBe("key-released");
  });
});

describe("an ended Reservation", () => {
  test("of an agent is deleted after a day, of a person it stays", async () => {
    const agents = agentsReservation("day-1", { duration: "1s" });
    await create(agents);
    await create(personsReservation("day-2", { duration: "1s" }));
    await inPhase(agents.metadata.name, "Released");
    await inPhase("day-2", "Released");
    await hub.broker.stop();
    await hub.env.time.advance(24 * 60 * 60 * 1000);
    await hub.startAgain();
    await hub.env.gone(agents.metadata.name);
    const { id } = identify(agents);
    expect(hub.broker.engine.ledger.reservations.has(id)).toBe(false);
    expect((await hub.env.reservation("day-2")).status?.phase).toBe("Released");
  });
});
