import {
  apiVersionOf,
  brokerPolicyKind,
  KUBE_ANNOTATION,
  KUBE_LABEL,
  RESERVATION_FINALIZER,
  type Reservation,
} from "@resource-broker/contract/crd";
import { isLive } from "@resource-broker/domain";
import { request } from "@resource-broker/domain/testing";
import { customResource } from "@resource-broker/kube";
import { kubeClientFor, memoryDisk } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { identify } from "../builders/identify.ts";
import { RESERVATIONS } from "../objects/object-informers.ts";
import { crashAtWrite } from "../testing/crash-at-write.ts";
import { agentsReservation, personsReservation, sendSignal } from "../testing/samples.ts";
import { pausedBeforeRefusal } from "./testing/paused-client.ts";
import { advertiseProvider, inOwnEnvironment, named, reservationsHub } from "./testing/reservations-hub.ts";

const POLICY = { stalenessMs: 1e12 };

const hub = reservationsHub({
  broker: { policy: POLICY, options: { views: true } },
  providers: { paris: 64 },
});
const { create, remove, inPhase } = hub;
const edit = (name: string, body: object, subresource?: "status") =>
  hub.env.client.patch(
    RESERVATIONS,
    { name: named(name), patch: { kind: "merge", body } },
    { fieldManager: "kubectl-edit", ...(subresource === undefined ? {} : { subresource }) },
  );
const reservation = (object: Reservation) => hub.broker.engine.ledger.reservations.get(identify(object).id);
const isReserved = (object: Reservation) => isLive(reservation(object)?.phase ?? "Failed");
/** Made over HTTP: the ledger knows it, and no object asked for it. */
const reserveOverHttp = (key: string) => {
  const object = agentsReservation(key);
  return hub.broker.engine
    .submit({
      kind: "reserve",
      requester: "rome",
      key,
      request: request(),
      reservationId: identify(object).id,
      decisionId: `dec-${key}`,
    })
    .then(() => object);
};

describe("a person who edits a status", () => {
  test("to say that it was refused loses nothing: it is Reserved again, and deleting it releases", async () => {
    const object = await create(personsReservation("denied"));
    await inPhase("denied", "Reserved");
    await edit("denied", { status: { phase: "Failed", reason: "NoCapacity" } }, "status");
    const again = await inPhase("denied", "Reserved");
    expect(again.metadata.finalizers).toEqual([RESERVATION_FINALIZER]);
    await remove("denied");
    await hub.env.gone("denied");
    expect(isReserved(object)).toBe(false);
  });

  test("and takes all of it away finds it there again, reserved once", async () => {
    const object = await create(personsReservation("wiped"));
    const before = await inPhase("wiped", "Reserved");
    await edit("wiped", { status: null }, "status");
    const { status } = await inPhase("wiped", "Reserved");
    expect(status?.decisionID).toBe(before.status?.decisionID);
    expect(reservation(object)?.generation).toBe(1);
  });
});

