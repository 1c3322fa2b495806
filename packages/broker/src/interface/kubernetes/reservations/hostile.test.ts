import {
  apiVersionOf,
  brokerPolicyKind,
  KUBE_LABEL,
  RESERVATION_FINALIZER,
  type Reservation,
} from "@resource-broker/contract/crd";
import { isLive } from "@resource-broker/domain";
import { customResource, type KubeClient } from "@resource-broker/kube";
import { memoryDisk } from "@resource-broker/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { identify } from "../builders/identify.ts";
import { RESERVATIONS } from "../objects/object-informers.ts";
import { crashAtWrite } from "../testing/crash-at-write.ts";
import {
  inOwnEnvironment,
  openEnvironment,
  type TestBroker,
  type TestEnvironment,
} from "../testing/environment.ts";
import { agentsReservation, named, personsReservation, sendSignal } from "../testing/samples.ts";

const POLICY = { stalenessMs: 1e12 };
const PARTS = { policy: POLICY, options: { views: true } };
let env: TestEnvironment;
let broker: TestBroker;
beforeAll(async () => {
  env = await openEnvironment();
  broker = await env.startBroker(PARTS);
  await env.lend("paris", { cpu: 64 });
});
afterAll(() => env.stop());

const restart = async (whileAway: () => Promise<unknown>): Promise<void> => {
  await broker.stop();
  await whileAway();
  broker = await env.startBroker({ ...PARTS, disk: broker.disk });
};
const scribble = (name: string, status: object | null) =>
  env.client.patch(
    RESERVATIONS,
    { name: named(name), patch: { kind: "merge", body: { status } } },
    { fieldManager: "kubectl-edit", subresource: "status" },
  );
const reservation = (object: Reservation) => broker.engine.ledger.reservations.get(identify(object).id);
/** Made over HTTP: the ledger knows it, and no object asked for it. */
const reservedOverHttp = async (key: string): Promise<Reservation> => {
  const object = agentsReservation(key);
  await broker.reserve("rome", object.metadata.name, { cpu: 4 });
  return env.inPhase(object.metadata.name, "Reserved").then(() => object);
};

test.each([
  { name: "refused", status: { phase: "Failed", reason: "NoCapacity" } },
  { name: "gone", status: null },
  { name: "something else", status: { reason: "Preempted", fits: true } },
])("a status that a person edits to say that it is $name is the broker's again", async ({ name, status }) => {
  const object = await env.create(personsReservation(name.replace(" ", "-")));
  const before = await env.inPhase(object.metadata.name, "Reserved");
  await scribble(object.metadata.name, status);
  const again = await env.reservation(
    object.metadata.name,
    (each) => each.status?.phase === "Reserved" && each.status.reason === undefined,
  );
  expect(again.status).not.toHaveProperty("fits");
  expect(again.status?.decisionID).toBe(before.status?.decisionID);
  expect(again.metadata.finalizers).toEqual([RESERVATION_FINALIZER]);
  expect(reservation(object)?.generation).toBe(1);
  await env.remove(object.metadata.name);
  await env.gone(object.metadata.name);
  expect(reservation(object)?.phase).toBe("Released");
});

test("a copy of an agent's Reservation under another name is refused, and releases nothing when deleted", async () => {
  const object = agentsReservation("copied");
  await env.create(object);
  await env.inPhase(object.metadata.name, "Reserved");
  await env.create({ ...object, metadata: named("early-copy") });
  const { status } = await env.inPhase("early-copy", "Failed");
  expect(status?.message).toContain(object.metadata.name);
  await restart(async () => {
    await env.create({ ...object, metadata: { ...named("copy"), finalizers: [RESERVATION_FINALIZER] } });
    await env.remove("copy");
  });
  await env.gone("copy");
  expect(isLive(reservation(object)?.phase ?? "Failed")).toBe(true);
});

test("a person's Reservation under the name of another one reserves nothing and makes room for its view", async () => {
  const { metadata } = await reservedOverHttp("squatted");
  await restart(async () => {
    await env.remove(metadata.name);
    await env.create(personsReservation(metadata.name));
  });
  const shown = await env.reservation(
    metadata.name,
    (each) => each.metadata.labels?.[KUBE_LABEL.view] === "true" && each.status?.phase === "Reserved",
  );
  expect(shown.spec.requestedResources?.cpu).toBe("4");
  const made = [...broker.engine.ledger.reservations.values()].filter(
    ({ key }) => key === shown.metadata.uid,
  );
  expect(made).toEqual([]);
});

