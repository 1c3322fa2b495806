import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { customResourceDefinition, KINDS } from "@resource-broker/contract/crd";
import { createKubeSim, type JsonObject } from "@resource-broker/kube-sim";
import { systemClock } from "@resource-broker/runtime";
import { type Outcome, runCli, temporaryFolder } from "./cli.ts";

export type OneCluster = Awaited<ReturnType<typeof startOneCluster>>;

type WhenDone = (cleanUp: () => Promise<void>) => void;

interface OneClusterOptions {
  readonly name?: string;
  readonly objects?: readonly object[];
  /** Absent: every kind of ours. */
  readonly definitions?: readonly object[];
}

export const OUR_KINDS: readonly object[] = KINDS.map(customResourceDefinition);

/** A simulated cluster, and brokerctl with a kubeconfig for it. */
export async function startOneCluster(
  whenDone: WhenDone,
  { name = "rome", objects = [], definitions = OUR_KINDS }: OneClusterOptions = {},
) {
  const folder = await temporaryFolder(whenDone);
  const clock = systemClock(() => Math.round(performance.timeOrigin + performance.now()));
  const sim = createKubeSim({ clock, randomBytes });
  whenDone(() => sim.stop());
  const cluster = await sim.addCluster({ name, objects: definitions.map(plain), behaves: false });
  cluster.seed(objects.map(plain));
  /** Where a file of this test lies. */
  const path = (file: string): string => join(folder, file);
  const kubeconfig = path("admin.yaml");
  await writeFile(kubeconfig, cluster.kubeconfig);
  const run = (...args: readonly string[]): Promise<Outcome> =>
    runCli(args, { now: clock.wallMs, env: { KUBECONFIG: kubeconfig } });
  return {
    cluster,
    path,
    kubeconfig,
    now: clock.wallMs,
    run,
    /** The standard output of a command that must succeed. */
    ok: async (...args: readonly string[]): Promise<string> => {
      const { code, out, err } = await run(...args);
      if (code !== 0) throw new Error(`brokerctl ${args.join(" ")} ended with ${code}: ${err}`);
      return out;
    },
  };
}

/** JSON all the way: what is undefined is left out. */
function plain(object: object): JsonObject {
  return JSON.parse(JSON.stringify(object)) as JsonObject;
}

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

/** A broker's cluster. `issue` runs `brokerctl kubeconfig issue … -n lab`. */
export async function startBrokerCluster(
  whenDone: WhenDone,
  objects: readonly object[] = [LAB, ROLE, ...OUR_KINDS, ...policies()],
) {
  const definitions = [...FOREIGN_KINDS, ...objects];
  const hub = await startOneCluster(whenDone, { name: "hub", definitions });
  const issue = (...args: readonly string[]): Promise<Outcome> =>
    hub.run("kubeconfig", "issue", ...args, "-n", "lab");
  return { ...hub, issue };
}

export function definition(group: string, kind: string, scope: "Namespaced" | "Cluster") {
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
