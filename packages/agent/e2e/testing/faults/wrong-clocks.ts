import type { ResourceRequest } from "@resource-broker/contract/crd";
import { systemClock } from "@resource-broker/runtime";
import {
  PROVIDER_INSTRUCTIONS,
  RESERVATION_INSTRUCTIONS,
  RESOURCE_REQUESTS,
  until,
} from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { askFor, untilActive } from "../resource-request.ts";
import type { FaultSetup } from "./fault-setup.ts";

const HOUR_MS = 3_600_000;

/** oslo and lima have no agents of their own: these start theirs. */
export function testWrongClocks(setup: () => FaultSetup): void {
  test("the clocks of both agents are an hour off", async () => {
    const { world, isAdvertised } = setup();
    const shifted = (ms: number) => ({
      clock: systemClock(() => Math.round(performance.timeOrigin + performance.now()) + ms),
    });
    const [oslo, lima] = [world.cluster("oslo"), world.cluster("lima")];
    const agents = await Promise.all([
      world.startInProcess("oslo", shifted(HOUR_MS)),
      world.startInProcess("lima", shifted(-HOUR_MS)),
    ]);
    await until("lima is advertised", () => isAdvertised("lima"));
    await askFor(oslo, "half-an-hour", { targetClusterID: "lima", duration: "30m" });
    const { reservationName: id, request } = await untilActive(oslo, "half-an-hour");
    const lastsMs =
      Date.parse(request.status?.expiresAt ?? "") - Date.parse(request.status?.reservedAt ?? "");
    expect(lastsMs).toBe(HOUR_MS / 2);
    // By the clocks of their machines it is long over, or has not begun: looked at again, it is still kept.
    for (const [cluster, resource, name] of [
      [oslo, RESERVATION_INSTRUCTIONS, id],
      [lima, PROVIDER_INSTRUCTIONS, `${id}-provider`],
    ] as const) {
      const { metadata } = await cluster.until<{ readonly metadata: ResourceRequest["metadata"] }>(
        resource,
        name,
      );
      await cluster.client.delete(resource, { name, namespace: "default" });
      await cluster.until<{ readonly metadata: ResourceRequest["metadata"] }>(
        resource,
        name,
        (now) => now.metadata.uid !== metadata.uid,
      );
    }
    await askFor(oslo, "a-moment", { targetClusterID: "lima", duration: "1s" });
    const short = await oslo.until(
      RESOURCE_REQUESTS,
      "a-moment",
      ({ status }) => status?.phase === "Released",
    );
    expect(short.status).toMatchObject({ reason: "Expired" });
    await lima.untilGone(PROVIDER_INSTRUCTIONS, `${short.status?.reservationName}-provider`);
    for (const agent of agents) await agent.stop();
  });
}
