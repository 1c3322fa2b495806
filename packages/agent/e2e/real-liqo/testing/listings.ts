import { setTimeout as sleep } from "node:timers/promises";
import { listingOf, until } from "@resource-broker/testkit";
import { logSeen } from "./directions.ts";
import type { RealLiqoWorld } from "./real-liqo-world.ts";

/** Every object of every cluster, by its name: what must be the same again when all reservations have ended. */
export type Listings = ReadonlyMap<string, readonly string[]>;

interface Permission {
  readonly line: RegExp;
  readonly why: string;
}

/** What may differ all the same, each with its reason. */
const PERMITTED: readonly Permission[] = [
  {
    line: /^ForeignCluster\.core\.liqo\.io liqo-/,
    why: "Liqo never deletes what it knows of a cluster that it has once met",
  },
  {
    line: /^CertificateSigningRequest\.certificates\.k8s\.io /,
    why: "Kubernetes deletes it an hour after it was signed",
  },
  {
    line: /^(Namespace|ConfigMap|ServiceAccount) liqo-tenant-liqo-|^RoleBinding\S+ liqo-tenant-liqo-\S+ .*resource-broker/,
    why: "the tenant namespace stays for the next peering, with the agent's rights in it",
  },
  {
    line: /^ConfigMap rear-agent\/rear-peer-/,
    why: "the pinned identity key of a peer stays (relay)",
  },
  {
    line: /^Secret liqo-tenant-liqo-\S+\/liqo-(nonce|signed-nonce|remote-certificate) /,
    why: "liqoctl unpeer leaves what the clusters proved their identity with",
  },
  {
    line: /^Secret liqo-tenant-liqo-\S+\/liqo-remote-certificate-/,
    why: "Liqo never deletes the certificate that it signed for a slice (docs/liqo.md)",
  },
];

/** Only a guard: Liqo lets go of some things after its own back-off, and drains have two minutes. */
const WITHIN_MS = 600_000;
/** All kinds of a cluster are read each time. */
const LOOK_EVERY_MS = 1000;

export async function listingsOf({ clusters }: RealLiqoWorld): Promise<Listings> {
  const lists = clusters.map(async ({ name, client }) => [name, await listingOf(client)] as const);
  return new Map(await Promise.all(lists));
}

/** Resolves when every object is as before, but for what is permitted, and tells how much of that was seen. */
export async function untilSame(
  world: RealLiqoWorld,
  before: Listings,
  more: readonly Permission[] = [],
): Promise<void> {
  const began = performance.now();
  const permitted = [...PERMITTED, ...more];
  const permissionOf = (difference: string): string | undefined => {
    const line = difference.replace(/^\S+ [-+] /, "");
    return permitted.find((each) => each.line.test(line))?.why;
  };
  const differences = await until(
    "every object is as before",
    async () => {
      const differences = differencesOf(before, await listingsOf(world));
      const others = differences.filter((each) => permissionOf(each) === undefined);
      if (others.length === 0) return differences;
      await sleep(LOOK_EVERY_MS);
      throw new Error(`\n${others.join("\n")}`);
    },
    WITHIN_MS,
  );
  logSeen(`every object was as before ${((performance.now() - began) / 1000).toFixed(1)} s later`);
  for (const { why } of permitted) {
    const count = differences.filter((each) => permissionOf(each) === why).length;
    if (count > 0) logSeen(`but for ${count}: ${why}`);
  }
}

function differencesOf(before: Listings, after: Listings): string[] {
  return [...before].flatMap(([name, old]) => {
    const now = after.get(name) ?? [];
    const gone = old.filter((line) => !now.includes(line)).map((line) => `${name} - ${line}`);
    return [...gone, ...now.filter((line) => !old.includes(line)).map((line) => `${name} + ${line}`)];
  });
}
