import { randomBytes } from "node:crypto";
import type { Clock } from "@resource-broker/base";
import { SECRETS } from "@resource-broker/kube";
import { readCsr, SUBJECT_ATTRIBUTE } from "@resource-broker/runtime";
import type { FakeCluster } from "../../../testing/fake-cluster.ts";
import { FOREIGN_CLUSTERS, type ForeignCluster, IDENTITIES, LIQO_LABEL, TENANTS } from "../../objects.ts";
import { UNREACHABLE } from "../../requester/end-peering.ts";
import { SECRET, textIn } from "../relay-objects.ts";
import { isSignedNonce } from "../share-checks.ts";
import { liqoCertificate, liqoKeysOf } from "./relay-samples.ts";

const REACHED = { type: "APIServerStatus", status: "Established" } as const;

/** Liqo's controllers of one cluster, as far as peering needs them: one round per call. */
export function liqoPlays(
  cluster: FakeCluster,
  own: { readonly liqoId: string; readonly apiServer: string },
  clock: Pick<Clock, "wallMs">,
) {
  const { apiServer } = own;
  let keys = liqoKeysOf(own.liqoId);
  let isCutOff = false;
  let isHolding = false;
  const keysSecret = () => ({
    metadata: { name: SECRET.keys, namespace: "liqo" },
    data: {
      privateKey: Buffer.from(keys.privateKey.export({ type: "pkcs8", format: "pem" })).toString("base64"),
    },
  });
  cluster.put(SECRETS, keysSecret());
  const base64 = (text: string): string => Buffer.from(text).toString("base64");

  const serveSecrets = (): void => {
    for (const secret of cluster.all(SECRETS)) {
      const { name, namespace = "", labels = {} } = secret.metadata;
      const set = (data: Readonly<Record<string, string>>): void =>
        void cluster.edit(SECRETS, { name, namespace }, (it) => ({ ...it, data: { ...it.data, ...data } }));
      if (labels["liqo.io/nonce"] === "true" && textIn(secret, "nonce") === undefined)
        set({ nonce: base64(randomBytes(64).toString("base64")) });
      const nonce = textIn(secret, "nonce");
      if (labels["liqo.io/signed-nonce"] !== "true" || nonce === undefined) continue;
      if (!isSigned(nonce, secret.data)) set({ signedNonce: keys.signed(nonce) });
    }
  };
  const isSigned = (nonce: string, data: Readonly<Record<string, string>> = {}): boolean =>
    isSignedNonce(nonce, data["signedNonce"] ?? "", keys.publicKey);
  /** It looks at the CSR less closely than the agent does. */
  const serveTenants = (): void => {
    for (const { metadata, spec, status } of cluster.all(TENANTS)) {
      if (status !== undefined) continue;
      const csr = readCsr(Buffer.from(spec.csr ?? "", "base64").toString());
      const values = (id: string): string[] =>
        csr.subject.flatMap(([each, value]) => (each === id ? [value] : []));
      const [commonName = ""] = values(SUBJECT_ATTRIBUTE.commonName);
      const signedCRT = liqoCertificate(
        { commonName, organizations: values(SUBJECT_ATTRIBUTE.organization) },
        csr.publicKey,
      );
      const { name, namespace = "" } = metadata;
      const next = { authParams: { apiServer, signedCRT, ca: signedCRT }, tenantNamespace: namespace };
      cluster.edit(TENANTS, { name, namespace }, (it) => ({ ...it, status: next }));
    }
  };
  const serveIdentities = (): void => {
    const peers = new Map(
      cluster
        .all(IDENTITIES)
        .map(({ metadata, spec }) => [spec.clusterID ?? "", metadata.labels ?? {}] as const),
    );
    for (const [liqoId, labels] of peers) {
      if (labels[LIQO_LABEL.remoteCluster] !== liqoId || cluster.find(FOREIGN_CLUSTERS, { name: liqoId }))
        continue;
      cluster.put(FOREIGN_CLUSTERS, {
        apiVersion: "core.liqo.io/v1beta1",
        kind: "ForeignCluster",
        metadata: { name: liqoId, labels: { [LIQO_LABEL.remoteCluster]: liqoId } },
        spec: { clusterID: liqoId },
        status: {
          role: "Provider",
          modules: {
            authentication: { conditions: [{ type: "AuthIdentityControlPlaneStatus", status: "Ready" }] },
          },
          conditions: [REACHED],
        },
      });
    }
    for (const foreignCluster of cluster.all(FOREIGN_CLUSTERS)) {
      const { name } = foreignCluster.metadata;
      if (peers.has(name)) continue;
      if (!isCutOff) cluster.remove(FOREIGN_CLUSTERS, { name });
      else cluster.edit(FOREIGN_CLUSTERS, { name }, withoutIdentity);
    }
  };
  /** It waits for the provider, until it is told not to. */
  const withoutIdentity = (it: ForeignCluster): ForeignCluster => {
    const isGivenUp = it.metadata.annotations?.[UNREACHABLE] === "true" && !isHolding;
    const { conditions = [] } = it.status ?? {};
    const role = isGivenUp || it.status?.role === "Unknown" ? "Unknown" : "Provider";
    return { ...it, status: { role, conditions } };
  };
  return {
    /** As after a new installation. */
    renewKeys: (type?: "ed25519" | "ec"): void => {
      keys = liqoKeysOf(own.liqoId, type);
      cluster.edit(SECRETS, { name: SECRET.keys, namespace: "liqo" }, (it) => ({ ...it, ...keysSecret() }));
    },
    /** It cannot reach the providers, for so long. */
    cutOff: (forMs: number): void => {
      isCutOff = true;
      const lastTransitionTime = new Date(clock.wallMs() - forMs).toISOString();
      const unreachable = { type: "APIServerStatus", status: "Error", lastTransitionTime } as const;
      for (const { metadata } of cluster.all(FOREIGN_CLUSTERS))
        cluster.edit(FOREIGN_CLUSTERS, { name: metadata.name }, ({ status, ...it }) => ({
          ...it,
          status: { ...status, role: status?.role ?? "Unknown", conditions: [unreachable] },
        }));
    },
    /** It pauses after its failures, and sees only later that it need not wait. */
    setHolding: (next: boolean): void => void (isHolding = next),
    /** It reaches the providers again. */
    reconnect: (): void => {
      isCutOff = false;
      for (const { metadata } of cluster.all(FOREIGN_CLUSTERS))
        cluster.edit(FOREIGN_CLUSTERS, { name: metadata.name }, (it) => ({
          ...it,
          status: { ...it.status, role: it.status?.role ?? "Unknown", conditions: [REACHED] },
        }));
    },
    work: (): void => {
      serveSecrets();
      serveTenants();
      serveIdentities();
    },
  };
}
