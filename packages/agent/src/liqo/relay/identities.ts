import { createPublicKey } from "node:crypto";
import type { KubeClient } from "@resource-broker/kube";
import { ignoring } from "../../faults.ts";
import { MANAGED_BY_LABEL, MANAGER } from "../../manifests/labels.ts";
import { identityAt } from "../identity.ts";
import { IDENTITIES, type Identity } from "../objects.ts";
import type { JobResult } from "../requester/peering-job-runner.ts";
import { identityManifest, type LiqoKeys, liqoKeys } from "./relay-objects.ts";
import { type IdentityCheck, identityProblem, type IdentityShare } from "./share-checks.ts";
import type { Party } from "./statement.ts";

export interface IdentitiesOptions extends Pick<IdentityCheck, "ownHosts" | "allowsLoopback"> {
  readonly liqoNamespace: string;
}

export type Identities = ReturnType<typeof identities>;

/** Liqo's access to providers, as their statements give it. */
export function identities(
  options: IdentitiesOptions,
  client: Pick<KubeClient, "find" | "list" | "create" | "delete">,
) {
  const { liqoNamespace } = options;
  /** Checks what a provider sent, and gives it to Liqo. */
  const apply = async ({ clusterId, liqoId }: Party, share: IdentityShare): Promise<JobResult> => {
    const [keys, here] = await Promise.all([
      liqoKeys(client, liqoNamespace),
      identityAt(client, liqoNamespace),
    ]);
    if (keys === undefined || here === undefined)
      return { reason: "LiqoMissing", message: "Liqo is not installed here, or has no keys yet" };
    const problem = problemOf(share, here.clusterId, keys);
    if (problem === undefined) return await write(identityManifest(liqoId, share));
    return {
      reason: problem.reason,
      message: `the identity from ${clusterId} is not used: ${problem.message}`,
    };
  };
  const problemOf = (share: IdentityShare, ownLiqoId: string, { publicKey }: LiqoKeys) =>
    identityProblem(share, { ...options, ownLiqoId, publicKey });

  const write = async (manifest: Identity): Promise<JobResult> => {
    const found = await existing(manifest);
    const { name, namespace = "" } = manifest.metadata;
    if (found === undefined) {
      await client.create(IDENTITIES, manifest, { fieldManager: MANAGER });
      return undefined;
    }
    if (!isOurs(found)) {
      const remedy = `kubectl delete ${IDENTITIES.plural}.${IDENTITIES.group} -n ${namespace} ${name}`;
      const message = `Identity ${namespace}/${name} was made by someone else; if it is not needed: ${remedy}`;
      return { reason: "IdentityConflict", message };
    }
    // Renewed certificates are Liqo's own affair.
    if (found.spec.authParams?.apiServer === manifest.spec.authParams?.apiServer) return undefined;
    await client.delete(IDENTITIES, { name, namespace }).catch(ignoring("not-found"));
    return {
      reason: "IdentityReplaced",
      message: "the provider has another address: Liqo gets a new Identity",
    };
  };
  const existing = ({ metadata: { name, namespace = "" } }: Identity): Promise<Identity | undefined> =>
    client.find(IDENTITIES, { name, namespace });
  const isOurs = ({ metadata }: Identity): boolean => metadata.labels?.[MANAGED_BY_LABEL] === MANAGER;

  /**
   * Removes an Identity of keys that Liqo does not have any more; the next peering makes it again. It cannot be updated:
   * Liqo keeps the old certificate in its Renew, and writes it back. Resolves with how the provider's address or authority
   * differs from what Liqo uses here, for people; undefined: it does not.
   */
  const review = async (
    { clusterId, liqoId }: Party,
    share: IdentityShare,
    own: { readonly liqoId: string; readonly keys: LiqoKeys },
  ): Promise<string | undefined> => {
    const stated = identityManifest(liqoId, share);
    const found = await existing(stated);
    if (found === undefined || !isOurs(found)) return undefined;
    const { name, namespace = "" } = found.metadata;
    if (!isForKey(found, own.keys.publicKey)) {
      await client.delete(IDENTITIES, { name, namespace }).catch(ignoring("not-found"));
      return undefined;
    }
    const difference = differenceOf(found, stated);
    if (difference === undefined) return undefined;
    const problem = problemOf(share, own.liqoId, own.keys);
    const remedy = `ask a person there; to use it: kubectl delete ${IDENTITIES.plural}.${IDENTITIES.group} -n ${namespace} ${name}`;
    const advice = problem === undefined ? remedy : `it is not used: ${problem.message}`;
    return `${clusterId} now states ${difference}, and Liqo here keeps the old one; ${advice}`;
  };
  return { apply, review };
}

function differenceOf({ spec: used }: Identity, { spec: stated }: Identity): string | undefined {
  const [before, after] = [used.authParams?.apiServer, stated.authParams?.apiServer];
  if (before !== after) return `the address ${after} instead of ${before}`;
  const isSame = used.authParams?.ca === stated.authParams?.ca;
  return isSame ? undefined : `another authority of ${after}`;
}

function isForKey({ spec }: Identity, publicKey: ReturnType<typeof createPublicKey>): boolean {
  try {
    const pem = Buffer.from(spec.authParams?.signedCRT ?? "", "base64");
    return createPublicKey(pem).equals(publicKey);
  } catch {
    return false;
  }
}
