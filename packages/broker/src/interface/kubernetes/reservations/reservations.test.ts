import {
  KUBE_ANNOTATION,
  KUBE_LABEL,
  RESERVATION_FINALIZER,
  type Reservation,
} from "@resource-broker/contract/crd";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RESERVATIONS } from "../objects/object-informers.ts";
import { openEnvironment, type TestBroker, type TestEnvironment } from "../testing/environment.ts";
import { agentsReservation, named, personsReservation, sendSignal } from "../testing/samples.ts";

const SLICE_DEFAULTS = { pods: 50, ephemeralStorage: "5Gi" };
let env: TestEnvironment;
let broker: TestBroker;
beforeAll(async () => {
  env = await openEnvironment();
  broker = await env.startBroker({
    policy: { maxTtlMs: 48 * 60 * 60 * 1000, quotas: { poor: { cpuMillis: 1000 } }, stalenessMs: 1e12 },
    sliceDefaults: () => SLICE_DEFAULTS,
  });
  await env.lend("paris", { cpu: 64 });
  await env.lend("berlin", { cpu: 8 });
});
afterAll(() => env.stop());

const eventsTell = (name: string, ...reasons: string[]) =>
  env.until("Events tell of it", async () => {
    const told = (await env.eventsOf(name)).map(({ reason }) => reason);
    return reasons.every((reason) => told.includes(reason)) || undefined;
  });

test("a person's Reservation gets the best cluster, is used, and is released by deleting it", async () => {
  await env.create(personsReservation("best"));
  const { metadata, spec, status } = await env.inPhase("best", "Reserved");
  expect(spec.targetClusterID).toBe("paris");
  expect(metadata.finalizers).toEqual([RESERVATION_FINALIZER]);
  expect(metadata.labels).toEqual({ [KUBE_LABEL.requester]: "rome", [KUBE_LABEL.target]: "paris" });
  expect(status).toMatchObject({
    message: "Use paris for 0.5 CPU / 512Mi Memory",
    generation: 1,
    sliceDefaults: SLICE_DEFAULTS,
    ledgerID: broker.engine.ledgerId,
  });
  expect(JSON.parse(status?.decision ?? "{}")).toMatchObject({ winner: "paris", considered: 2 });
  // The key, which is the object's UID here, lets its bearer release the reservation.
  expect(JSON.stringify(status)).not.toContain(metadata.uid);
  await env.remove("best");
  await env.gone("best");
  expect(broker.engine.ledger.reservations.get(status?.reservationID ?? "")).toMatchObject({
    phase: "Released",
    reason: "ReleasedByRequester",
  });
});

test("one that fits nowhere is refused with a reason for each cluster, and held no longer", async () => {
  const requestedResources = { cpu: "60", memory: "1Gi" };
  await env.create(personsReservation("huge", { targetClusterID: "berlin", requestedResources }));
  const { status } = await env.inPhase("huge", "Failed");
  expect(status).toMatchObject({ reason: "NoCapacity", code: "no-capacity" });
  expect(status?.message).toContain("berlin: needs");
  expect(status?.explanation).toContain("paris");
  await env.reservation("huge", ({ metadata: { finalizers = [] } }) => finalizers.length === 0);
  await eventsTell("huge", "Refused");
});

const ASKED = { requesterID: "poor", requestedResources: { cpu: "2", memory: "1Gi" } };
test.each([
  ["over-its-quota", ASKED, { reason: "NoCapacity", code: "quota-exceeded" }],
  ["for-too-long", { duration: "72h" }, { reason: "Invalid", code: "ttl-too-long" }],
])("one that asks %s is refused", async (name, spec, expected) => {
  await env.create(personsReservation(name, spec));
  expect((await env.inPhase(name, "Failed")).status).toMatchObject(expected);
});

test("one without a requester is served within the quota of nobody, and else refused", async () => {
  const spec = { requestedResources: { cpu: "1", memory: "1Gi" } };
  await env.create({ ...personsReservation("nobodys"), spec });
  expect((await env.inPhase("nobodys", "Failed")).status?.code).toBe("invalid");
  const { engine } = broker;
  const strict = engine.policy;
  engine.setPolicy({ ...strict, quotas: { ...strict.quotas, nobody: { cpuMillis: 1000 } } });
  await env.create({ ...personsReservation("anybodys"), spec });
  await env.inPhase("anybodys", "Reserved");
  await env.create({ ...personsReservation("anybody-more"), spec });
  await env.inPhase("anybody-more", "Failed");
  engine.setPolicy(strict);
});

test("an agent's that was refused is decided again when it is deleted and created again", async () => {
  const object = agentsReservation("key-2", { requestedResources: { cpu: "70", memory: "1Gi" } });
  const { name } = object.metadata;
  await env.create(object);
  await env.inPhase(name, "Failed");
  await env.remove(name);
  await env.gone(name);
  await env.lend("tokyo", { cpu: 128 });
  await env.create(object);
  expect((await env.inPhase(name, "Reserved")).status?.reservationID).toBe(name);
});

