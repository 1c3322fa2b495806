import { LIMIT, type Statement } from "@resource-broker/contract";
import type { Obstacle } from "../requester/steps.ts";
import type { Pin } from "./peer-pins.ts";
import type { Party, ProviderShare, RequesterShare } from "./statement.ts";

interface OwnShare {
  readonly to: Party;
  readonly requester?: RequesterShare | undefined;
  readonly provider?: ProviderShare | undefined;
}

export interface Peer {
  /** The newest statement as it came; nothing in it was checked. */
  received?: string;
  /** The newest one that counts. */
  heard?: Statement;
  obstacle?: Obstacle;
  own?: OwnShare;
  sentGeneration?: number;
  /** The newest of ours that the peer says it has seen. */
  seen?: number;
  /** Why the broker does not take ours. */
  refusal?: string;
}

const MAX_PEERS = 2 * LIMIT.statementsPerCluster;

/** What was said and heard, by cluster ID. `isExpected`: this cluster has a reason to talk to that one. */
export function peerTable(isExpected: (clusterId: string) => boolean) {
  const peers = new Map<string, Peer>();
  return {
    of: (clusterId: string): Peer => {
      const peer = peers.get(clusterId) ?? {};
      peers.set(clusterId, peer);
      return peer;
    },
    find: (clusterId: string): Peer | undefined => peers.get(clusterId),
    all: (): Iterable<[string, Peer]> => peers,
    /** Clusters that nothing is shared with any more do not keep others from being heard. */
    hasRoomFor: (clusterId: string): boolean => {
      if (peers.has(clusterId) || peers.size < MAX_PEERS) return true;
      for (const [id, { own }] of peers) if (own === undefined && !isExpected(id)) peers.delete(id);
      return peers.size < MAX_PEERS;
    },
  };
}

/** By the broker's clock, and larger than all before it. */
export function nextGeneration({ sentGeneration = 0, seen = 0 }: Peer, now: number): number {
  return Math.max(Math.floor(now), sentGeneration + 1, seen + 1);
}

/** What the peer is told: started anew, it does not know its own last number. */
export function seenOf({ heard }: Peer, pin: Pin | undefined): number | undefined {
  const generation = heard?.generation ?? pin?.generation;
  return generation === 0 ? undefined : generation;
}

export function isEmpty({ requester, provider }: OwnShare): boolean {
  return requester === undefined && provider === undefined;
}

export function isPinned({ fromKey, fromLiqoID }: Statement, pin: Pin | undefined): pin is Pin {
  return pin?.key === fromKey && pin.liqoId === fromLiqoID;
}

/** What a statement says, beside when. */
export function contentOf({ fromKey, fromLiqoID, warm, requester, provider }: Statement): string {
  return JSON.stringify({ fromKey, fromLiqoID, warm, requester, provider });
}
