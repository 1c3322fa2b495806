import { systemClock, type Log, type Clock } from "@resource-broker/runtime";
import { type Behaviours, behaviours, type LiqoBehaviour } from "./behaviour.ts";
import { controllers } from "./controllers.ts";
import { type FakeLiqoctl, fakeLiqoctl } from "./fake-liqoctl.ts";
import type { LiqoSite, Surroundings } from "./site.ts";

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
  readonly behaveWell: () => void;
  /** Does nothing, however much happens; `resume` works it all off. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** For Liqo, this cluster's API server no longer answers. */
  readonly lose: (id: string) => void;
  readonly recover: (id: string) => void;
  /** How many slices were refused by their provider: `isRefused`. */
  readonly refusals: () => number;
  readonly liqoctl: FakeLiqoctl;
  /** What its controllers could not do, newest last: mostly writes that somebody was faster with. */
  readonly troubles: readonly string[];
}

export function fakeLiqo({ sites, clock = realTime() }: FakeLiqoOptions): FakeLiqo {
  const rules: Behaviours = behaviours();
  const lost = new Set<string>();
  const troubles: string[] = [];
  const liqo: Surroundings = {
    sites,
    site: (id) => sites.find((site) => site.id === id),
    behaviours: rules,
    isReachable: (id) => !lost.has(id),
    forgotten: new Map(),
    unheard: new Set(),
    now: () => new Date(clock.wallMs()).toISOString().replace(/\.\d+Z$/, "Z"),
  };
  const running = controllers(liqo, { clock: realTime(), log: logInto(troubles) });
  const liqoctl = fakeLiqoctl({ liqo, nextChange: running.nextChange, onNetwork: running.setNetwork });
  const changed =
    <Args extends readonly unknown[]>(act: (...args: Args) => void) =>
    (...args: Args): void => {
      act(...args);
      running.lookAtAll();
    };
  return {
    start: running.start,
    stop: running.stop,
    behave: changed(rules.change),
    behaveWell: changed(rules.reset),
    pause: running.pause,
    resume: running.resume,
    lose: changed((id: string) => void lost.add(id)),
    recover: changed((id: string) => void lost.delete(id)),
    refusals: () => liqo.forgotten.size,
    liqoctl,
    troubles,
  };
}

function realTime(): Clock {
  return systemClock(() => Math.round(performance.timeOrigin + performance.now()));
}

function logInto(lines: string[]): Log {
  const say: Log["info"] = (fields, message) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const ignore: Log["info"] = () => undefined;
  return { info: ignore, warn: say, error: say };
}