test("an agent's whose key was closed before is refused", async () => {
  const { metadata, spec } = agentsReservation("key-3");
  await env.create(personsReservation(metadata.name, { intent: "Release", key: "key-3" }));
  expect((await env.inPhase(metadata.name, "Released")).status?.reservationID).toBeUndefined();
  await env.remove(metadata.name);
  await env.gone(metadata.name);
  await env.create({ ...personsReservation(metadata.name), spec });
  expect((await env.inPhase(metadata.name, "Failed")).status?.code).toBe("key-released");
});

test("a Quote says what would happen, holds nothing, and is deleted after ten minutes", async () => {
  const before = broker.engine.commitNumber;
  const requestedResources = { cpu: "900", memory: "1Gi" };
  await env.create(personsReservation("fits", { intent: "Quote" }));
  await env.create(personsReservation("does-not", { intent: "Quote", requestedResources }));
  const { status, metadata } = await env.reservation("fits", (object) => object.status?.fits === true);
  expect([status?.phase, metadata.finalizers ?? []]).toEqual([undefined, []]);
  const refused = await env.reservation("does-not", (object) => object.status?.fits === false);
  expect(refused.status?.message).toContain("berlin: needs");
  expect(broker.engine.commitNumber).toBe(before);
  await env.time.advance(10 * 60 * 1000);
  await env.gone("fits");
  await env.gone("does-not");
});

test("an offer of a stranger is refused; of one party it waits, and it is adopted when both agree", async () => {
  const id = "rsv-rome-abcdefghijklmnop";
  const offer = (by: string): Promise<Reservation> => {
    const held = { id, by, phase: "Active", generation: 3, createdAt: "2020-01-01T00:00:00Z" } as const;
    const spec = { targetClusterID: "paris", offer: by === "rome" ? { ...held, key: "old-key" } : held };
    return env.create(personsReservation(`${id}-offer-${by}`, { intent: "Adopt", ...spec }));
  };
  const outcomeOf = (by: string, outcome: string) =>
    env.reservation(`${id}-offer-${by}`, ({ status }) => status?.outcome === outcome);
  await offer("tokyo");
  expect((await outcomeOf("tokyo", "refused")).status).toMatchObject({ code: "forbidden" });
  await offer("paris");
  await outcomeOf("paris", "waiting");
  await offer("rome");
  await outcomeOf("rome", "adopted");
  await outcomeOf("paris", "adopted");
  const adopted = broker.engine.ledger.reservations.get(id);
  expect(adopted).toMatchObject({ phase: "Active", key: "old-key", generation: 4 });
});

test("signals activate, acknowledge and release, each seen in status and Events", async () => {
  await env.create(personsReservation("words"));
  await env.inPhase("words", "Reserved");
  await sendSignal(env.client, "words", { type: "providerHolding" });
  await env.reservation("words", ({ status }) =>
    (status?.conditions ?? []).some(({ type, status: is }) => type === "Ready" && is === "True"),
  );
  await sendSignal(env.client, "words", { type: "requesterActive" });
  await env.inPhase("words", "Active");
  await sendSignal(env.client, "words", { type: "requesterReleased" });
  const { status } = await env.inPhase("words", "Released");
  expect(status).toMatchObject({ reason: "ReleasedByRequester", generation: 4 });
  const types = (status?.conditions ?? []).map(({ type }) => type).toSorted();
  expect(types).toEqual(["ProviderHolding", "Ready", "RequesterActive", "RequesterReleased", "Reserved"]);
  await eventsTell("words", "Reserved", "Activated", "Released");
});

test.each([
  { name: "is carried out", text: "2h b", code: undefined, message: /expires at/ },
  { name: "is refused with its reason", text: "9000h a", code: "ttl-too-long", message: /longer than/ },
  { name: "of several lines is refused", text: "2h\nplease", code: "invalid", message: /one line/ },
  { name: "too long to repeat is refused", text: `2h ${"x".repeat(300)}`, code: "invalid", message: /253/ },
])("a renewal that $name, once, and the object continues", async ({ text, code, message }) => {
  const name = `renewed-${text.length}-${code ?? "well"}`;
  await env.create(personsReservation(name, { requesterID: "oslo", duration: "1h" }));
  const { status: before } = await env.inPhase(name, "Reserved");
  await env.client.patch(RESERVATIONS, {
    name: named(name),
    patch: { kind: "merge", body: { metadata: { annotations: { [KUBE_ANNOTATION.renew]: text } } } },
  });
  const { status } = await env.reservation(name, (object) => object.status?.renewed !== undefined);
  expect(status?.code).toBe(code);
  const reason = code === undefined ? "Renewed" : "RenewalRefused";
  await eventsTell(name, reason);
  const told = (await env.eventsOf(name)).filter((event) => event.reason === reason);
  expect(told.map((event) => event.message)).toEqual([expect.stringMatching(message)]);
  expect(status?.expiresAt !== before?.expiresAt).toBe(code === undefined);
  await sendSignal(env.client, name, { type: "requesterActive" });
  await env.inPhase(name, "Active");
});
