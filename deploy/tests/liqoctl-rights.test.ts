import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { manifestsIn } from "./testing/objects.ts";

/**
 * What liqoctl 1.2.0 asks of its own cluster's API server, by the audit log, and the command that fails without it: each was
 * taken away in turn, with Liqo's own controllers. `peer again` finds an earlier peering that has changed meanwhile.
 */
const CALLS: Readonly<
  Record<"cluster" | "tenant" | "liqo", readonly (readonly [call: string, needs: string])[]>
> = {
  cluster: [
    ["list namespaces", "force unpeer"],
    ["create namespaces", "peer"],
    ["create rolebindings", "peer, for the rights in the tenant namespace"],
    ["bind clusterroles/resource-broker-agent-liqo-tenant", "peer, for the rights in the tenant namespace"],
    ["list identities", "peer"],
    ["delete identities", "unpeer"],
    ["list foreignclusters", "unpeer"],
    ["patch foreignclusters", "force unpeer"],
    ["list resourceslices", "unpeer"],
    ["delete resourceslices", "unpeer, with slices"],
    ["list virtualnodes", "unpeer"],
    ["delete virtualnodes", "unpeer, with virtual nodes"],
  ],
  tenant: [
    ["list secrets", "peer"],
    ["create secrets", "peer"],
    ["get secrets", "peer, with a network"],
    ["get identities", "peer"],
    ["create identities", "peer"],
    ["update identities", "peer again"],
    ["delete namespaces", "force unpeer"],
    ["list configurations", "unpeer"],
    ["get configurations", "peer, with a network"],
    ["create configurations", "peer, with a network"],
    ["update configurations", "peer again, with a network"],
    ["delete configurations", "unpeer, with a network"],
    ["list gatewayclients", "unpeer"],
    ["get gatewayclients", "peer, with a network"],
    ["create gatewayclients", "peer, with a network"],
    ["update gatewayclients", "peer again, with a network"],
    ["delete gatewayclients", "unpeer, with a network"],
    ["list gatewayservers", "unpeer"],
    ["delete gatewayservers", "unpeer, with a network that the other cluster began"],
    ["list publickeies", "peer, with a network"],
    ["get publickeies", "peer, with a network"],
    ["create publickeies", "peer, with a network"],
    ["update publickeies", "peer again, with a network"],
    ["list connections", "peer, with a network"],
    ["get connections", "peer, with a network"],
    ["get deployments", "peer, with a network"],
  ],
  liqo: [
    ["list configmaps", "peer"],
    ["get secrets/authentication-keys", "peer"],
    ["list networks", "peer, with a network"],
    ["get wggatewayclienttemplates/wireguard-client", "peer, with a network"],
  ],
};

interface Rule {
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

const SHIPPED = manifestsIn(readFileSync(join(import.meta.dirname, "../rbac/agent-liqo.yaml"), "utf8"));

function rightsOf(...names: readonly string[]): string[] {
  return SHIPPED.filter(({ kind, metadata }) => names.includes(`${kind} ${metadata.name}`))
    .flatMap(({ rules = [] }) => rules as readonly Rule[])
    .flatMap(({ resources, resourceNames = [""], verbs }) =>
      resources.flatMap((resource) =>
        resourceNames.flatMap((name) =>
          verbs.map((verb) => `${verb} ${resource}${name === "" ? "" : `/${name}`}`),
        ),
      ),
    );
}

describe("liqoctl, run as the agent, has the rights that it uses, and no others", () => {
  const called = (where: keyof typeof CALLS): string[] => CALLS[where].map(([call]) => call).sort();

  test("in the tenant namespace of a provider", () => {
    expect(rightsOf("ClusterRole resource-broker-agent-liqo-tenant").sort()).toEqual(called("tenant"));
  });

  test("in the whole cluster, beside what the agent itself does", () => {
    const own = rightsOf("ClusterRole resource-broker-agent-liqoctl");
    const both = [...own, ...rightsOf("ClusterRole resource-broker-agent-liqo-borrow")];
    expect(both).toEqual(expect.arrayContaining(called("cluster")));
    expect(called("cluster")).toEqual(expect.arrayContaining(own));
  });

  test("in Liqo's namespace", () => {
    const own = rightsOf("Role resource-broker-agent-liqoctl");
    expect([...own, ...rightsOf("Role resource-broker-agent-liqo")]).toEqual(
      expect.arrayContaining(called("liqo")),
    );
    expect(called("liqo")).toEqual(expect.arrayContaining(own));
  });

  test("the role for tenant namespaces is bound nowhere, and Secrets of the whole cluster are nobody's", () => {
    const bound = SHIPPED.filter(({ kind }) => kind.endsWith("Binding")).map((binding) =>
      JSON.stringify(binding),
    );
    expect(bound.filter((text) => text.includes('"resource-broker-agent-liqo-tenant"'))).toEqual([]);
    const wide = ["lend", "borrow"].map((part) => `ClusterRole resource-broker-agent-liqo-${part}`);
    const rights = rightsOf(...wide, "ClusterRole resource-broker-agent-liqoctl");
    expect(rights.filter((right) => right.includes("secrets"))).toEqual([]);
  });
});
