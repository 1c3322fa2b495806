import { type Clock, type Log, toFault } from "@resource-broker/base";
import { loop } from "@resource-broker/kube";
import type { ReleaseState } from "../../data-plane/data-plane.ts";
import {
  isWarmClaim,
  type PeeringMarker,
  type PeeringMarkers,
  warmClaimOf,
} from "../requester/peering-marker.ts";
import type { StatementExchange } from "./exchange.ts";

export interface WarmPairsOptions {
  readonly warmPeers: ReadonlySet<string>;
  readonly warmForMs: number;
}

interface WarmPairsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly markers: Pick<PeeringMarkers, "all">;
  readonly exchange: Pick<StatementExchange, "heard">;
  /** Takes the next step to give up a claim. */
  readonly release: (claim: string) => Promise<ReleaseState>;
}

const EVERY_MS = 10_000;

/** Ends the peerings of warm pairs that nothing was reserved for in a while, or that only this cluster keeps warm. */
export function warmPairs({ warmPeers, warmForMs }: WarmPairsOptions, deps: WarmPairsDeps) {
  const { clock, log, markers, exchange } = deps;
  /** Since when a pair is idle, by its Liqo ID; monotonic. A restarted agent begins anew. */
  const idleSince = new Map<string, number>();

  const isOver = ({ clusterId, liqoId, isEnding }: PeeringMarker): boolean => {
    const idleMs = clock.monotonicMs() - (idleSince.get(liqoId) ?? clock.monotonicMs());
    const heard = exchange.heard(clusterId);
    const isOneSided = heard !== undefined && heard.warm !== true;
    return isEnding || !warmPeers.has(clusterId) || isOneSided || idleMs >= warmForMs;
  };
  const round = async (): Promise<number> => {
    try {
      let pauseMs = EVERY_MS;
      for (const marker of await markers.all()) {
        const { claims, liqoId } = marker;
        if (!claims.includes(warmClaimOf(liqoId))) continue;
        if (!claims.every(isWarmClaim)) idleSince.delete(liqoId);
        else if (!idleSince.has(liqoId)) idleSince.set(liqoId, clock.monotonicMs());
        if (!claims.every(isWarmClaim) || !isOver(marker)) continue;
        const state = await deps.release(warmClaimOf(liqoId));
        if (state.kind === "working") pauseMs = Math.min(pauseMs, state.retryAfterMs);
      }
      return pauseMs;
    } catch (error) {
      log.warn({ error: toFault(error).message }, "warm pairs cannot be checked");
      return EVERY_MS;
    }
  };
  return loop({ clock, round });
}
