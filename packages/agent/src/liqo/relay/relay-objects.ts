import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { type KubeClient, SECRETS, type Secret } from "@resource-broker/kube";
import { makeCsr, readCsr, SUBJECT_ATTRIBUTE, toPem } from "@resource-broker/runtime";
import { MANAGED_BY_LABEL, MANAGER } from "../../manifests/labels.ts";
import {
  IDENTITIES,
  type Identity,
  LIQO_LABEL,
  type Tenant,
  tenantNamespaceOf,
  TENANTS,
} from "../objects.ts";
import { tenantNamespace } from "../requester/peering-checks.ts";
import { PEER_LABEL } from "./peer-pins.ts";
import type { TenantRequest } from "./share-checks.ts";
import type { Party, ProviderShare } from "./statement.ts";

/** Names that Liqo gives these Secrets in each tenant namespace. */
export const SECRET = {
  /** At the provider: Liqo fills in the nonce. */
  nonce: "liqo-nonce",
  /** At the requester: Liqo adds its signature. */
  signedNonce: "liqo-signed-nonce",
  /** At the provider: the certificate that Liqo has signed, and the request for it. */
  certificate: "liqo-remote-certificate",
  /** Liqo's own key, in its namespace. */
  keys: "authentication-keys",
} as const;

/** The tenant namespace of a requester: the agent may delete it again. */
export function ownTenantNamespace(liqoId: string) {
  return tenantNamespace(liqoId, { [MANAGED_BY_LABEL]: MANAGER });
}

/** Liqo's nonce for a requester: Liqo fills it in. */
export function nonceSecret(liqoId: string): Secret {
  return secret(SECRET.nonce, liqoId, { [NONCE_LABEL]: "true" });
}

/** The provider's nonce: Liqo signs it. */
export function signedNonceSecret(liqoId: string, nonce: string): Secret {
  const { metadata, ...rest } = secret(SECRET.signedNonce, liqoId, { [SIGNED_NONCE_LABEL]: "true" });
  return { ...rest, metadata, data: { nonce: Buffer.from(nonce).toString("base64") } };
}

const NONCE_LABEL = "liqo.io/nonce";
const SIGNED_NONCE_LABEL = "liqo.io/signed-nonce";

function secret(name: string, liqoId: string, labels: Readonly<Record<string, string>>): Secret {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name,
      namespace: tenantNamespaceOf(liqoId),
      labels: { ...labels, [LIQO_LABEL.remoteCluster]: liqoId, [MANAGED_BY_LABEL]: MANAGER },
    },
  };
}

/** The text under a key; undefined: it is not there. */
export function textIn(found: Secret | undefined, key: string): string | undefined {
  const value = found?.data?.[key];
  return value === undefined || value === "" ? undefined : Buffer.from(value, "base64").toString("utf8");
}

/** Accepts a requester at Liqo, which signs its certificate. The handshake is never skipped. */
export function tenantManifest({ clusterId, liqoId }: Party, request: TenantRequest): Tenant {
  return {
    apiVersion: `${TENANTS.group}/${TENANTS.version}`,
    kind: TENANTS.kind,
    metadata: {
      name: liqoId,
      namespace: tenantNamespaceOf(liqoId),
      labels: { [LIQO_LABEL.remoteCluster]: liqoId, [PEER_LABEL]: clusterId, [MANAGED_BY_LABEL]: MANAGER },
    },
    spec: {
      clusterID: liqoId,
      publicKey: Buffer.from(toPem("PUBLIC KEY", Buffer.from(request.publicKey, "base64"))).toString(
        "base64",
      ),
      csr: request.csr,
      signature: request.signedNonce,
      authzPolicy: "KeysExchange",
      tenantCondition: "Active",
    },
  };
}

/** Gives Liqo access to a provider, for its own control plane. */
export function identityManifest(liqoId: string, share: NonNullable<ProviderShare["identity"]>): Identity {
  const { apiServer, ca, signedCRT, tenantNamespace: namespace } = share;
  return {
    apiVersion: `${IDENTITIES.group}/${IDENTITIES.version}`,
    kind: IDENTITIES.kind,
    metadata: {
      name: `controlplane-${liqoId}`,
      namespace: tenantNamespaceOf(liqoId),
      // No webhook adds it, and Liqo finds the Identity by it.
      labels: { [LIQO_LABEL.remoteCluster]: liqoId, [MANAGED_BY_LABEL]: MANAGER },
    },
    spec: {
      clusterID: liqoId,
      type: "ControlPlane",
      authParams: { apiServer, signedCRT, ...(ca === undefined ? {} : { ca }) },
      namespace,
    },
  };
}

/** Liqo's keys of this cluster. */
export interface LiqoKeys {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** Undefined: Liqo has not made its keys. */
export async function liqoKeys(
  client: Pick<KubeClient, "find">,
  namespace: string,
): Promise<LiqoKeys | undefined> {
  const pem = textIn(await client.find(SECRETS, { name: SECRET.keys, namespace }), "privateKey");
  if (pem === undefined) return undefined;
  const privateKey = createPrivateKey(pem);
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

/** Liqo's request for its certificate at a provider: the one that was sent before, if it is for the same key. PEM in base64. */
export function controlPlaneCsr(liqoId: string, keys: LiqoKeys, before: string | undefined): string {
  if (before !== undefined && isFor(before, keys.publicKey, liqoId)) return before;
  const subject = [
    [SUBJECT_ATTRIBUTE.organization, "liqo.io"],
    [SUBJECT_ATTRIBUTE.commonName, liqoId],
  ] as const;
  return Buffer.from(makeCsr(subject, keys)).toString("base64");
}

function isFor(csr: string, publicKey: KeyObject, liqoId: string): boolean {
  try {
    const request = readCsr(Buffer.from(csr, "base64").toString("utf8"));
    return request.publicKey.equals(publicKey) && request.subject.some(([, value]) => value === liqoId);
  } catch {
    return false;
  }
}

export function derOf(publicKey: KeyObject): string {
  return publicKey.export({ type: "spki", format: "der" }).toString("base64");
}