describe("a person who edits a request", () => {
  test.each([
    {
      changes: { duration: "9h" },
      remedy: "renew it to make it last longer (annotation broker.fluidos.eu/renew",
    },
    { changes: { priority: 99 }, remedy: "create another object instead" },
    { changes: { constraints: { excludeClusters: ["paris"] } }, remedy: "create another object instead" },
  ])(
    "that is decided is told at once that $changes has no effect, and what has",
    async ({ changes, remedy }) => {
      const name = `decided-${Object.keys(changes).join("-")}`;
      const object = await create(personsReservation(name, { duration: "1h" }));
      await inPhase(name, "Reserved");
      await expect(edit(name, { spec: changes })).rejects.toThrow(remedy);
      expect(reservation(object)?.generation).toBe(1);
    },
  );

  test("that was reserved and not answered yet is refused, gets what was reserved, and can release it", () =>
    inOwnEnvironment(async (other) => {
      const disk = memoryDisk();
      const healthy = await other.startBroker({ policy: POLICY, disk });
      await advertiseProvider(other, "paris");
      await healthy.stop();
      // Its third write would have told: the finalizer and the booking came before.
      const own = crashAtWrite(2, "before");
      const first = await other.startBroker({
        policy: POLICY,
        disk,
        client: own.client(kubeClientFor(other.cluster.kubeconfig)),
        wrapEngine: own.engine,
      });
      const object = await other.client.create(
        RESERVATIONS,
        personsReservation("impatient", { duration: "1h" }),
      );
      await other.until("the broker dies", () => Promise.resolve(own.isOver() || undefined));
      await first.stop();
      const change = { kind: "merge", body: { spec: { duration: "2h" } } } as const;
      const edited = other.client.patch(RESERVATIONS, { name: named("impatient"), patch: change });
      await expect(edited).rejects.toThrow("duration cannot be changed");
      await other.startBroker({ policy: POLICY, disk });
      const { status } = await other.reservation(
        "impatient",
        (each) => each.status?.phase !== undefined && each.status.phase !== "Pending",
      );
      expect(status?.phase).toBe("Reserved");
      await other.client.delete(RESERVATIONS, named("impatient"));
      await other.until(
        "it is released",
        async () =>
          disk.ledger.reservations.get(identify(object).id)?.reason === "ReleasedByRequester" || undefined,
      );
    }));
});

describe("a copy of an agent's Reservation under another name", () => {
  test("releases nothing when it is deleted, finalizer or not", async () => {
    const object = agentsReservation("copied");
    await create(object);
    const { metadata } = await inPhase(object.metadata.name, "Reserved");
    await hub.broker.stop();
    const copy = { ...object, metadata: { ...named("a-copy"), finalizers: [RESERVATION_FINALIZER] } };
    await create(copy);
    await remove("a-copy");
    await hub.startAgain();
    await hub.env.gone("a-copy");
    expect(isReserved(object)).toBe(true);
    expect((await inPhase(metadata.name, "Reserved")).metadata.deletionTimestamp).toBeUndefined();
  });

  test("is refused, and the view of what it copies stays", async () => {
    const object = await reserveOverHttp("shown");
    const view = await inPhase(object.metadata.name, "Reserved");
    await create({ ...object, metadata: named("another-copy") });
    expect((await inPhase("another-copy", "Failed")).status?.message).toContain(object.metadata.name);
    await hub.env.time.advance(5000);
    const still = await hub.env.client.find(RESERVATIONS, named(object.metadata.name));
    expect(still?.metadata.uid).toBe(view.metadata.uid);
  });
});

describe("a status that somebody wrote something into", () => {
  test("is the broker's again, to the last field", async () => {
    await create(personsReservation("scribbled"));
    await inPhase("scribbled", "Reserved");
    await edit("scribbled", { status: { reason: "Preempted", fits: true } }, "status");
    const { status } = await hub.env.reservation("scribbled", (each) => each.status?.reason === undefined);
    expect(status).not.toHaveProperty("fits");
    expect(status?.phase).toBe("Reserved");
  });
});

describe("a provider's refusal", () => {
  test("of many lines and characters is reported in one line of a bounded length", async () => {
    const object = await create(personsReservation("verbose", { requesterID: "oslo" }));
    await inPhase("verbose", "Reserved");
    const message = `the disk is\nbroken ${"!".repeat(30_000)}`;
    await sendSignal(hub.env.client, "verbose", {
      type: "providerHolding",
      status: "False",
      reason: "Refused",
      message,
    });
    const { status } = await inPhase("verbose", "Failed");
    expect(status?.message).toContain("the disk is broken !!!");
    expect(reservation(object)?.message).toHaveLength(512);
  });

  test("without a word says so", async () => {
    const object = await create(personsReservation("silent", { requesterID: "lima" }));
    await inPhase("silent", "Reserved");
    await sendSignal(hub.env.client, "silent", {
      type: "providerHolding",
      status: "False",
      reason: "Refused",
    });
    await inPhase("silent", "Failed");
    expect(reservation(object)?.message).toBe("the provider gave no reason");
  });
});

