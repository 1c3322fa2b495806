import { until } from "@resource-broker/testkit";
import { type KindCluster, SHELL_IMAGE } from "./kind-cluster.ts";

/** Generous: a busy machine is no failure. */
const WITHIN_MS = 180_000;

export interface Workload {
  readonly cluster: KindCluster;
  readonly namespace: string;
  /** `statefulset/resource-broker` */
  readonly name: string;
  readonly program: "broker" | "agent";
}

interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly status: {
    readonly podIP?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly { readonly restartCount: number; readonly image: string }[];
  };
}

/** The pod of a workload that is ready, and is not on its way out. */
export function readyPod(workload: Workload, isNew: (pod: Pod) => boolean = () => true): Promise<Pod> {
  const { cluster, namespace, program } = workload;
  return until(
    `a ${program} is ready in ${cluster.name}`,
    async () => {
      const line = `get pods -n ${namespace} -l app.kubernetes.io/component=${program} -o json`;
      const { items } = JSON.parse(await cluster.kubectl(line)) as { readonly items: readonly Pod[] };
      return items.find((pod) => isReady(pod) && isNew(pod));
    },
    WITHIN_MS,
  );
}

function isReady({ metadata, status }: Pod): boolean {
  const ready = status.conditions?.find(({ type }) => type === "Ready");
  return metadata.deletionTimestamp === undefined && ready?.status === "True";
}

export function restarts({ status }: Pod): number {
  return status.containerStatuses?.[0]?.restartCount ?? 0;
}

/** Of the program itself, as the node sees it. */
export async function pidInNode({ cluster, program }: Workload): Promise<string> {
  const pids = (await cluster.inNode("pgrep", "-f", `^/nodejs/bin/node .*/app/${program}.mjs`))
    .trim()
    .split("\n");
  const [pid] = pids;
  if (pids.length !== 1 || pid === undefined) throw new Error(`${pids.length} processes of ${program}`);
  return pid;
}

/** A pod of somebody else's, with a shell. It listens on 9999, too. */
export async function startShellPod(cluster: KindCluster, namespace: string): Promise<void> {
  await cluster.kubectl(`create namespace ${namespace}`);
  const container = {
    name: "shell",
    image: SHELL_IMAGE,
    imagePullPolicy: "Never",
    command: ["sh", "-c", "while true; do nc -l -p 9999 </dev/null; done"],
  };
  await cluster.apply({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "shell", namespace },
    spec: { terminationGracePeriodSeconds: 0, containers: [container] },
  });
  await cluster.kubectl(`wait pod/shell -n ${namespace} --for=condition=Ready --timeout=120s`);
}

export type Reach = "connected" | "nothing came back";

/** Whether a connection comes about. A policy drops packets, so that nothing comes back. */
export async function reachFromShell(
  cluster: KindCluster,
  namespace: string,
  target: string,
): Promise<Reach> {
  const dial = `nc -w 4 ${target.replace(":", " ")} </dev/null >/dev/null 2>&1`;
  const script = `if ${dial}; then echo connected; else echo nothing came back; fi`;
  return (await cluster.kubectl(`exec shell -n ${namespace} -- sh -c`, script)).trim() as Reach;
}

/** The same from a pod that has no shell, but Node. */
export async function reachFromProgram(workload: Workload, target: string): Promise<Reach> {
  const { cluster, namespace, name } = workload;
  const [host, port] = target.split(":");
  const script = `
    const end = (said) => { console.log(said); process.exit(); };
    require("node:net").connect({ host: "${host}", port: ${port}, timeout: 4000 })
      .on("connect", () => end("connected")).on("timeout", () => end("nothing came back"));`;
  return (
    await cluster.kubectl(`exec ${name} -n ${namespace} -- /nodejs/bin/node -e`, script)
  ).trim() as Reach;
}
