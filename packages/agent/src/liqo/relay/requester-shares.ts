import {
  type KubeClient,
  NAMESPACES,
  type ReconcileResult,
  reconcileLoop,
  type ReflectorDeps,
  SECRETS,
} from "@resource-broker/kube";
import { ignoring } from "../../faults.ts";
import { MANAGER } from "../../manifests/labels.ts";
import { tenantNamespaceOf } from "../objects.ts";
import { tenantNamespace } from "../requester/peering-checks.ts";
import type { Obstacle } from "../requester/steps.ts";
import type { StatementExchange } from "./exchange.ts";
import type { Identities } from "./identities.ts";
import type { PeerPins } from "./peer-pins.ts";
import {
  controlPlaneCsr,
  derOf,
  type LiqoKeys,
  liqoKeys,
  SECRET,
  signedNonceSecret,
  textIn,
} from "./relay-objects.ts";
import { isNonce, isSignedNonce } from "./share-checks.ts";
import { LIFETIME_MS, type Party } from "./statement.ts";

export interface RequesterSharesDeps extends Pick<ReflectorDeps, "clock" | "random" | "log"> {
  readonly client: Pick<KubeClient, "find" | "create" | "update" | "delete">;
  readonly exchange: Pick<StatementExchange, "heard" | "state">;
  readonly pins: Pick<PeerPins, "of" | "change">;
  readonly identities: Pick<Identities, "review">;
  /** The provider's address or authority is not what Liqo uses here; undefined: it is. */
  readonly onDifference: (clusterId: string, message: string | undefined) => void;
  readonly ownLiqoId: () => string | undefined;
}

export type RequesterShares = ReturnType<typeof requesterShares>;

const SIGN_RETRY_MS = 200;
const LIQO_RETRY_MS = 5000;

/** What this cluster states as requester, kept in step with its cluster and with what the providers state. */
export function requesterShares(liqoNamespace: string, deps: RequesterSharesDeps) {
  const { client, clock, exchange, pins } = deps;
  const wanted = new Map<string, { readonly peer: Party; readonly wants: boolean }>();
  /** Since when the end is stated; monotonic. */
  const endedAt = new Map<string, number>();
  const problems = new Map<string, Obstacle>();

  const reconcile = async (clusterId: string): Promise<ReconcileResult> => {
    const entry = wanted.get(clusterId);
    if (entry === undefined) return {};
    return entry.wants ? await keep(entry.peer) : await end(entry.peer);
  };
  const keep = async (peer: Party): Promise<ReconcileResult> => {
    const { clusterId } = peer;
    const [liqoId, keys] = [deps.ownLiqoId(), await liqoKeys(client, liqoNamespace)];
    if (liqoId === undefined || keys === undefined) return { requeueAfterMs: LIQO_RETRY_MS };
    const csr = await csrFor(clusterId, liqoId, keys);
    const provider = exchange.heard(clusterId)?.provider;
    if (provider?.identity !== undefined)
      deps.onDifference(clusterId, await deps.identities.review(peer, provider.identity, { liqoId, keys }));
    const proof = await proofOf(peer, provider?.nonce, keys);
    exchange.state(peer, { requester: { wants: true, publicKey: derOf(keys.publicKey), csr, ...proof } });
    return proof === undefined ? { requeueAfterMs: SIGN_RETRY_MS } : {};
  };
  /** Undefined: Liqo has not signed it yet. Empty: there is nothing to sign, or it must not be signed. */
  const proofOf = async (peer: Party, nonce: string | undefined, keys: LiqoKeys) => {
    if (nonce === undefined) return {};
    const signedNonce = await signatureOf(peer, nonce, keys);
    if (signedNonce !== undefined) return { nonce, signedNonce };
    return problems.has(peer.clusterId) ? {} : undefined;
  };
  /** The same bytes every time: Liqo at the provider refuses another request of the same cluster. */
  const csrFor = async (clusterId: string, liqoId: string, keys: LiqoKeys): Promise<string> => {
    const before = (await pins.of(clusterId))?.csr;
    const csr = controlPlaneCsr(liqoId, keys, before);
    if (csr !== before) await pins.change(clusterId, { csr });
    return csr;
  };

  /** Liqo's own signer signs it; undefined: not yet, or it must not. */
  const signatureOf = async (peer: Party, nonce: string, keys: LiqoKeys): Promise<string | undefined> => {
    if (!isNonce(nonce)) {
      const message = `what ${peer.clusterId} sends to be signed is no nonce of Liqo: nothing is signed`;
      problems.set(peer.clusterId, { reason: "NonceRefused", message });
      return undefined;
    }
    problems.delete(peer.clusterId);
    const secret = signedNonceSecret(peer.liqoId, nonce);
    const found = await client.find(SECRETS, nameOf(peer));
    if (found === undefined) {
      const namespace = tenantNamespace(peer.liqoId);
      await client.create(NAMESPACES, namespace, { fieldManager: MANAGER }).catch(ignoring("already-exists"));
      await client.create(SECRETS, secret, { fieldManager: MANAGER });
      return undefined;
    }
    if (textIn(found, "nonce") !== nonce) {
      await client.update(SECRETS, { ...found, data: secret.data ?? {} }, { fieldManager: MANAGER });
      return undefined;
    }
    const signature = found.data?.["signedNonce"] ?? "";
    return isSignedNonce(nonce, signature, keys.publicKey) ? signature : undefined;
  };

  /** It is said for as long as statements live; later the provider ends its side by itself. */
  const end = async (peer: Party): Promise<ReconcileResult> => {
    const { clusterId } = peer;
    const sinceMs = clock.monotonicMs() - (endedAt.get(clusterId) ?? clock.monotonicMs());
    if (sinceMs >= LIFETIME_MS) {
      exchange.state(peer, { requester: undefined });
      wanted.delete(clusterId);
      return {};
    }
    if (!endedAt.has(clusterId)) endedAt.set(clusterId, clock.monotonicMs());
    exchange.state(peer, { requester: { wants: false } });
    problems.delete(clusterId);
    await client.delete(SECRETS, nameOf(peer)).catch(ignoring("not-found"));
    return { requeueAfterMs: LIFETIME_MS - sinceMs };
  };
  const nameOf = ({ liqoId }: Party) => ({ name: SECRET.signedNonce, namespace: tenantNamespaceOf(liqoId) });

  const loop = reconcileLoop({ name: "peerings by relay", concurrency: 4, reconcile }, deps);
  return {
    /** Whether this cluster needs the peering with a provider. */
    want: ({ clusterId, liqoId }: Party, wants: boolean): void => {
      wanted.set(clusterId, { peer: { clusterId, liqoId }, wants });
      endedAt.delete(clusterId);
      loop.enqueue(clusterId);
    },
    isWanted: (clusterId: string): boolean => wanted.get(clusterId)?.wants === true,
    problem: (clusterId: string): Obstacle | undefined => problems.get(clusterId),
    lookAgain: loop.enqueue,
    stop: loop.stop,
  };
}
