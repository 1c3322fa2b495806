import type { Clock, Log } from "@resource-broker/base";
import { systemClock } from "@resource-broker/runtime";
import { type Behaviours, behaviours, type LiqoBehaviour } from "./behaviour.ts";
import { controllers } from "./controllers.ts";
import { type FakeLiqoctl, fakeLiqoctl } from "./fake-liqoctl.ts";
import type { LiqoSite, LiqoState } from "./liqo-state.ts";

export interface FakeLiqoOptions {
  readonly sites: readonly LiqoSite[];
  /** Whose time stands in conditions. Absent: this machine's. */
  readonly clock?: Pick<Clock, "wallMs">;
}

/**
 * Plays Liqo's controllers in several clusters, on their real API servers: whatever appears there is treated as Liqo
 * 1.2 would, or as wrongly as it is told to. It acts on what it watches and on nothing else.
 */
export interface FakeLiqo {
  /** Resolves when it has seen everything that is there. */
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  /** From now on, for all slices or for the one of that name; what is there is looked at again. */
  readonly behave: (change: Partial<LiqoBehaviour>, slice?: string) => void;
  /** Does everything right again. */
  readonly resetBehaviour: () => void;
  /** Does nothing, however much happens; `resume` works it all off. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** For Liqo, this cluster's API server no longer answers. */
  readonly disconnect: (id: string) => void;
  readonly reconnect: (id: string) => void;
  /** How many slices were refused by their provider: `isRefused`. */
  readonly refusals: () => number;
  readonly liqoctl: FakeLiqoctl;
  /** What its controllers could not do, newest last: mostly writes that somebody was faster with. */
  readonly errors: readonly string[];
}

export function fakeLiqo({ sites, clock = realClock() }: FakeLiqoOptions): FakeLiqo {
  const rules: Behaviours = behaviours();
  const lost = new Set<string>();
  const errors: string[] = [];
  const liqo: LiqoState = {
    sites,
    site: (id) => sites.find((site) => site.id === id),
    behaviours: rules,
    isReachable: (id) => !lost.has(id),
    refusedVersions: new Map(),
    missedDeletions: new Set(),
    now: () => new Date(clock.wallMs()).toISOString().replace(/\.\d+Z$/, "Z"),
  };
  const running = controllers(liqo, { clock: realClock(), log: logTo(errors) });
  const liqoctl = fakeLiqoctl({ liqo, nextChange: running.nextChange, onNetwork: running.setNetwork });
  const changed =
    <Args extends readonly unknown[]>(act: (...args: Args) => void) =>
    (...args: Args): void => {
      act(...args);
      running.requeueAll();
    };
  return {
    start: running.start,
    stop: running.stop,
    behave: changed(rules.change),
    resetBehaviour: changed(rules.reset),
    pause: running.pause,
    resume: running.resume,
    disconnect: changed((id: string) => void lost.add(id)),
    reconnect: changed((id: string) => void lost.delete(id)),
    refusals: () => liqo.refusedVersions.size,
    liqoctl,
    errors,
  };
}

function realClock(): Clock {
  return systemClock(() => Math.round(performance.timeOrigin + performance.now()));
}

function logTo(lines: string[]): Log {
  const say: Log["info"] = (fields, message) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const ignore: Log["info"] = () => undefined;
  return { info: ignore, warn: say, error: say };
}
