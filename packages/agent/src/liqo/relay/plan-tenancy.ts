import type { ObjectMeta } from "@resource-broker/base";
import { NAMESPACES, SECRETS, type Secret } from "@resource-broker/kube";
import { MANAGED_BY_LABEL, MANAGER } from "../../manifests/labels.ts";
import { SHADOW_PODS, type ShadowPod, type Tenant, tenantNamespaceOf, TENANTS } from "../objects.ts";
import { create, patch, remove, type Write } from "../writes.ts";
import { PEER_LABEL } from "./peer-pins.ts";
import { nonceSecret, ownTenantNamespace, SECRET, tenantManifest, textIn } from "./relay-objects.ts";
import { isNonce, readTenantRequest, type TenantRequest } from "./share-checks.ts";
import type { Party, ProviderShare, RequesterShare } from "./statement.ts";

/** On a Tenant that this agent is ending: what was begun is finished, then the clusters may peer again. */
export const ENDING_ANNOTATION = "rear.fluidos.eu/ending";

/** The requester's half of a peering, as this provider finds it in its cluster. */
export interface ObservedTenancy {
  readonly peer: Party;
  /** `wanted`: the peer asks for it, and something is reserved for it here, or the pair is kept. `over`: neither. */
  readonly demand: "wanted" | "unclear" | "over";
  readonly request: RequesterShare | undefined;
  readonly namespace: { readonly metadata: ObjectMeta } | undefined;
  readonly nonce: Secret | undefined;
  readonly tenant: Tenant | undefined;
  readonly shadowPods: readonly ShadowPod[];
  /** Slices that the peer has here. */
  readonly replicas: number;
  /** True: this cluster is a requester of the peer, and uses the same namespace. */
  readonly isRequester: boolean;
}

export interface TenancyStep {
  /** Undefined: what was said before still holds. */
  readonly share?: ProviderShare;
  readonly writes?: readonly Write[];
  /** When to look again, if no event tells. */
  readonly againInMs?: number;
}

const SOON_MS = 300;
const LATER_MS = 5000;
const NONE: ProviderShare = { state: "none" };

/** The next step towards the requester's Tenant, or towards its end. Only a Tenant of this agent is ever touched. */
export function planTenancy(observed: ObservedTenancy): TenancyStep {
  const { tenant, demand } = observed;
  const step = tenant && planPresent(observed, tenant);
  if (step !== undefined) return step;
  if (demand === "over") return planLeftovers(observed);
  if (demand === "unclear") return {};
  return planNonce(observed) ?? planTenant(observed);
}

/** Undefined: the Tenant is as it should be. */
function planPresent(observed: ObservedTenancy, tenant: Tenant): TenancyStep | undefined {
  const { demand, peer } = observed;
  if (!isFor(tenant, peer)) return demand === "wanted" ? refused(foreignText(tenant)) : {};
  if (isStopped(tenant)) return planStopped(observed, tenant);
  return isEnding(tenant) || demand === "over" ? planEnd(observed, tenant) : undefined;
}

export function isOurs({ metadata }: Tenant): boolean {
  return metadata.labels?.[PEER_LABEL] !== undefined && metadata.labels[MANAGED_BY_LABEL] === MANAGER;
}

/** A Liqo ID that two clusters have claimed is the one's whose Tenant it is. */
function isFor(tenant: Tenant, { clusterId }: Party): boolean {
  return isOurs(tenant) && tenant.metadata.labels?.[PEER_LABEL] === clusterId;
}

/** Stopped by a person, or for a forged request, and not on its way to its end. */
export function isStopped(tenant: Tenant): boolean {
  return !isEnding(tenant) && (tenant.spec.tenantCondition ?? "Active") !== "Active";
}

function isEnding({ metadata }: Tenant): boolean {
  return metadata.deletionTimestamp !== undefined || metadata.annotations?.[ENDING_ANNOTATION] === "true";
}

function foreignText(tenant: Tenant): string {
  const { metadata } = tenant;
  const maker = isOurs(tenant) ? `made for ${metadata.labels?.[PEER_LABEL]}` : "not made by this agent";
  return `Tenant ${metadata.namespace}/${metadata.name} was ${maker}; if nobody needs it: ${deleteCommand(metadata)}`;
}

function deleteCommand({ name, namespace }: ObjectMeta): string {
  return `kubectl delete ${TENANTS.plural}.${TENANTS.group} -n ${namespace} ${name}`;
}

/** With the nonce: without it the requester would take its signature back. */
function refused(message: string, nonce?: string): TenancyStep {
  const share = { state: "refused", message, ...(nonce === undefined ? {} : { nonce }) } as const;
  return { share, againInMs: LATER_MS };
}

function planNonce({ peer, namespace, nonce, tenant }: ObservedTenancy): TenancyStep | undefined {
  if (namespace === undefined) {
    return { writes: [create(NAMESPACES, ownTenantNamespace(peer.liqoId))], againInMs: 0 };
  }
  if (namespace.metadata.deletionTimestamp !== undefined) return { share: NONE, againInMs: SOON_MS };
  if (nonce === undefined) return { writes: [create(SECRETS, nonceSecret(peer.liqoId))], againInMs: 0 };
  const text = textIn(nonce, "nonce");
  if (text === undefined) return { share: NONE, againInMs: SOON_MS };
  if (isNonce(text) || tenant !== undefined) return undefined;
  const { name, namespace: where = "" } = nonce.metadata;
  return refused(`Secret ${where}/${name} is no nonce of Liqo: kubectl delete secret -n ${where} ${name}`);
}

