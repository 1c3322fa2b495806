import { type Clock, Fault, type ObjectMeta } from "@resource-broker/base";
import { clusterAdvertisementKind, reservationKind } from "@resource-broker/contract/crd";
import {
  type KubeClient,
  type Resource,
  type Secret,
  SECRETS,
  type ServiceAccount,
  wait,
} from "@resource-broker/kube";
import { CommandError } from "../cli/exit-code.ts";
import { servedPlurals } from "../objects/open-cluster.ts";

/** What deploy/rbac/broker-agents.yaml calls it. */
const AGENTS_ROLE = "resource-broker-agents";
const LABELS = {
  "app.kubernetes.io/managed-by": "brokerctl",
  "app.kubernetes.io/part-of": "resource-broker",
};

/** The agent of one cluster in the broker's namespace. deploy/admission/agent-writes.yaml knows it by this name. */
export interface Agent {
  readonly clusterId: string;
  readonly namespace: string;
  /** Of the ServiceAccount and of its RoleBinding. */
  readonly name: string;
  /** Who it is to the API server. */
  readonly user: string;
}

export function agentOf(clusterId: string, namespace: string): Agent {
  const name = `agent-${clusterId}`;
  return { clusterId, namespace, name, user: `system:serviceaccount:${namespace}:${name}` };
}

export function serviceAccountOf({ name, namespace }: Agent): ServiceAccount {
  // No pod of this cluster runs as it.
  return { metadata: { name, namespace, labels: LABELS }, automountServiceAccountToken: false };
}

export function roleBindingOf({ name, namespace }: Agent): RoleBinding {
  return {
    metadata: { name, namespace, labels: LABELS },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: AGENTS_ROLE },
    subjects: [{ kind: "ServiceAccount", name, namespace }],
  };
}

export function tokenSecretName({ name }: Agent): string {
  return `${name}-token`;
}

/** A controller of Kubernetes fills the token in. */
function tokenSecretOf(agent: Agent): Secret {
  const { name, namespace } = agent;
  return {
    metadata: {
      name: tokenSecretName(agent),
      namespace,
      labels: LABELS,
      annotations: { "kubernetes.io/service-account.name": name },
    },
    type: "kubernetes.io/service-account-token",
  };
}

interface Base {
  readonly metadata: ObjectMeta;
}

export interface RoleBinding extends Base {
  readonly roleRef: { readonly apiGroup: string; readonly kind: "Role"; readonly name: string };
  readonly subjects: readonly {
    readonly kind: "ServiceAccount";
    readonly name: string;
    readonly namespace: string;
  }[];
}

export interface PolicyBinding extends Base {
  readonly spec?: { readonly policyName?: string; readonly validationActions?: readonly string[] };
}

export interface TokenRequest extends Base {
  readonly apiVersion: "authentication.k8s.io/v1";
  readonly kind: "TokenRequest";
  readonly spec: { readonly expirationSeconds: number };
  readonly status?: { readonly token: string; readonly expirationTimestamp: string };
}

const RBAC = { group: "rbac.authorization.k8s.io", version: "v1", isNamespaced: true } as const;
const ADMISSION = { group: "admissionregistration.k8s.io", version: "v1", isNamespaced: false } as const;

const ROLES: Resource<Base> = { ...RBAC, kind: "Role", plural: "roles" };
export const ROLE_BINDINGS: Resource<RoleBinding> = { ...RBAC, kind: "RoleBinding", plural: "rolebindings" };

const POLICIES: Resource<Base> = {
  ...ADMISSION,
  kind: "ValidatingAdmissionPolicy",
  plural: "validatingadmissionpolicies",
};
const POLICY_BINDINGS: Resource<PolicyBinding> = {
  ...ADMISSION,
  kind: "ValidatingAdmissionPolicyBinding",
  plural: "validatingadmissionpolicybindings",
};

/** Asked for below a service account. */
const TOKENS: Resource<TokenRequest> = {
  group: "",
  version: "v1",
  kind: "TokenRequest",
  plural: "serviceaccounts",
  isNamespaced: true,
};

export const MANAGER = { fieldManager: "brokerctl", force: true } as const;
const POLL_MS = 250;
const MAX_POLLS = 40;

export interface Token {
  readonly text: string;
  /** Undefined: it has no end. */
  readonly expiresAt: string | undefined;
  readonly warnings: readonly string[];
}

/** A token that ends by itself. */
export async function requestToken(client: KubeClient, agent: Agent, seconds: number): Promise<Token> {
  const { name, namespace } = agent;
  const { spec, status } = await client.create(
    TOKENS,
    {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      metadata: { name, namespace },
      spec: { expirationSeconds: seconds },
    },
    { subresource: "token" },
  );
  if (status === undefined) throw new CommandError("error", `${client.server} gives no token for ${name}`);
  const { token: text, expirationTimestamp: expiresAt } = status;
  const warning = `the API server gave the token for ${hours(spec.expirationSeconds)} instead of ${hours(seconds)}, until ${expiresAt} (its --service-account-max-token-expiration): issue another in time, or use --long-lived`;
  return { text, expiresAt, warnings: spec.expirationSeconds < seconds ? [warning] : [] };
}

/** The token in the agent's Secret, which is made where it is not there. */
export async function keepToken(client: KubeClient, agent: Agent, clock: Clock): Promise<Token> {
  const secret = tokenSecretOf(agent);
  const { name, namespace } = secret.metadata;
  await client.apply(SECRETS, secret, MANAGER);
  for (let looks = 0; looks < MAX_POLLS; looks += 1) {
    const found = await client.find(SECRETS, { name, namespace: agent.namespace });
    const packed = found?.data?.["token"];
    if (packed !== undefined)
      return { text: Buffer.from(packed, "base64").toString("utf8"), expiresAt: undefined, warnings: [] };
    await wait(POLL_MS, { clock, signal: undefined });
  }
  throw new CommandError(
    "timeout",
    `Secret ${namespace}/${name} gets no token: the cluster's serviceaccount-token controller does not run. Try again, or without --long-lived`,
  );
}

function hours(seconds: number): string {
  return `${Math.round(seconds / 360) / 10} h`;
}

const POLICY_FILE = "deploy/admission/agent-writes.yaml";
/** Without these an agent could write what belongs to others. */
const POLICY_NAMES = ["agents-advertise.broker.fluidos.eu", "agents-reserve.broker.fluidos.eu"];

/** Refuses to make access that would not work; returns what is wrong but does not stop it. */
export async function checkCluster(client: KubeClient, agent: Agent): Promise<string[]> {
  await checkKinds(client);
  await checkRole(client, agent);
  return policyWarnings(client, agent);
}

async function checkKinds(client: KubeClient): Promise<void> {
  const served = await servedPlurals(client, reservationKind);
  const missing = [clusterAdvertisementKind, reservationKind].filter(
    ({ plural }) => !served.includes(plural),
  );
  if (missing.length === 0) return;
  throw new CommandError(
    "error",
    `${client.server} knows no ${missing.map(({ kind }) => kind).join(" and no ")}: is it the broker's cluster? Then first: kubectl apply --server-side -f deploy/crds`,
  );
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