test.each([
  {
    name: "verbose",
    message: `the disk is\nbroken ${"!".repeat(30_000)}`,
    told: /^the disk is broken !{3}.{490}$/,
  },
  { name: "silent", message: "", told: /^the provider gave no reason$/ },
])("a provider's refusal that is $name is told in one line of a bounded length", async (row) => {
  const { name, message, told } = row;
  const object = await env.create(personsReservation(name, { requesterID: `oslo-${name}` }));
  await env.inPhase(name, "Reserved");
  const refused = { type: "providerHolding", status: "False", reason: "Refused", message } as const;
  await sendSignal(env.client, name, refused);
  await env.inPhase(name, "Failed");
  expect(reservation(object)?.message).toMatch(told);
});

test("a request that was reserved and not answered yet cannot be edited, and gets what was reserved", () =>
  inOwnEnvironment(async (other) => {
    const disk = memoryDisk();
    const healthy = await other.startBroker({ policy: POLICY, disk });
    await other.lend("paris");
    await healthy.stop();
    // Its third write would have told: the finalizer and the booking came before.
    const own = crashAtWrite(2, "before");
    const client = own.client(other.client);
    const first = await other.startBroker({ policy: POLICY, disk, client, wrapEngine: own.engine });
    const object = await other.create(personsReservation("impatient", { duration: "1h" }));
    await other.until("the broker dies", () => Promise.resolve(own.isOver() || undefined));
    await first.stop();
    const patch = { kind: "merge", body: { spec: { duration: "2h" } } } as const;
    const edited = other.client.patch(RESERVATIONS, { name: named("impatient"), patch });
    await expect(edited).rejects.toThrow("duration cannot be changed");
    await other.startBroker({ policy: POLICY, disk });
    await other.inPhase("impatient", "Reserved");
    await other.remove("impatient");
    await other.gone("impatient");
    expect(disk.ledger.reservations.get(identify(object).id)?.reason).toBe("ReleasedByRequester");
  }));

test("a broker that starts decides what waits by the BrokerPolicy, never by the built-in policy", () =>
  inOwnEnvironment(async (other) => {
    const disk = memoryDisk();
    const first = await other.startBroker({ disk });
    await other.lend("paris");
    await first.stop();
    await other.client.create(customResource(brokerPolicyKind), {
      apiVersion: apiVersionOf(brokerPolicyKind),
      kind: "BrokerPolicy",
      metadata: named("default"),
      spec: { quotas: { rome: { cpu: "0" } } },
    });
    await other.create(personsReservation("waiting"));
    await other.startBroker({ disk, options: { views: true } });
    const { status } = await other.reservation("waiting", (each) => each.status?.phase !== undefined);
    expect(status?.code).toBe("quota-exceeded");
  }));

/** A client whose process is paused as it is about to tell a refusal. */
function pausedBeforeRefusal(own: KubeClient) {
  let resume = (): void => undefined;
  const pause = new Promise<void>((resolve) => {
    resume = resolve;
  });
  let isPaused = false;
  const apply: KubeClient["apply"] = async (resource, object, options) => {
    const { status } = object as { readonly status?: { readonly phase?: string } };
    if (status?.phase === "Failed") {
      isPaused = true;
      await pause;
    }
    return own.apply(resource, object, options);
  };
  return { client: { ...own, apply }, isPaused: () => isPaused, resume };
}

test("a leader that was paused and replaced cannot tell its refusal over what its successor granted", () =>
  inOwnEnvironment(async (other) => {
    const own = pausedBeforeRefusal(other.client);
    const old = await other.startBroker({ client: own.client });
    await other.create(personsReservation("contested"));
    await other.until("it is about to refuse", () => Promise.resolve(own.isPaused() || undefined));
    const granted = { phase: "Reserved", reservationID: "rsv-rome-abcdefghijklmnop" } as const;
    await other.client.apply(
      RESERVATIONS,
      { metadata: named("contested"), status: granted },
      { fieldManager: "resource-broker", force: true, subresource: "status" },
    );
    own.resume();
    await old.stop();
    expect((await other.findReservation("contested"))?.status?.phase).toBe("Reserved");
  }));