function planTenant({ peer, nonce, tenant, request }: ObservedTenancy): TenancyStep {
  const text = textIn(nonce, "nonce") ?? "";
  const asked = { share: { state: "nonce", nonce: text } as const };
  let wanted: TenantRequest | undefined;
  try {
    wanted = request && readTenantRequest(request, peer.liqoId, text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return refused(
      `the request of ${peer.clusterId} is not what its Liqo would make: ${error.message}`,
      text,
    );
  }
  if (wanted === undefined) return asked;
  const manifest = tenantManifest(peer, wanted);
  if (tenant === undefined) {
    // Of an earlier peering, perhaps by liqoctl: Liqo refuses every other request while it is there.
    const writes = [remove(SECRETS, certificateOf(peer)), create(TENANTS, manifest)];
    return { ...asked, writes, againInMs: SOON_MS };
  }
  if (tenant.spec.publicKey !== manifest.spec.publicKey || tenant.spec.csr !== manifest.spec.csr) {
    const what = `the key of Liqo at ${peer.clusterId} is not the one of Tenant ${tenant.metadata.name} any more`;
    return refused(`${what}; if Liqo was installed anew there: ${deleteCommand(tenant.metadata)}`, text);
  }
  return shareOf(tenant, text);
}

/** What the requester's Liqo needs, once Liqo has signed. */
function shareOf({ status = {} }: Tenant, nonce: string): TenancyStep {
  // Keys of AWS never leave the cluster.
  if (status.authParams?.awsConfig !== undefined) {
    const remedy = "peer with liqoctl (--liqo-mode=liqoctl)";
    return refused(`EKSUnsupported: this cluster authenticates by AWS; ${remedy}`, nonce);
  }
  const identity = identityOf(status);
  if (identity === undefined) return { share: { state: "nonce", nonce }, againInMs: SOON_MS };
  return { share: { state: "signed", nonce, identity } };
}

function identityOf(status: NonNullable<Tenant["status"]>): ProviderShare["identity"] {
  const { authParams: { apiServer, signedCRT, ca } = {}, tenantNamespace: namespace } = status;
  if (apiServer === undefined || signedCRT === undefined || namespace === undefined) return undefined;
  return { apiServer, signedCRT, tenantNamespace: namespace, ...(ca === undefined ? {} : { ca }) };
}

/** Cordon, then guests, then slices (by Liqo), then the Tenant. Pods of the peer are gone before its rights are. */
function planEnd({ peer, shadowPods, replicas }: ObservedTenancy, tenant: Tenant): TenancyStep {
  if (tenant.metadata.deletionTimestamp !== undefined) return { share: NONE, againInMs: SOON_MS };
  // Only as it was read: one that was stopped meanwhile must not be ended, after which it could be made anew.
  const { resourceVersion } = tenant.metadata;
  const asRead = resourceVersion === undefined ? {} : { resourceVersion };
  const conditionIs = (tenantCondition: "Cordoned" | "Drained"): Write =>
    patch(TENANTS, tenant, {
      metadata: { ...asRead, annotations: { [ENDING_ANNOTATION]: "true" } },
      spec: { tenantCondition },
    });
  if (!isEnding(tenant)) return { share: NONE, writes: [conditionIs("Cordoned")], againInMs: 0 };
  if (shadowPods.length > 0) return { share: NONE, writes: removalOf(shadowPods), againInMs: SOON_MS };
  if (replicas > 0) {
    const isDrained = tenant.spec.tenantCondition === "Drained";
    return { share: NONE, writes: isDrained ? [] : [conditionIs("Drained")], againInMs: SOON_MS };
  }
  // With the certificate: a person who peers with liqoctl next has another request, which Liqo would refuse.
  const writes = [remove(TENANTS, tenant, asRead), remove(SECRETS, certificateOf(peer))];
  return { share: NONE, writes, againInMs: SOON_MS };
}

function removalOf(shadowPods: readonly ShadowPod[]): Write[] {
  return shadowPods
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map((pod) => remove(SHADOW_PODS, pod, { uid: pod.metadata.uid ?? "" }));
}

/** The Tenant stays as it is: a new one would be active, with whatever key the requester has then. */
function planStopped({ demand, nonce, shadowPods }: ObservedTenancy, tenant: Tenant): TenancyStep {
  if (demand === "over") return { writes: removalOf(shadowPods) };
  if (demand === "unclear") return {};
  const { metadata, spec } = tenant;
  const resume = `kubectl patch ${TENANTS.plural}.${TENANTS.group} -n ${metadata.namespace} ${metadata.name} --type merge -p '{"spec":{"tenantCondition":"Active"}}'`;
  const message = `the Tenant is ${spec.tenantCondition}; a person here may resume it: ${resume}`;
  return refused(message, textIn(nonce, "nonce"));
}

function certificateOf({ liqoId }: Party) {
  return { metadata: { name: SECRET.certificate, namespace: tenantNamespaceOf(liqoId) } };
}

/** The Secrets go before the namespace, because the namespace stays while the other direction uses it. */
function planLeftovers({ namespace, nonce, isRequester }: ObservedTenancy): TenancyStep {
  if (namespace === undefined || namespace.metadata.deletionTimestamp !== undefined) return { share: NONE };
  if (nonce !== undefined && nonce.metadata.labels?.[MANAGED_BY_LABEL] === MANAGER) {
    return { share: NONE, writes: [remove(SECRETS, nonce)], againInMs: 0 };
  }
  const isDeletable = namespace.metadata.labels?.[MANAGED_BY_LABEL] === MANAGER && !isRequester;
  return { share: NONE, ...(isDeletable ? { writes: [remove(NAMESPACES, namespace)] } : {}) };
}
