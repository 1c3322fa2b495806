import { Fault } from "@resource-broker/base";
import { NAMESPACES, ROLE_BINDINGS } from "@resource-broker/kube";
import { beforeEach, describe, expect, test } from "vitest";
import { foreignText } from "../liqoctl/foreign-kubeconfig.ts";
import { peerArguments, type RunResult } from "../liqoctl/run-liqoctl.ts";
import { TENANTS } from "../objects.ts";
import { TENANT_ROLE } from "./peering-checks.ts";
import {
  AGENT,
  install,
  type LiqoTestEnvironment,
  liqoTestEnvironment,
  MINUTE_MS,
  ROME_AT_PARIS,
  TENANT,
} from "./testing/liqo-test-environment.ts";
import { accessTo, aDeliverySpec, DELIVERY_A, ID_A } from "./testing/samples.ts";

const NAMESPACE = "liqo-tenant-calm-paris";
const [PARIS, ROME] = [accessTo("paris"), accessTo("rome")];
const OWN = { kind: "found", path: "/k/rome.kubeconfig", access: ROME } as const;
const REFUSED = { kind: "refused", reason: "KubeconfigRefused", message: "user.exec is refused" } as const;

let it: LiqoTestEnvironment;
beforeEach(() => {
  it = liqoTestEnvironment();
});
/** Why liqoctl did not peer. */
const obstacle = async (reason: string): Promise<string> => {
  const { last } = await it.reason(DELIVERY_A, reason);
  expect(last).toMatchObject({ reason, isStalled: true });
  expect(it.state.openClients).toBe(0);
  return last.message;
};

describe("liqoctl", () => {
  test("peers with files that are lent for the time of one call", async () => {
    await it.ready(DELIVERY_A);
    const clusters = { local: { context: "rome" }, remoteKubeconfig: "/private/0", liqoNamespace: "liqo" };
    const options = { gatewayType: "NodePort", hasNetworking: true, timeoutMs: 10 * MINUTE_MS } as const;
    expect(it.liqo.calls).toEqual([peerArguments({ ...clusters, ...options })]);
    expect(it.readable).toEqual([[foreignText(PARIS)]]);
    expect([it.lent.size, it.state.openClients]).toEqual([0, 0]);
  });

  test("uses the folder's kubeconfig of the own cluster where there is one", async () => {
    it.files["rome"] = OWN;
    await it.ready(DELIVERY_A);
    it.lose();
    await it.clean(ID_A, 90 * MINUTE_MS);
    expect(it.commands()).toEqual(["peer", "force unpeer"]);
    for (const args of it.liqo.calls) expect(args).toContain("--kubeconfig=/private/0");
    expect(it.readable).toEqual([[foreignText(ROME), foreignText(PARIS)], [foreignText(ROME)]]);
  });

  test("is not run with a kubeconfig of the own cluster that is refused", async () => {
    await it.ready(DELIVERY_A);
    it.files["rome"] = REFUSED;
    const { last } = await it.clean(ID_A);
    expect(last).toMatchObject({
      reason: "KubeconfigRefused",
      message: expect.stringContaining("user.exec is refused; or remove it"),
    });
    expect(it.commands()).toEqual(["peer"]);
  });

  test("that could not be started has peered nobody", async () => {
    it.liqo.faults.answer = { code: 127, output: "there is none" };
    expect(await obstacle("LiqoctlMissing")).toContain("there is none");
    expect((await it.clean(ID_A)).last).toEqual({ kind: "clean" });
    expect(it.commands()).toEqual(["peer"]);
  });

  test.each<[RunResult, string]>([
    [{ code: 1, output: "INFO a\nERRO it broke" }, "ended with 1:\nINFO a\nERRO it broke"],
    [{ code: undefined, output: "" }, "was killed"],
  ])("that ends with %j says why", async (answer, message) => {
    it.liqo.faults.answer = answer;
    expect(await obstacle("PeeringFailed")).toContain(message);
  });

  test.each([
    ["older here", "v1.1.4", "v1.2.0", "VersionMismatch"],
    ["another major version", "v1.2.0", "v2.2.0", "VersionMismatch"],
    ["a patch apart", "v1.2.0", "1.2.9", "NodeReady"],
    ["a build without a number", "v1.2.0", "3f2a9c1", "NodeReady"],
  ])("is not run for clusters that cannot peer: %s", async (_, here, there, reason) => {
    install(it.cluster, "cool-rome", here);
    install(it.remote, "calm-paris", there);
    expect((await it.reason(DELIVERY_A, reason)).last.reason).toBe(reason);
    expect(it.commands()).toHaveLength(reason === "NodeReady" ? 1 : 0);
  });

  test("is run though the peering user may not see the version", async () => {
    install(it.remote, "calm-paris", "v9.9.9");
    const fault = new Fault("forbidden", "no");
    it.remote.setCallFaults(({ plural }) => (plural === "deployments" ? { fault } : undefined));
    expect((await it.ready(DELIVERY_A)).last.kind).toBe("ready");
  });

  test.each<[string, () => void, string, string]>([
    ["no kubeconfig", () => void delete it.files["paris"], "KubeconfigMissing", "no paris"],
    [
      "a kubeconfig that runs programs",
      () => void (it.files["paris"] = REFUSED),
      "KubeconfigRefused",
      "user.exec",
    ],
    [
      "a provider that does not answer",
      () => void (it.state.connects = new Fault("store-unavailable", "connection refused")),
      "ProviderUnreachable",
      "connection refused",
    ],
    ["a provider without Liqo", () => install(it.remote, undefined), "IdentityMismatch", "leads to no Liqo"],
    [
      "a kubeconfig of another cluster",
      () => install(it.remote, "wild-oslo"),
      "IdentityMismatch",
      "wild-oslo instead of calm-paris",
    ],
    [
      "a broker that takes this cluster for another",
      () => install(it.cluster, "old-rome"),
      "IdentityMismatch",
      "is old-rome, but the broker has cool-rome",
    ],
    [
      "a provider that is still ending an earlier peering",
      () => {
        const metadata = {
          ...ROME_AT_PARIS,
          finalizers: ["liqo.io/x"],
          deletionTimestamp: "2026-07-01T10:00:00Z",
        };
        it.remote.edit(TENANTS, ROME_AT_PARIS, () => ({ ...TENANT, metadata }));
      },
      "TenantLeaving",
      "Tenant cool-rome",
    ],
    ["no Liqo here", () => install(it.cluster, undefined), "LiqoMissing", "--liqo-mode=off"],
  ])("is not run with %s", async (_, act, reason, message) => {
    act();
    expect(await obstacle(reason)).toContain(message);
    expect(it.commands()).toEqual([]);
  });

  test("is run though the broker does not know this cluster's ID in Liqo", async () => {
    const { reservation } = aDeliverySpec({ id: ID_A });
    const dataPlaneIds = { provider: "calm-paris" };
    expect((await it.ready({ reservation: { ...reservation, dataPlaneIds } })).last.kind).toBe("ready");
  });
});

