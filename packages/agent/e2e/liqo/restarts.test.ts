import { RESOURCE_SLICES, tenantNamespaceOf } from "@resource-broker/agent/liqo";
import { RESOURCE_REQUESTS, until, type WorldCluster } from "@resource-broker/testkit";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { askFor, untilActive } from "../testing/resource-request.ts";
import { CLEANUP_TIMEOUT_MS, liqoObjectsIn, untilClean } from "./testing/liqo-objects.ts";
import { type LiqoWorld, liqoIdOf, startLiqoWorld } from "./testing/liqo-world.ts";
import { TWO_CLUSTERS } from "./testing/two-reservations.ts";

const SLICES = tenantNamespaceOf(liqoIdOf("paris"));
/** Only a guard, above all that one of them waits for in turn. */
const TIMEOUT_MS = 300_000;
const NAME = { name: "loan", namespace: "default" };

describe("an agent that is killed and started again continues", { timeout: TIMEOUT_MS }, () => {
  let world: LiqoWorld;
  let rome: WorldCluster;

  beforeEach(async () => {
    world = await startLiqoWorld({ clusters: TWO_CLUSTERS });
    onTestFinished(world.dispose);
    rome = world.cluster("rome");
  });

  const kill = (): Promise<unknown> => world.agent("rome").kill("SIGKILL");
  const restart = (): Promise<unknown> => world.agent("rome").restart();
  const slice = (): Promise<string> =>
    until("there is a slice", async () =>
      (await liqoObjectsIn(rome))
        .find((trace) => trace.startsWith("ResourceSlice"))
        ?.slice("ResourceSlice ".length),
    );

  test("while liqoctl peers: it peers again", async () => {
    world.liqo.liqoctl.failNext("peer", { kind: "hangs" });
    await askFor(rome, "loan");
    await until("liqoctl was started", async () => world.liqo.liqoctl.calls[0]);
    await kill();
    await restart();
    await untilActive(rome, "loan");
    expect(world.liqo.liqoctl.calls.map(([verb]) => verb)).toEqual(["peer", "peer"]);
  });

  test("while it waits for the node: there is still one slice, and one peering", async () => {
    world.liqo.behave({ node: "NotReady" });
    await askFor(rome, "loan");
    const name = await slice();
    await kill();
    world.liqo.resetBehaviour();
    await restart();
    const { reservationName } = await untilActive(rome, "loan");
    expect(reservationName).toBe(name);
    expect((await liqoObjectsIn(rome)).filter((trace) => trace.startsWith("ResourceSlice"))).toHaveLength(1);
    expect(world.liqo.liqoctl.calls).toHaveLength(1);
  });

  test("while the slice is being deleted: all of it goes, and the peering", async () => {
    await askFor(rome, "loan");
    const { reservationName } = await untilActive(rome, "loan");
    world.liqo.behave({ stuck: ["slice"] });
    await rome.client.delete(RESOURCE_REQUESTS, NAME);
    await until("the slice is being deleted", async () => {
      const found = await rome.client.get(RESOURCE_SLICES, { name: reservationName, namespace: SLICES });
      return found.metadata.deletionTimestamp;
    });
    await kill();
    world.liqo.resetBehaviour();
    await restart();
    await untilClean([rome, world.cluster("paris")]);
    expect(world.liqo.liqoctl.calls.map(([verb]) => verb)).toEqual(["peer", "unpeer"]);
  });

  test("after its request was deleted meanwhile: all of it goes", async () => {
    await askFor(rome, "loan");
    await untilActive(rome, "loan");
    await kill();
    await rome.client.delete(RESOURCE_REQUESTS, NAME);
    await restart();
    await untilClean([rome, world.cluster("paris")], CLEANUP_TIMEOUT_MS);
    expect(world.liqo.liqoctl.calls.at(-1)?.[0]).toBe("unpeer");
  });
});
