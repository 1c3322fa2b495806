import { BROKER_LEASE, type Reservation } from "@resource-broker/contract/crd";
import { LEASES } from "@resource-broker/kube";
import type { OpenCluster } from "../objects/open-cluster.ts";
import { distance } from "../output/when.ts";

/** A broker that renewed its lease in one of the objects' namespaces, in words; undefined when none did in time. */
export async function runningBroker(
  { client }: OpenCluster,
  objects: readonly Reservation[],
  now: number,
): Promise<string | undefined> {
  const namespaces = new Set(objects.map(({ metadata }) => metadata.namespace ?? "default"));
  for (const namespace of namespaces) {
    const lease = await client.find(LEASES, { name: BROKER_LEASE, namespace });
    const { renewTime = "", leaseDurationSeconds = 0, holderIdentity = "" } = lease?.spec ?? {};
    const renewedAt = Date.parse(renewTime);
    if (holderIdentity === "" || !(renewedAt + leaseDurationSeconds * 1000 > now)) continue;
    return `a broker runs in namespace ${namespace} (${holderIdentity}, seen ${distance(renewedAt, now)}): it releases and frees what is deleted`;
  }
  return undefined;
}
