import { Fault } from "@resource-broker/base";
import { validate } from "@resource-broker/contract";
import { type Advertisement, advertisementKind } from "@resource-broker/contract/crd";
import { customResource } from "@resource-broker/kube";
import { advertisementBody, fakeClock } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import type { ObjectEvent } from "../events/record-event.ts";
import { gate } from "../testing/call-fault.ts";
import { fakeCluster } from "../testing/fake-cluster.ts";
import { recordedLog } from "../testing/recorded-log.ts";
import { mirrorWriter } from "./advertisement-mirror.ts";
import type { Publication } from "./publisher.ts";

const PLACE = { name: "cluster-advertisement", namespace: "default" };
const ADVERTISEMENTS = customResource(advertisementKind);

function world() {
  const time = fakeClock();
  const cluster = fakeCluster(time);
  const log = recordedLog();
  const events: ObjectEvent[] = [];
  const mirror = mirrorWriter(PLACE, {
    client: cluster.client,
    clock: time,
    log,
    withoutBroker: false,
    recordEvent: (event) => void events.push(event),
  });
  return {
    time,
    cluster,
    log,
    events,
    mirror,
    shown: (): Advertisement | undefined => cluster.find(ADVERTISEMENTS, PLACE),
  };
}

const accepted = (cpu: number): Publication => ({
  ok: true,
  advertisement: advertisementBody("paris", { cpu, memoryGi: 8 }),
  omitted: [],
});
const failed = (cpu: number): Publication => ({
  ok: false,
  advertisement: advertisementBody("paris", { cpu, memoryGi: 8 }),
  omitted: ["gpus: left out"],
  fault: new Fault("store-unavailable", "the disk is full"),
});

describe("the local Advertisement", () => {
  test("shows also an answer that is longer than a status may be, and nothing that deceives", async () => {
    const { mirror, shown } = world();
    const fault = new Fault("internal", `\u001b[2J\u202e${"🚀".repeat(2500)}`);
    mirror.write({ ...failed(12), fault } as Publication);
    await mirror.settled();
    const checked = validate(advertisementKind.status, shown()?.status);
    expect(checked).toMatchObject({ ok: true, value: { phase: "Error" } });
    expect(shown()?.status?.message).toMatch(/^\\u\{1b\}\[2J\\u\{202e\}🚀+…$/u);
  });

  test("shows why the broker did not take it, and since when", async () => {
    const { time, mirror, shown } = world();
    mirror.write(accepted(16));
    await time.advance(30_000);
    mirror.write(failed(12));
    await time.advance(30_000);
    const since = shown()?.status?.conditions;
    expect(shown()?.status).toMatchObject({ phase: "Error", published: false, message: "the disk is full" });
    expect(since).toMatchObject([
      { type: "Published", status: "False", reason: "StoreUnavailable" },
      { type: "Complete", status: "False", reason: "BeyondLimits", message: "gpus: left out" },
    ]);
    mirror.write(failed(11));
    await mirror.settled();
    expect(shown()?.status?.conditions).toEqual(since);
    expect(shown()?.spec.resources.allocatable.cpu).toBe("11");
  });

  test("has an event when the broker refuses it, once for each reason, and none for an outage", async () => {
    const { mirror, events, shown } = world();
    const taken = (holder: string): Publication =>
      ({ ...failed(12), fault: new Fault("liqo-id-taken", `it belongs to ${holder}`) }) as Publication;
    for (const publication of [failed(12), taken("rome"), taken("rome"), taken("oslo"), accepted(12)]) {
      mirror.write(publication);
      await mirror.settled();
    }
    expect(events).toMatchObject([
      {
        regarding: { kind: "Advertisement", metadata: { ...PLACE, uid: shown()?.metadata.uid } },
        type: "Warning",
        reason: "AdvertisementRefused",
        message: "it belongs to rome",
      },
      { message: "it belongs to oslo" },
    ]);
  });

  test("skips what is old by the time it could be written", async () => {
    const { time, cluster, mirror, shown } = world();
    const slow = gate();
    cluster.setCallFaults(({ verb }) => (verb === "apply" ? { until: slow.passed } : undefined));
    for (const cpu of [1, 2, 3]) mirror.write(accepted(cpu));
    await time.advance(1);
    slow.open();
    await mirror.settled();
    expect(shown()?.spec.resources.allocatable.cpu).toBe("3");
    expect(cluster.calls.filter(({ verb }) => verb === "apply")).toHaveLength(2);
  });

  test("of another cluster ID is not written over, and the log says how to continue", async () => {
    const { cluster, mirror, log } = world();
    cluster.setCallFaults(() => ({
      fault: new Fault("invalid", "apply advertisements is refused: spec.clusterID: cannot be changed"),
    }));
    mirror.write(accepted(8));
    await mirror.settled();
    expect(log.lines).toEqual([
      expect.stringContaining(
        "kubectl delete advertisement cluster-advertisement -n default lets this agent write its own",
      ),
    ]);
  });
});
