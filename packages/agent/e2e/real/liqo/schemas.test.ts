import type { ObjectMeta } from "@resource-broker/base";
import type { KubeClient, Resource } from "@resource-broker/kube";
import {
  controlPlaneAssets,
  kubeClientFor,
  liqoAssets,
  realControlPlanes,
  simulatedControlPlanes,
} from "@resource-broker/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import { NAMESPACE_OFFLOADINGS, RESOURCE_SLICES, tenantNamespaceOf } from "../../../src/liqo/objects.ts";
import { statusWrite } from "../../../src/liqo/provider/plan-replica.ts";
import { closedFor, planOffload } from "../../../src/liqo/requester/plan-offload.ts";
import { resetSlice, sliceManifest } from "../../../src/liqo/requester/desired-virtual-node.ts";
import { aDesiredVirtualNode } from "../../../src/liqo/requester/testing/samples.ts";
import { create, update, type Write } from "../../../src/liqo/writes.ts";

const START_TIMEOUT_MS = 600_000;
const WALL_MS = Date.parse("2026-07-01T10:00:00Z");
const assets = liqoAssets();
const OFFLOAD = { namespaces: ["default"], podOffloadingStrategy: "Remote" } as const;
const PLAIN = aDesiredVirtualNode({ id: "rsv-rome-plain" });
/** Everything there is, for a while and for a namespace. */
const FULL = aDesiredVirtualNode(
  {
    id: "rsv-rome-full",
    requestedResources: {
      cpu: "1500m",
      memory: "1.5Gi",
      gpu: "2",
      storage: "100G",
      extended: { "example.com/fpga": "1" },
    },
    status: { phase: "Reserved", message: "Use paris", expiresAt: "2030-01-01T00:00:00Z" },
  },
  OFFLOAD,
);

describe.skipIf(assets === undefined)("Liqo's own schemas keep every field that the agent writes", () => {
  const isReal = controlPlaneAssets().isThere;
  describe(`on ${isReal ? "real control planes" : "kube-sim"}`, () => {
    let client: KubeClient;
    beforeAll(async () => {
      const running = isReal ? realControlPlanes() : simulatedControlPlanes();
      const name = tenantNamespaceOf(PLAIN.liqoId);
      const tenant = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
      const { kubeconfig } = await running.start("rome", [...(assets?.definitions ?? []), tenant]);
      client = kubeClientFor(kubeconfig);
      return async () => {
        client.close();
        await running.stop();
      };
    }, START_TIMEOUT_MS);

    /** Paths of what is not stored: API servers drop unknown fields without an error. */
    const lostIn = async (write: Write | undefined): Promise<string[]> => {
      if (write === undefined || write.verb === "delete") throw new Error("nothing is written");
      const { resource } = write;
      if (write.verb === "patch") {
        const { name, body } = write;
        return lostOf(body, await client.patch(resource, { name, patch: { kind: "merge", body } }));
      }
      const { object, subresource } = write;
      const stored = await client[write.verb](resource, object, { ...(subresource && { subresource }) });
      const { status, ...rest } = object as { readonly status?: unknown };
      return lostOf(subresource === "status" ? { status } : rest, stored);
    };
    const newest = <T>(resource: Resource<T>, { metadata }: { readonly metadata: ObjectMeta }): Promise<T> =>
      client.get(resource, metadata);

    test.each([PLAIN, FULL])("a slice: $id", async (desired) => {
      const slice = sliceManifest(desired);
      expect(await lostIn(create(RESOURCE_SLICES, slice))).toEqual([]);
      const raised = { ...slice, spec: { ...slice.spec, resources: { ...desired.resources, x: "1" } } };
      expect(await lostIn(resetSlice(raised, desired))).toEqual([]);
      for (const status of ["Accepted", "Denied"] as const) {
        const answer = { status, reason: "Because", message: "of a rule", resources: desired.resources };
        const found = await newest(RESOURCE_SLICES, slice);
        expect(await lostIn(statusWrite(found, answer, WALL_MS))).toEqual([]);
      }
    });

    test("the offloading of a namespace, open and closed", async () => {
      const step = planOffload(FULL, [{ namespace: "default", isThere: true, offloading: undefined }]);
      expect(await lostIn(step?.writes?.[0])).toEqual([]);
      const metadata = { name: "offloading", namespace: "default" };
      const closed = closedFor(await newest(NAMESPACE_OFFLOADINGS, { metadata }), FULL.id);
      expect(await lostIn(closed && update(NAMESPACE_OFFLOADINGS, closed))).toEqual([]);
    });
  });
});

/** What the server writes itself, whatever it is sent. */
const SERVERS_OWN = /^\/metadata\/(resourceVersion|generation|uid|creationTimestamp|managedFields)$/;

/** Paths of what was sent and is not stored. */
function lostOf(sent: unknown, stored: unknown, path = ""): string[] {
  if (SERVERS_OWN.test(path) || sent === undefined) return [];
  if (sent === null) return stored === undefined ? [] : [`${path} stays`];
  if (typeof sent !== "object") return sent === stored ? [] : [`${path} is another`];
  const kept = new Map(Object.entries(stored ?? {}));
  return Object.entries(sent).flatMap(([key, value]) => lostOf(value, kept.get(key), `${path}/${key}`));
}
