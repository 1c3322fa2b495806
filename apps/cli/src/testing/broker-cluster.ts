import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { customResourceDefinition, KINDS } from "@resource-broker/contract/crd";
import { createKubeSim, type SimCluster } from "@resource-broker/kube-sim";
import { systemClock } from "@resource-broker/runtime";
import { type Outcome, runCli, temporaryFolder } from "./cli.ts";

/** The simulated cluster stores roles and policies like any other kind: nobody goes by them there. */
const FOREIGN_KINDS = [
  definition("rbac.authorization.k8s.io", "Role", "Namespaced"),
  definition("rbac.authorization.k8s.io", "RoleBinding", "Namespaced"),
  definition("admissionregistration.k8s.io", "ValidatingAdmissionPolicy", "Cluster"),
  definition("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding", "Cluster"),
];
const POLICIES = ["agents-advertise.broker.fluidos.eu", "agents-reserve.broker.fluidos.eu"];

export const LAB = { apiVersion: "v1", kind: "Namespace", metadata: { name: "lab" } };
export const ROLE = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "Role",
  metadata: { name: "resource-broker-agents", namespace: "lab" },
};
export const OUR_KINDS: readonly object[] = KINDS.map(customResourceDefinition);

/** What the policies' file makes, as far as anybody here looks at it. */
export function policies(validationActions: readonly string[] = ["Deny"]): readonly object[] {
  const apiVersion = "admissionregistration.k8s.io/v1";
  return POLICIES.flatMap((name) => [
    { apiVersion, kind: "ValidatingAdmissionPolicy", metadata: { name } },
    {
      apiVersion,
      kind: "ValidatingAdmissionPolicyBinding",
      metadata: { name },
      spec: { policyName: name, validationActions },
    },
  ]);
}

/** A broker's cluster in this process, and brokerctl with an admin's kubeconfig for it. */
export interface BrokerCluster {
  readonly cluster: SimCluster;
  /** Where a file of this test lies. */
  readonly path: (name: string) => string;
  /** Runs `brokerctl kubeconfig issue … -n lab`. */
  readonly issue: (...args: readonly string[]) => Promise<Outcome>;
}

type WhenDone = (cleanUp: () => Promise<void>) => void;

export async function startBrokerCluster(
  whenDone: WhenDone,
  objects: readonly object[] = [LAB, ROLE, ...OUR_KINDS, ...policies()],
): Promise<BrokerCluster> {
  const folder = await temporaryFolder(whenDone);
  const clock = systemClock(() => Math.round(performance.timeOrigin + performance.now()));
  const sim = createKubeSim({ clock, randomBytes });
  whenDone(() => sim.stop());
  const kinds = [...FOREIGN_KINDS, ...objects] as Parameters<SimCluster["seed"]>[0];
  const cluster = await sim.addCluster({ name: "hub", objects: kinds, behaves: false });
  const path = (name: string): string => join(folder, name);
  await writeFile(path("admin.yaml"), cluster.kubeconfig);
  return {
    cluster,
    path,
    issue: (...args) =>
      runCli(["kubeconfig", "issue", ...args, "-n", "lab"], {
        now: clock.wallMs,
        env: { KUBECONFIG: path("admin.yaml") },
      }),
  };
}

function definition(group: string, kind: string, scope: "Namespaced" | "Cluster") {
  const singular = kind.toLowerCase();
  const plural = singular.endsWith("y") ? `${singular.slice(0, -1)}ies` : `${singular}s`;
  const schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${plural}.${group}`,
      annotations: { "api-approved.kubernetes.io": "unapproved, only in a simulated cluster" },
    },
    spec: {
      group,
      scope,
      names: { kind, plural, singular },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
}
