import { Fault } from "@resource-broker/base";
import {
  type KubeClient,
  NAMESPACES,
  ROLE_BINDINGS,
  SELF_SUBJECT_ACCESS_REVIEWS,
} from "@resource-broker/kube";
import { fakeClock } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { type FakeCluster, fakeCluster } from "../../testing/fake-cluster.ts";
import { ensureTenantAccess, TENANT_ROLE } from "./tenant-access.ts";

const LABELS = { "liqo.io/remote-cluster-id": "calm-paris", "liqo.io/tenant-namespace": "true" };

const AGENT = "system:serviceaccount:rear-agent:resource-broker-agent";

/** As an API server answers an agent that may see Secrets only where a RoleBinding names it. */
function limited({ client, all }: FakeCluster): KubeClient {
  const isBound = (): boolean =>
    all(ROLE_BINDINGS).some(({ subjects }) => subjects?.some(({ name }) => name === AGENT));
  const create: KubeClient["create"] = (resource, object, options) =>
    resource.plural === SELF_SUBJECT_ACCESS_REVIEWS.plural
      ? Promise.resolve({ ...object, status: { allowed: isBound() } })
      : client.create(resource, object, options);
  return { ...client, create };
}

describe("before liqoctl peers as the agent", () => {
  test("the tenant namespace is made, and the agent gets its rights there", async () => {
    const rome = fakeCluster(fakeClock());
    expect(await ensureTenantAccess(limited(rome), "calm-paris")).toBeUndefined();
    const name = "liqo-tenant-calm-paris";
    expect(rome.find(NAMESPACES, { name })?.metadata.labels).toMatchObject({
      ...LABELS,
      "pod-security.kubernetes.io/enforce": "privileged",
    });
    expect(rome.find(ROLE_BINDINGS, { name: TENANT_ROLE, namespace: name })).toMatchObject({
      roleRef: { kind: "ClusterRole", name: TENANT_ROLE },
      subjects: [{ kind: "User", name: AGENT }],
    });
  });

  test("what is there already is left as it is", async () => {
    const rome = fakeCluster(fakeClock());
    const namespace = { metadata: { name: "liqo-tenant-calm-paris", labels: { ...LABELS, kept: "yes" } } };
    rome.put(NAMESPACES, namespace);
    await ensureTenantAccess(limited(rome), "calm-paris");
    expect(await ensureTenantAccess(limited(rome), "calm-paris")).toBeUndefined();
    expect(rome.all(NAMESPACES)).toMatchObject([namespace]);
    expect(rome.all(ROLE_BINDINGS)).toHaveLength(1);
  });

  test("an agent that has the rights already changes nothing", async () => {
    const rome = fakeCluster(fakeClock());
    expect(await ensureTenantAccess(rome.client, "calm-paris")).toBeUndefined();
    expect([...rome.all(NAMESPACES), ...rome.all(ROLE_BINDINGS)]).toEqual([]);
  });

  test("a tenant namespace of another name is a person's: no second one is made", async () => {
    const rome = fakeCluster(fakeClock());
    rome.put(NAMESPACES, { metadata: { name: "of-paris", labels: LABELS } });
    expect(await ensureTenantAccess(limited(rome), "calm-paris")).toMatchObject({
      reason: "TenantNamespaceMissing",
      message: expect.stringContaining("is of-paris; the agent works with liqo-tenant-calm-paris only"),
    });
    expect(rome.all(NAMESPACES)).toHaveLength(1);
  });

  test("a leftover RoleBinding of another account is named, with the command that makes room", async () => {
    const rome = fakeCluster(fakeClock());
    rome.put(ROLE_BINDINGS, {
      metadata: { name: TENANT_ROLE, namespace: "liqo-tenant-calm-paris" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: TENANT_ROLE },
      subjects: [{ kind: "User", name: "system:serviceaccount:old:agent" }],
    });
    expect(await ensureTenantAccess(limited(rome), "calm-paris")).toMatchObject({
      reason: "Forbidden",
      message: expect.stringContaining(`kubectl delete rolebinding -n liqo-tenant-calm-paris ${TENANT_ROLE}`),
    });
  });

  test.each(["namespaces", "rolebindings"])("a missing right to create %s is named", async (plural) => {
    const rome = fakeCluster(fakeClock());
    const fault = new Fault("forbidden", `may not create ${plural}`);
    rome.setCallFaults((call) => (call.verb === "create" && call.plural === plural ? { fault } : undefined));
    expect(await ensureTenantAccess(limited(rome), "calm-paris")).toMatchObject({
      reason: "Forbidden",
      message: expect.stringMatching(`may not create ${plural}: apply deploy/rbac/agent-liqo.yaml`),
    });
  });
});
