import { KUBE_ANNOTATION } from "@resource-broker/contract/crd";
import { describe, expect, test } from "vitest";
import { RESERVATIONS } from "../objects/object-informers.ts";
import { personsReservation, sendSignal } from "../testing/samples.ts";
import { named, reservationsHub } from "./testing/reservations-hub.ts";

const hub = reservationsHub({
  broker: { policy: { maxTtlMs: 48 * 60 * 60 * 1000, stalenessMs: 1e12 } },
  providers: { paris: 64, berlin: 8 },
});
const { create, inPhase } = hub;
const annotate = (name: string, annotations: object) =>
  hub.env.client.patch(RESERVATIONS, {
    name: named(name),
    patch: { kind: "merge", body: { metadata: { annotations } } },
  });

describe("the parties' words", () => {
  test("activate, acknowledge and release, each seen in status and Events", async () => {
    await create(personsReservation("words"));
    await inPhase("words", "Reserved");
    await sendSignal(hub.env.client, "words", { type: "providerHolding" });
    await hub.env.reservation("words", ({ status }) =>
      (status?.conditions ?? []).some(({ type, status: is }) => type === "Ready" && is === "True"),
    );
    await sendSignal(hub.env.client, "words", { type: "requesterActive" });
    await inPhase("words", "Active");
    await sendSignal(hub.env.client, "words", { type: "requesterReleased" });
    const { status } = await inPhase("words", "Released");
    expect(status).toMatchObject({ reason: "ReleasedByRequester", generation: 4 });
    const types = (status?.conditions ?? []).map(({ type }) => type).toSorted();
    expect(types).toEqual(["ProviderHolding", "Ready", "RequesterActive", "RequesterReleased", "Reserved"]);
    await hub.env.until("Events tell of it", async () => {
      const events = await hub.env.eventsOf("words");
      return ["Reserved", "Activated", "Released"].every((reason) => events.includes(reason)) || undefined;
    });
  });

  test("of a provider that cannot hold it end it with its reason", async () => {
    await create(personsReservation("unheld"));
    await inPhase("unheld", "Reserved");
    await sendSignal(hub.env.client, "unheld", {
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
    await create(personsReservation("longer", { requesterID: "oslo", duration: "1h" }));
    await inPhase("longer", "Reserved");
    await annotate("longer", { [KUBE_ANNOTATION.renew]: "2h first" });
    const { status } = await hub.env.reservation(
      "longer",
      (object) => object.status?.renewed === "2h first" && object.status.generation === 2,
    );
    const lastsMs = Date.parse(status?.expiresAt ?? "") - Date.parse(status?.reservedAt ?? "");
    expect(lastsMs).toBeGreaterThan(7_199_000);
    await annotate("longer", { other: "change" });
    await hub.env.time.advance(1000);
    expect((await hub.env.reservation("longer")).status?.expiresAt).toBe(status?.expiresAt);
  });

  test.each([
    ["too long", "9000h a", "ttl-too-long"],
    ["no duration", "soon b", "invalid"],
  ])("are answered when a renewal is refused because it is %s", async (why, text, code) => {
    const name = why.replace(" ", "-");
    await create(personsReservation(name, { requesterID: "oslo", duration: "1h" }));
    const { status: before } = await inPhase(name, "Reserved");
    await annotate(name, { [KUBE_ANNOTATION.renew]: text });
    const { status } = await hub.env.reservation(
      name,
      (object) => object.status?.message?.includes("renewal was refused") === true,
    );
    expect(status).toMatchObject({ renewed: text, code, expiresAt: before?.expiresAt, phase: "Reserved" });
    await annotate(name, { [KUBE_ANNOTATION.renew]: "90m again" });
    const renewed = await hub.env.reservation(
      name,
      (object) => object.status?.renewed === "90m again" && !object.status.message?.includes("refused"),
    );
    expect(renewed.status?.code).toBeUndefined();
  });
});
