import { Fault, type FaultCode } from "@resource-broker/contract";
import type { BrokerEvent } from "../transport/broker-communicator.ts";
import type { Distortion } from "./fake-stream.ts";
import type { Mishap } from "./mishap.ts";
import type { SmallCluster, SmallWorld } from "./small-world.ts";

/** A series of calls that fail: after `skip` good ones, `times` in a row. */
export interface Series {
  readonly code: FaultCode;
  readonly isDone: boolean;
  readonly times: number;
  readonly skip: number;
}

export type Fate = "lost" | "twice" | "swapped" | "well";

/** Everything that can be made to go wrong in a small world, and how to end it all. */
export interface Disturbances {
  readonly brokerFails: (series: Series) => void;
  readonly clusterFails: (cluster: SmallCluster, series: Series) => void;
  /** The next call to the broker takes so long. */
  readonly slowBroker: (ms: number, isDone: boolean) => void;
  readonly streamEvents: (fate: Fate) => void;
  readonly end: () => void;
}

export function disturbances({ broker, time, rome, paris, berlin }: SmallWorld): Disturbances {
  const clusters = [rome, paris, berlin];
  const ofBroker = troubles();
  const ofClusters = new Map(clusters.map((cluster) => [cluster, troubles()]));
  let slow: { readonly ms: number; readonly isDone: boolean } | undefined;

  broker.setMishaps(() => {
    const failure = ofBroker.next();
    if (failure !== undefined || slow === undefined) return failure;
    const { ms, isDone } = slow;
    slow = undefined;
    return { isDone, until: new Promise<void>((resolve) => void time.after(ms, resolve)) };
  });
  for (const [cluster, { next }] of ofClusters) cluster.setMishaps(next);

  return {
    brokerFails: ofBroker.add,
    clusterFails: (cluster, series) => ofClusters.get(cluster)?.add(series),
    slowBroker: (ms, isDone) => {
      slow = { ms, isDone };
    },
    streamEvents: (fate) => broker.setDistortion(distortion(fate)),
    end: () => {
      slow = undefined;
      broker.setDistortion(undefined);
      for (const each of [ofBroker, ...ofClusters.values()]) each.clear();
      broker.up();
      for (const cluster of clusters) {
        cluster.up();
        cluster.setWatchLag(0);
      }
    },
  };
}

function troubles() {
  let series: { readonly of: Series; skip: number; left: number }[] = [];
  return {
    add: (of: Series) => void series.push({ of, skip: of.skip, left: of.times }),
    clear: () => {
      series = [];
    },
    next: (): Mishap | undefined => {
      const [first] = series;
      if (first === undefined) return undefined;
      if (first.skip > 0) {
        first.skip--;
        return undefined;
      }
      first.left--;
      if (first.left === 0) series.shift();
      const { code, isDone } = first.of;
      return { fault: new Fault(code, `made to fail with ${code}`), isDone };
    },
  };
}

function distortion(fate: Fate): Distortion | undefined {
  let kept: BrokerEvent | undefined;
  switch (fate) {
    case "well":
      return undefined;
    case "lost":
      return () => [];
    case "twice":
      return (_, event) => [event, event];
    case "swapped":
      return (_, event) => {
        const before = kept;
        kept = before === undefined ? event : undefined;
        return before === undefined ? [] : [event, before];
      };
  }
}
