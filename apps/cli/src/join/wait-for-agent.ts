import type { KubernetesObject } from "@resource-broker/base";
import { customResource, type Resource } from "@resource-broker/kube";
import type { Host } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import { fieldOf, type OpenCluster } from "../objects/open-cluster.ts";

type AnyObject = KubernetesObject<unknown, unknown>;

/** Read as JSON: few of them, and all fields. */
const DEPLOYMENTS: Resource<AnyObject> = customResource({
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments",
});
const PODS: Resource<AnyObject> = customResource({ group: "", version: "v1", kind: "Pod", plural: "pods" });

const POLL_MS = 2000;
/** An agent that has not joined by then waits for something. */
const HINT_AFTER_MS = 20_000;

export interface Installed {
  readonly release: string;
  readonly namespace: string;
  readonly clusterId: string;
  /** `kubectl` with the flags that name this cluster. */
  readonly kubectl: string;
  /** When to give up, in milliseconds since 1970. */
  readonly until: number;
}

/** Waits until the agent is Ready, which it is once the broker has accepted its first advertisement. */
export async function waitForAgent(cluster: OpenCluster, agent: Installed, host: Host): Promise<void> {
  const start = host.now();
  let isHinted = false;
  while (!(await isReady(cluster, agent))) {
    const now = host.now();
    if (now >= agent.until) throw await notReady(cluster, agent);
    if (!isHinted && now - start >= HINT_AFTER_MS) {
      isHinted = true;
      const reasons = await reasonsOf(cluster, agent);
      host.note([...reasons.map((reason) => `  ${reason}`), `  ${hint(agent)}`, ""].join("\n"));
    }
    await host.pause(POLL_MS);
  }
}

async function isReady(cluster: OpenCluster, agent: Installed): Promise<boolean> {
  const found = await listOf(cluster, DEPLOYMENTS, agent);
  return found.length > 0 && found.every(isRolledOut);
}

/** As `kubectl rollout status` has it: a pod of before, which is Ready still, does not count. */
function isRolledOut({ metadata, spec, status }: AnyObject): boolean {
  // Without a pod nobody has joined.
  const wanted = Math.max(1, numberIn(spec, "replicas", 1));
  const updated = numberIn(status, "updatedReplicas");
  const isSeen = numberIn(status, "observedGeneration") >= numberIn(metadata, "generation");
  const isAlone = numberIn(status, "replicas", updated) <= updated;
  return isSeen && isAlone && updated >= wanted && numberIn(status, "readyReplicas") >= wanted;
}

/** The cluster IDs of the agents that this release has installed here. */
export async function installedIds(
  cluster: OpenCluster,
  agent: Pick<Installed, "release" | "namespace">,
): Promise<readonly string[]> {
  const found = await listOf(cluster, DEPLOYMENTS, agent);
  return found.flatMap(({ spec }) => {
    const containers = fieldOf(spec, "template", "spec", "containers");
    return (Array.isArray(containers) ? containers : []).flatMap((container: unknown) => {
      const args = fieldOf(container, "args");
      return (Array.isArray(args) ? args : []).flatMap((arg: unknown) => {
        const [, id] = /^--cluster-id=(.+)$/u.exec(String(arg)) ?? [];
        return id ?? [];
      });
    });
  });
}

function numberIn(value: unknown, name: string, absent = 0): number {
  const found = fieldOf(value, name);
  return typeof found === "number" ? found : absent;
}

async function listOf(
  { client }: OpenCluster,
  resource: Resource<AnyObject>,
  { namespace, release }: Pick<Installed, "release" | "namespace">,
): Promise<readonly AnyObject[]> {
  const found: AnyObject[] = [];
  const labelSelector = `app.kubernetes.io/instance=${release},app.kubernetes.io/component=agent`;
  await client.list(resource, { namespace, labelSelector }, (object) => void found.push(object));
  return found;
}

async function notReady(cluster: OpenCluster, agent: Installed): Promise<CommandError> {
  const reasons = await reasonsOf(cluster, agent);
  const lines = [`the agent of ${agent.clusterId} is installed, but not Ready yet`, ...reasons, hint(agent)];
  return new CommandError("timeout", lines.join("\n  "));
}

/** What each container waits for, or how it ended. */
async function reasonsOf(cluster: OpenCluster, agent: Installed): Promise<readonly string[]> {
  const pods = await listOf(cluster, PODS, agent);
  if (pods.length === 0) return ["there is no pod yet"];
  return pods.flatMap(({ metadata, status }) => {
    const containers = fieldOf(status, "containerStatuses");
    const reasons = (Array.isArray(containers) ? containers : []).flatMap((container: unknown) =>
      ["waiting", "terminated"].flatMap((state) => reasonIn(fieldOf(container, "state", state))),
    );
    const conditions = fieldOf(status, "conditions");
    const unscheduled = (Array.isArray(conditions) ? conditions : []).filter(
      (condition: unknown) => fieldOf(condition, "reason") === "Unschedulable",
    );
    const all = [...reasons, ...unscheduled.flatMap(reasonIn)];
    return all.map((reason) => `pod ${metadata.name}: ${reason}`);
  });
}

function reasonIn(state: unknown): readonly string[] {
  const reason = fieldOf(state, "reason");
  const message = fieldOf(state, "message");
  if (typeof reason !== "string") return [];
  return [typeof message === "string" ? `${reason}: ${message}` : reason];
}

function hint({ kubectl, namespace, clusterId }: Installed): string {
  return `Its log says what it waits for (after invite --confirm: brokerctl accept ${clusterId}): ${kubectl} -n ${namespace} logs deployment/resource-broker-agent --tail=20`;
}
