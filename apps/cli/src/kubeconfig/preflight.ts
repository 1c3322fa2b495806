import { Fault } from "@resource-broker/base";
import { clusterAdvertisementKind, reservationKind } from "@resource-broker/contract/crd";
import type { KubeClient } from "@resource-broker/kube";
import { CommandError } from "../cli/exit-code.ts";
import { AGENTS_ROLE, type Agent } from "./agent-access.ts";
import { POLICIES, POLICY_BINDINGS, ROLES } from "./resources.ts";

const POLICY_FILE = "deploy/admission/agent-writes.yaml";
/** Without these an agent could write what belongs to others. */
const POLICY_NAMES = ["agents-advertise.broker.fluidos.eu", "agents-reserve.broker.fluidos.eu"];

/** Refuses to make access that would not work; returns what is wrong but does not stop it. */
export async function checkCluster(client: KubeClient, agent: Agent): Promise<string[]> {
  await checkKinds(client);
  await checkRole(client, agent);
  return policyWarnings(client, agent);
}

/** Asked of the server's own list of kinds, which everybody may read. */
async function checkKinds(client: KubeClient): Promise<void> {
  const { group, version } = reservationKind;
  const served = await client.read(`/apis/${group}/${version}`).catch((error: unknown) => {
    if (error instanceof Fault && error.code === "not-found") return {};
    throw error;
  });
  const names = namesIn(served);
  const missing = [clusterAdvertisementKind, reservationKind].filter(({ plural }) => !names.includes(plural));
  if (missing.length === 0) return;
  throw new CommandError(
    "error",
    `${client.server} knows no ${missing.map(({ kind }) => kind).join(" and no ")}: is it the broker's cluster? Then first: kubectl apply --server-side -f deploy/crds`,
  );
}

/** Of an APIResourceList. */
function namesIn(list: unknown): string[] {
  const resources = fieldOf(list, "resources");
  const names = (Array.isArray(resources) ? resources : []).map((each: unknown) => fieldOf(each, "name"));
  return names.filter((name) => typeof name === "string");
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? new Map(Object.entries(value)).get(name) : undefined;
}

async function checkRole(client: KubeClient, { namespace }: Agent): Promise<void> {
  if ((await client.find(ROLES, { name: AGENTS_ROLE, namespace })) !== undefined) return;
  throw new CommandError(
    "error",
    `there is no Role ${AGENTS_ROLE} in namespace ${namespace}, so the access would not work. First run: kubectl apply -n ${namespace} -f deploy/rbac/broker-agents.yaml (or name the broker's namespace with -n)`,
  );
}

async function policyWarnings(client: KubeClient, { namespace }: Agent): Promise<string[]> {
  try {
    const states = await Promise.all(POLICY_NAMES.map((name) => isInForce(client, name)));
    if (states.every(Boolean)) return [];
    return [
      `no admission policy prevents this agent from writing objects of other clusters in namespace ${namespace}. Apply the rules: kubectl apply -f ${POLICY_FILE} (Kubernetes 1.30 or newer)`,
    ];
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "forbidden") throw error;
    return [
      `cannot see whether agents are kept from writing what belongs to other clusters (${error.message}). Make sure that somebody has applied ${POLICY_FILE}`,
    ];
  }
}

async function isInForce(client: KubeClient, name: string): Promise<boolean> {
  const [policy, binding] = await Promise.all([
    client.find(POLICIES, { name }),
    client.find(POLICY_BINDINGS, { name }),
  ]);
  return policy !== undefined && (binding?.spec?.validationActions ?? []).includes("Deny");
}
