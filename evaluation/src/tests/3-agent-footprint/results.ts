import { coreShare } from "../../measure/sample-process.ts";
import { median } from "../../measure/statistics.ts";
import type { AgentAtRest } from "../agent-at-rest/agent-at-rest.ts";

/** After that the agent has started, connected and told everything once. */
const STARTED_MS = 15_000;

export interface Footprint {
  /** Undefined: it was not watched for that long. */
  readonly restCpu: number | undefined;
  /** From the first look on, which is when the process has just begun: what came before it is added. */
  readonly wholeCpu: number | undefined;
  readonly rssMb: number | undefined;
  readonly privateMb: number | undefined;
  readonly peakMb: number | undefined;
}

export function footprintOf({ samples }: Pick<AgentAtRest, "samples">): Footprint {
  const atRest = samples.filter(({ atMs }) => atMs >= STARTED_MS);
  const settled = atRest.length > 1 ? atRest : samples.slice(Math.floor(samples.length / 2));
  const last = samples.at(-1);
  return {
    restCpu: coreShare(atRest),
    wholeCpu: last === undefined || last.atMs === 0 ? undefined : (100 * last.cpuMs) / last.atMs,
    rssMb: median(settled.map(({ rssMb }) => rssMb)),
    privateMb: median(settled.map(({ privateMb }) => privateMb)),
    peakMb: samples.length === 0 ? undefined : Math.max(...samples.map(({ rssMb }) => rssMb)),
  };
}

type Line = readonly { readonly x: number; readonly y: number }[];

export function memoryOverTime({ samples }: Pick<AgentAtRest, "samples">): {
  readonly rss: Line;
  readonly own: Line;
} {
  return {
    rss: samples.map(({ atMs, rssMb }) => ({ x: atMs / 1000, y: rssMb })),
    own: samples.map(({ atMs, privateMb }) => ({ x: atMs / 1000, y: privateMb })),
  };
}
