import { Fault } from "@resource-broker/base";
import { describe, expect, test } from "vitest";
import type { ResponseMetadata } from "../broker-communicator.ts";
import { CLUSTER_ADVERTISEMENTS } from "./manifests.ts";
import { agentOnHub } from "./testing/agent-on-hub.ts";
import { outcomeOf } from "./testing/fake-agent.ts";
import { advertisementOf, named } from "./testing/objects.ts";

const BROKERS = { reserved: { cpu: "2", memory: "1Gi" }, available: { cpu: "14", memory: "63Gi" } };

const advertiser = async () => {
  const { clock, hub, agent: rome } = await agentOnHub("rome");
  const advertise = (more = {}) =>
    outcomeOf(rome.communicator.publishAdvertisement({ ...advertisementOf("rome"), ...more }));
  const stored = () => hub.cluster.find(CLUSTER_ADVERTISEMENTS, named("rome-adv"));
  const accept = (): void =>
    hub.writeAdvertisement("rome", (object) => {
      const { instance = "", sequence = 0, timestamp } = object.spec;
      const resources = { ...object.spec.resources, ...BROKERS };
      const accepted = { instance, sequence, timestamp, at: "2026-01-05T13:00:00.000Z" };
      return { ...object, spec: { ...object.spec, resources }, status: { accepted } };
    });
  return { clock, hub, rome, advertise, stored, accept };
};

describe("an advertisement", () => {
  test("leaves to the broker what only the broker knows, and is answered with it", async () => {
    const { clock, rome, advertise, stored, accept } = await advertiser();
    const responses: ResponseMetadata[] = [];
    rome.communicator.onResponse((response) => responses.push(response));
    const published = advertise();
    await clock.advance(0);
    expect(Object.keys(stored()?.spec.resources ?? {})).toEqual(["capacity", "allocatable", "allocated"]);
    expect(published.isOver()).toBe(false);
    accept();
    await clock.advance(0);
    expect(published.value()?.advertisement.resources).toMatchObject(BROKERS);
    expect(responses).toEqual([
      { ledgerId: "led-1", brokerTimeMs: Date.UTC(2026, 0, 5, 13), isCurrent: true },
    ]);
  });

  test("is counted where its maker does not count, and never taken for an earlier one", async () => {
    const { clock, advertise, stored, accept } = await advertiser();
    advertise();
    await clock.advance(0);
    accept();
    const second = advertise();
    await clock.advance(0);
    expect(stored()?.spec.sequence).toBe(2);
    expect(second.isOver()).toBe(false);
  });

  test("that the Go broker's definition refuses names the way that works", async () => {
    const { clock, hub, advertise } = await advertiser();
    const message =
      'ClusterAdvertisement.broker.fluidos.eu "rome-adv" is invalid: spec.resources.available: Required value';
    hub.cluster.setCallFaults(({ verb }) =>
      verb === "apply" ? { fault: new Fault("invalid", message) } : undefined,
    );
    const published = advertise();
    await clock.advance(0);
    expect(published.fault()).toMatch(/^unsupported: .*--broker-transport=http/);
  });

  test("that the broker refuses is a fault of the same code", async () => {
    const { clock, hub, advertise } = await advertiser();
    const published = advertise({ instance: "old", sequence: 7 });
    await clock.advance(0);
    hub.writeAdvertisement("rome", (object) => {
      const refused = { instance: "old", sequence: 7, timestamp: object.spec.timestamp };
      return {
        ...object,
        status: { refused: { ...refused, code: "superseded", message: "another speaks" } },
      };
    });
    await clock.advance(0);
    expect(published.fault()).toBe("superseded: another speaks");
  });
});
