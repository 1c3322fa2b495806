import { FOREIGN_CLUSTERS } from "@resource-broker/agent/liqo";
import { listingOf, RESOURCE_REQUESTS, until } from "@resource-broker/testkit";
import { expect } from "vitest";
import { ask, logSeen, release, TIMEOUT_MS, untilReady } from "./directions.ts";
import { listingsOf, untilSame } from "./listings.ts";
import { type Direction, directionOf, type RealLiqoWorld } from "./real-liqo-world.ts";

const SMALL = { requestedCPU: "2", requestedMemory: "4Gi" };
/** Gone with the next peering: at the end of the test it must be. */
const LEFT_AT_PROVIDER = [
  {
    line: /^Renew\.authentication\.liqo\.io liqo-tenant-liqo-rome\/controlplane-liqo-paris .*replicated=true/,
    why: "Liqo at the requester has given up its copy at the provider (docs/liqo.md)",
  },
];
const TWO_HOURS_MS = 7_200_000;
/** What a peering consists of in the requester's cluster, apart from what stays for the next one. */
const OF_PEERING =
  /^(Identity|Renew|ResourceSlice|VirtualNode|NamespaceMap)\.|^Secret \S+\/(kubeconfig-|liqo-signed-nonce)/;

/**
 * The provider has not answered for two hours, and borrows nothing here: the requester's agent ends its side by force, and
 * the provider's agent ends the other one when it is back. Then the two clusters peer as if nothing had happened.
 */
export async function expectForced(world: RealLiqoWorld): Promise<void> {
  const before = await listingsOf(world);
  const direction = directionOf(world, "rome", "paris");
  const { requester, at } = direction;
  const calls = (await world.liqoctlCalls("rome")).length;
  await ask(direction, "lost", SMALL);
  await untilReady(direction, "lost");
  await world.agent("paris").kill("SIGKILL");
  await at.provider.plane.apiServer.kill();
  const began = performance.now();
  await requester.client.delete(RESOURCE_REQUESTS, { name: "lost", namespace: "default" });
  await until(
    "nothing of the peering is left in rome",
    async () => {
      await backdate(direction);
      const left = (await listingOf(requester.client)).filter((line) => OF_PEERING.test(line));
      if (left.length === 0) return true;
      throw new Error(left.join("\n"));
    },
    TIMEOUT_MS,
  );
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  logSeen(`nothing of the peering was left in rome ${seconds} s after the release`);
  await until("the jobs have ended", async () => ((await isEnded(world)) ? true : undefined), TIMEOUT_MS);
  expect((await world.liqoctlCalls("rome")).slice(calls)).toEqual(["peer", "unpeer", "force unpeer"]);
  const { metadata } = await requester.client.get(FOREIGN_CLUSTERS, { name: at.provider.liqoId });
  expect(metadata.annotations ?? {}).not.toHaveProperty("liqo.io/foreign-cluster-permanently-unreachable");
  await at.provider.plane.apiServer.restart();
  await world.agent("paris").restart();
  await untilSame(world, before, LEFT_AT_PROVIDER);
  await ask(direction, "found", SMALL);
  await untilReady(direction, "found");
  await release(direction, "found");
  await untilSame(world, before);
}

async function isEnded(world: RealLiqoWorld): Promise<boolean> {
  const lines = (await world.agent("rome").logLines()).filter((line) => line.includes("relay peering has "));
  return lines.at(-1)?.includes("relay peering has ended") === true;
}

/** As if Liqo had not reached the provider for two hours. */
async function backdate({ requester, at }: Direction): Promise<void> {
  const { liqoId } = at.provider;
  const { status } = await requester.client.get(FOREIGN_CLUSTERS, { name: liqoId });
  const { conditions = [] } = status ?? {};
  const since = new Date(performance.timeOrigin + performance.now() - TWO_HOURS_MS).toISOString();
  const isOff = conditions.some(
    ({ type, status: is, lastTransitionTime = "" }) =>
      type === "APIServerStatus" && is === "Error" && lastTransitionTime > since,
  );
  if (!isOff) return;
  const body = { status: { conditions: conditions.map((each) => ({ ...each, lastTransitionTime: since })) } };
  const args = ["patch", "foreignclusters.core.liqo.io", liqoId, "--subresource=status", "--type=merge"];
  await at.requester.plane.kubectl([...args, `--patch=${JSON.stringify(body)}`]);
}