describe("before liqoctl peers as the agent", () => {
  const LABELS = { "liqo.io/remote-cluster-id": "calm-paris", "liqo.io/tenant-namespace": "true" };
  beforeEach(() => {
    it.state.isLimited = true;
    // The fake lists all namespaces, whatever their labels.
    for (const name of ["shop", "bank"]) it.cluster.remove(NAMESPACES, { name });
  });

  test("the tenant namespace is made, and the agent gets its rights there, once", async () => {
    await it.ready(DELIVERY_A);
    await it.clean(ID_A);
    await it.ready(DELIVERY_A);
    const binding = {
      roleRef: { kind: "ClusterRole", name: TENANT_ROLE },
      subjects: [{ kind: "User", name: AGENT }],
    };
    expect(it.cluster.all(ROLE_BINDINGS)).toMatchObject([{ metadata: { namespace: NAMESPACE }, ...binding }]);
    expect(it.cluster.find(NAMESPACES, { name: NAMESPACE })?.metadata.labels).toMatchObject({
      ...LABELS,
      "pod-security.kubernetes.io/enforce": "privileged",
    });
  });

  test("a namespace that is there already stays as it is", async () => {
    const namespace = { metadata: { name: NAMESPACE, labels: { ...LABELS, kept: "yes" } } };
    it.cluster.put(NAMESPACES, namespace);
    await it.ready(DELIVERY_A);
    expect(it.cluster.find(NAMESPACES, { name: NAMESPACE })).toMatchObject(namespace);
  });

  test.each<[string, () => void]>([
    ["an agent that has the rights already", () => void (it.state.isLimited = false)],
    ["a kubeconfig of its own for liqoctl", () => void (it.files["rome"] = OWN)],
  ])("nothing is changed for %s", async (_, act) => {
    act();
    await it.ready(DELIVERY_A);
    expect(it.commands()).toEqual(["peer"]);
    expect(it.cluster.all(ROLE_BINDINGS)).toEqual([]);
    expect(it.cluster.find(NAMESPACES, { name: NAMESPACE })).toBeUndefined();
  });

  const forbidding = (plural: string) => () => {
    const fault = new Fault("forbidden", `may not create ${plural}`);
    it.cluster.setCallFaults((call) =>
      call.verb === "create" && call.plural === plural ? { fault } : undefined,
    );
  };
  test.each<[string, () => void, string, string]>([
    [
      "a tenant namespace of another name",
      () => void it.cluster.put(NAMESPACES, { metadata: { name: "of-paris", labels: LABELS } }),
      "TenantNamespaceMissing",
      `is of-paris; the agent works with ${NAMESPACE} only`,
    ],
    [
      "a leftover RoleBinding of another account",
      () =>
        void it.cluster.put(ROLE_BINDINGS, {
          metadata: { name: TENANT_ROLE, namespace: NAMESPACE },
          roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: TENANT_ROLE },
          subjects: [{ kind: "User", name: "system:serviceaccount:old:agent" }],
        }),
      "Forbidden",
      `kubectl delete rolebinding -n ${NAMESPACE} ${TENANT_ROLE}`,
    ],
    ["no right to create namespaces", forbidding("namespaces"), "Forbidden", "deploy/rbac/agent-liqo.yaml"],
    ["no right to bind roles", forbidding("rolebindings"), "Forbidden", "deploy/rbac/agent-liqo.yaml"],
  ])("%s is told, with the remedy", async (_, act, reason, message) => {
    act();
    expect(await obstacle(reason)).toContain(message);
    expect(it.commands()).toEqual([]);
  });
});
