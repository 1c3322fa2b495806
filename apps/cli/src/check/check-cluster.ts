import { Fault, parseTime } from "@resource-broker/base";
import type { Values } from "../cli/command.ts";
import type { Host } from "../cli/host.ts";
import { ADVERTISEMENTS } from "../objects/kinds.ts";
import { type OpenCluster, openCluster } from "../objects/open-cluster.ts";
import { listObjects } from "../objects/read-objects.ts";
import { age } from "../output/age.ts";
import { checkDefinitions } from "./definitions.ts";
import { checked, type Finding, type Found, failed, ok, skipped } from "./finding.ts";
import { fieldOf } from "./json.ts";
import type { CHECK_OPTIONS } from "./options.ts";
import { checkRights } from "./rights.ts";

type Options = Values<typeof CHECK_OPTIONS>;

/** Agents publish every 30 s by default; two missed advertisements are a problem. */
const FRESH_MS = 120_000;

/** Everything in the cluster that the kubeconfig leads to. */
export async function checkCluster(options: Options, host: Host): Promise<readonly Finding[]> {
  const opened = await openOrFinding(options, host);
  if ("finding" in opened) return [opened.finding];
  try {
    return await checkOpened(opened, options, host);
  } finally {
    opened.client.close();
  }
}

async function checkOpened(cluster: OpenCluster, options: Options, host: Host): Promise<readonly Finding[]> {
  const server = await checked("API server", () => checkServer(cluster));
  if (server.status === "failed") return [server];
  return [
    server,
    await checked("CRDs", () => checkDefinitions(cluster)),
    await checked("rights", () => checkRights(cluster, options.agent)),
    await checked("agent", () => checkAgent(cluster, host.now())),
  ];
}

/** A missing kubeconfig is not an error, because many users of a broker have no cluster. A kubeconfig named by a flag must be valid. */
async function openOrFinding(
  options: Options,
  host: Host,
): Promise<OpenCluster | { readonly finding: Finding }> {
  const { kubeconfig, "kube-context": context, namespace } = options;
  try {
    return await openCluster({ kubeconfig, context, namespace }, host);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const isWanted = kubeconfig !== undefined || context !== undefined || options.only === "cluster";
    const found = isWanted ? failed(error.message) : skipped(error.message);
    return { finding: { name: "API server", ...found } };
  }
}

async function checkServer({ client }: OpenCluster): Promise<Found> {
  const version = fieldOf(await client.read("/version"), "gitVersion");
  return ok(`${client.server}: Kubernetes ${typeof version === "string" ? version : "of unknown version"}`);
}

/** The agent writes a copy of each advertisement beside it: its age shows whether the agent runs. */
async function checkAgent(cluster: OpenCluster, now: number): Promise<Found> {
  const advertisements = await listObjects(cluster, ADVERTISEMENTS, { namespace: undefined });
  const [newest] = advertisements.toSorted((a, b) => b.spec.timestamp.localeCompare(a.spec.timestamp));
  if (newest === undefined)
    return failed(
      "no agent has advertised this cluster yet",
      "Start one: docs/agent.md. A cluster that only hosts a broker needs none",
    );
  const { spec, status } = newest;
  const ageMs = now - (parseTime(spec.timestamp) ?? now);
  if (ageMs > FRESH_MS)
    return failed(
      `the agent of ${spec.clusterID} was last seen ${age(ageMs)} ago`,
      "Check that the agent runs, and read its log",
    );
  if (status?.published !== true) {
    return failed(
      `the agent of ${spec.clusterID} runs, but the broker did not accept its advertisement: ${status?.message ?? "no reason given"}`,
      "docs/agent.md lists what can be wrong",
    );
  }
  return ok(`${spec.clusterID} advertised ${age(ageMs)} ago, and the broker accepted it`);
}
