import { EVENTS } from "@resource-broker/kube";
import {
  RESERVATION_INSTRUCTIONS,
  RESOURCE_REQUESTS,
  startWorld,
  until,
  type World,
} from "@resource-broker/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import {
  installPlayedLiqo,
  playPeering,
  playVirtualNode,
  startPodOn,
  virtualNode,
} from "./testing/played-liqo.ts";
import { askFor, untilActive } from "./testing/resource-request.ts";

const TIMEOUT_MS = 300_000;
const PARIS_IN_LIQO = "calm-paris";
const MOST = { requestedCPU: "5", requestedMemory: "4Gi", queue: true };
const FLAGS = ["--advertisement-requeue-interval=5s"];

/** One notice after the other, soon after the start. */
const POLICY = {
  staleness: "15s",
  tenants: { default: { maxPriority: 100 } },
  preemption: { victims: "spot", grace: "20s", minRun: "0s" },
} as const;

describe("a spot reservation that must give way, at a real broker", () => {
  let world: World;

  beforeAll(async () => {
    world = await startWorld({
      policy: POLICY,
      clusters: [
        {
          name: "rome",
          nodes: [{ cpu: "1", memory: "4Gi" }],
          flags: [...FLAGS, "--liqo-mode=liqoctl", "--kubeconfigs-dir=/nonexistent"],
        },
        { name: "oslo", nodes: [{ cpu: "1", memory: "4Gi" }], flags: FLAGS },
        { name: "paris", nodes: [{ cpu: "8", memory: "32Gi" }], flags: FLAGS, hasAgent: false },
      ],
    });
    await installPlayedLiqo(world.cluster("paris"), PARIS_IN_LIQO);
    await world.launchAgent("paris");
    await playPeering(world.cluster("rome"), PARIS_IN_LIQO);
    return world.dispose;
  }, TIMEOUT_MS);

  const rome = () => world.cluster("rome");
  const untilSpot = (isAsWanted: (status: Status) => boolean) =>
    rome().until(RESOURCE_REQUESTS, "spot", ({ status = {} }) => isAsWanted(status));
  type Status = NonNullable<Awaited<ReturnType<typeof askFor>>["status"]>;
  const notice = ({ conditions = [] }: Status) => conditions.find(({ type }) => type === "Preempting");
  const untilCordoned = (id: string, isWanted: boolean) =>
    until(`the node of ${id} is ${isWanted ? "" : "un"}cordoned`, async () => {
      const node = await virtualNode(rome(), id);
      return (node?.spec?.unschedulable === true) === isWanted ? node : undefined;
    });
  /** On what there are such events. */
  const untilEvents = (reason: string, count: number) =>
    until(`${count} events ${reason}`, async () => {
      const events = await rome().list(EVENTS);
      const found = events.filter((event) => event.reason === reason);
      return found.length === count
        ? new Set(found.map(({ involvedObject }) => involvedObject.kind))
        : undefined;
    });
  const remove = (cluster: string, name: string) =>
    world.cluster(cluster).client.delete(RESOURCE_REQUESTS, { name, namespace: "default" });

  test("gets notice, and nobody's pods go to it", { timeout: TIMEOUT_MS }, async () => {
    await askFor(rome(), "spot", { ...MOST, tier: "spot" });
    const { status } = await untilSpot(({ reservationName }) => reservationName !== undefined);
    const id = status?.reservationName ?? "";
    await playVirtualNode(rome(), id, PARIS_IN_LIQO);
    await untilActive(rome(), "spot");
    await startPodOn(rome(), "train", id);
    await askFor(world.cluster("oslo"), "urgent", { ...MOST, priority: 50 });
    const noticed = await untilSpot((each) => notice(each)?.status === "True");
    expect(notice(noticed.status ?? {})?.message).toMatch(/^ends at .*priority 50/);
    expect(noticed.status?.phase).toBe("Active");
    await untilCordoned(id, true);
    expect(await untilEvents("Preempting", 2)).toEqual(new Set(["Pod", "ResourceRequest"]));
  });

  test("is reprieved when it is not needed", { timeout: TIMEOUT_MS }, async () => {
    const { request } = await untilActive(rome(), "spot");
    const { reservationName: id = "" } = request.status ?? {};
    await remove("oslo", "urgent");
    await untilSpot((each) => notice(each)?.reason === "Reprieved");
    await untilCordoned(id, false);
    expect(await untilEvents("Reprieved", 2)).toEqual(new Set(["Pod", "ResourceRequest"]));
    expect((await untilActive(rome(), "spot")).reservationName).toBe(id);
  });

  test("ends after another notice, waits in its old place, and is granted again", {
    timeout: TIMEOUT_MS,
  }, async () => {
    const before = await untilActive(rome(), "spot");
    await askFor(world.cluster("oslo"), "urgent", { ...MOST, priority: 50 });
    const { status } = await untilSpot(({ queue }) => queue !== undefined);
    expect(status).toMatchObject({
      phase: "Pending",
      attempts: 2,
      resumes: before.reservationName,
      message: expect.stringContaining(`${before.reservationName} was preempted, so that it waits since`),
    });
    await untilActive(world.cluster("oslo"), "urgent");
    await rome().untilGone(RESERVATION_INSTRUCTIONS, before.reservationName);
    expect(await virtualNode(rome(), before.reservationName)).toBeUndefined();
    await remove("oslo", "urgent");
    const again = await untilSpot(({ phase }) => phase === "Reserved");
    await playVirtualNode(rome(), again.status?.reservationName ?? "", PARIS_IN_LIQO);
    const active = await untilActive(rome(), "spot");
    expect(active.request.status?.attempts).toBe(2);
    expect(active.request.status?.resumes).toBeUndefined();
  });
});