describe("a person's Reservation under the name of another reservation", () => {
  test("reserves nothing and makes room for its view", async () => {
    const object = await reserveOverHttp("squatted");
    const { name } = object.metadata;
    await hub.env.reservation(name, ({ status }) => status?.phase === "Reserved");
    await hub.broker.stop();
    await remove(name);
    await create(personsReservation(name));
    await hub.startAgain();
    const shown = await hub.env.reservation(
      name,
      ({ metadata, status }) => metadata.labels?.[KUBE_LABEL.view] === "true" && status?.phase === "Reserved",
    );
    expect(shown.spec.requestedResources?.cpu).toBe("4");
    const made = [...hub.broker.engine.ledger.reservations.values()].filter(
      ({ key }) => key === shown.metadata.uid,
    );
    expect(made).toEqual([]);
  });
});

describe("a renewal", () => {
  test.each([
    ["of several lines", "2h\nplease"],
    ["that is too long to be repeated", `2h ${"x".repeat(300)}`],
  ])("%s is refused once, and the object continues", async (why, text) => {
    const name = why.replaceAll(" ", "-");
    const object = await create(personsReservation(name, { duration: "1h" }));
    const { status: before } = await inPhase(name, "Reserved");
    await edit(name, { metadata: { annotations: { [KUBE_ANNOTATION.renew]: text } } });
    const { status } = await hub.env.reservation(name, (each) => each.status?.code === "invalid");
    expect(status?.message).toContain("The renewal was refused");
    expect(status?.expiresAt).toBe(before?.expiresAt);
    await sendSignal(hub.env.client, name, { type: "requesterActive" });
    await inPhase(name, "Active");
    expect(reservation(object)?.generation).toBe(2);
  });

  test("that changes nothing does not say that it lasts longer", async () => {
    await create(personsReservation("open-ended"));
    await inPhase("open-ended", "Reserved");
    await edit("open-ended", { metadata: { annotations: { [KUBE_ANNOTATION.renew]: "1h a" } } });
    await hub.env.reservation("open-ended", ({ status }) => status?.renewed === "1h a");
    const message = await hub.env.until(
      "an Event tells of it",
      async () => (await hub.env.messagesOf("open-ended", "Renewed"))[0],
    );
    expect(message).toBe("The reservation has no expiry; it lasts until it is released.");
  });
});

describe("a broker that starts", () => {
  test("decides what waits by the BrokerPolicy, never by the built-in policy", () =>
    inOwnEnvironment(async (other) => {
      const disk = memoryDisk();
      const first = await other.startBroker({ disk });
      await advertiseProvider(other, "paris");
      await first.stop();
      await other.client.create(customResource(brokerPolicyKind), {
        apiVersion: apiVersionOf(brokerPolicyKind),
        kind: "BrokerPolicy",
        metadata: named("default"),
        spec: { quotas: { rome: { cpu: "0" } } },
      });
      await other.client.create(RESERVATIONS, personsReservation("waiting"));
      await other.startBroker({ disk, options: { views: true } });
      const { status } = await other.reservation("waiting", (each) => each.status?.phase !== undefined);
      expect(status?.code).toBe("quota-exceeded");
    }));
});

describe("a leader that was paused and replaced", () => {
  test("cannot tell its refusal over what its successor granted meanwhile", () =>
    inOwnEnvironment(async (other) => {
      const own = pausedBeforeRefusal(kubeClientFor(other.cluster.kubeconfig));
      const old = await other.startBroker({ client: own.client });
      await other.client.create(RESERVATIONS, personsReservation("contested"));
      await other.until("it is about to refuse", () => Promise.resolve(own.isPaused() || undefined));
      const granted = { phase: "Reserved", reservationID: "rsv-rome-abcdefghijklmnop" } as const;
      await other.client.apply(
        RESERVATIONS,
        { metadata: named("contested"), status: granted },
        { fieldManager: "resource-broker", force: true, subresource: "status" },
      );
      own.resume();
      await old.stop();
      const { status } = await other.reservation("contested");
      expect(status?.phase).toBe("Reserved");
    }));
});
