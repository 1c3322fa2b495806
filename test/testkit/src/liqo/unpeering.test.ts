import {
  FOREIGN_CLUSTERS,
  type ForeignCluster,
  IDENTITIES,
  RESOURCE_SLICES,
  TENANTS,
  tenantNamespaceOf,
} from "@resource-broker/agent/liqo";
import { SECRETS } from "@resource-broker/kube";
import { describe, expect, test } from "vitest";
import type { WorldCluster } from "../world/world-cluster.ts";
import { WHOLE_NODES } from "./plain-kinds.ts";
import { PARIS, ROME, sliceOf, twoClusters } from "./testing/two-clusters.ts";
import { untilGone, untilSeen } from "./testing/until-seen.ts";

const IN_ROME = tenantNamespaceOf(PARIS);
const IDENTITY = { name: `controlplane-${PARIS}`, namespace: IN_ROME };
const SECRET = { name: `kubeconfig-controlplane-${PARIS}`, namespace: IN_ROME };

const roleIs = (role: string, hasIdentity: boolean) => ({
  name: { name: PARIS },
  isAsWanted: ({ status }: ForeignCluster) =>
    status?.role === role &&
    hasIdentity ===
      status.modules?.authentication.conditions?.some(
        ({ type, status: is }) => type === "AuthIdentityControlPlaneStatus" && is === "Ready",
      ),
});
/** Any change of a label makes Liqo look again. */
const touch = ({ client }: WorldCluster, value: string) =>
  client.patch(FOREIGN_CLUSTERS, {
    name: { name: PARIS },
    patch: { kind: "merge", body: { metadata: { labels: { touched: value } } } },
  });

describe("an unpeering, as it was seen on Liqo 1.2", () => {
  test("with the Identity first lets go of all, and the role stays until somebody touches the ForeignCluster", async () => {
    const { rome, paris, liqo, peerArgs, unpeerArgs } = await twoClusters();
    await liqo.liqoctl.run(peerArgs);
    await untilSeen(rome, FOREIGN_CLUSTERS, roleIs("Provider", true));
    await rome.client.delete(IDENTITIES, IDENTITY);
    await untilGone(rome, SECRETS, SECRET);
    await untilSeen(rome, FOREIGN_CLUSTERS, roleIs("Provider", false));
    await touch(rome, "once");
    await untilSeen(rome, FOREIGN_CLUSTERS, roleIs("Unknown", false));
    expect(await liqo.liqoctl.run(["unauthenticate", ...unpeerArgs.slice(1)])).toMatchObject({ code: 0 });
    await untilGone(paris, TENANTS, { name: ROME, namespace: tenantNamespaceOf(ROME) });
  });

  test("by liqoctl alone loses the rights first: the Secret stays, and a peering over it brings no slice", async () => {
    const { rome, liqo, peerArgs, unpeerArgs } = await twoClusters();
    liqo.behave({ grants: (asked) => asked });
    await liqo.liqoctl.run(peerArgs);
    await untilSeen(rome, FOREIGN_CLUSTERS, roleIs("Provider", true));
    expect(await liqo.liqoctl.run(unpeerArgs)).toMatchObject({ code: 0 });
    await untilSeen(rome, SECRETS, {
      name: SECRET,
      isAsWanted: ({ metadata }) => metadata.deletionTimestamp !== undefined,
    });
    await touch(rome, "once");
    await liqo.liqoctl.run(peerArgs);
    await untilSeen(rome, FOREIGN_CLUSTERS, roleIs("Provider", true));
    await rome.client.create(RESOURCE_SLICES, sliceOf("rsv-a"));
    await rome.client.delete(RESOURCE_SLICES, { name: "rsv-a", namespace: IN_ROME });
    await untilGone(rome, RESOURCE_SLICES, { name: "rsv-a", namespace: IN_ROME });
    await rome.client.delete(IDENTITIES, IDENTITY);
    await untilGone(rome, SECRETS, SECRET);
    await liqo.liqoctl.run(peerArgs);
    await rome.client.create(RESOURCE_SLICES, sliceOf("rsv-b"));
    await untilSeen(rome, WHOLE_NODES, { name: { name: "rsv-b" } });
  });

  test("by force deletes what the other direction has here, too", async () => {
    const { rome, liqo, peerArgs } = await twoClusters();
    const [, , here = "", , there = ""] = peerArgs;
    await liqo.liqoctl.run(peerArgs);
    await liqo.liqoctl.run(["peer", "--kubeconfig", there, "--remote-kubeconfig", here]);
    await untilSeen(rome, FOREIGN_CLUSTERS, roleIs("ConsumerAndProvider", true));
    liqo.disconnect(PARIS);
    await liqo.liqoctl.run(["force", "unpeer", "--kubeconfig", here, "--skip-confirm", PARIS]);
    expect(await rome.client.find(TENANTS, { name: PARIS, namespace: IN_ROME })).toBeUndefined();
  });
});
