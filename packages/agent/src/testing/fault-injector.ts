import { Fault, type FaultCode } from "@resource-broker/base";
import type { BrokerEvent } from "../transport/broker-communicator.ts";
import type { CallFault } from "./call-fault.ts";
import type { EventTransform } from "./fake-stream.ts";
import type { TestCluster, TestFleet } from "./test-fleet.ts";

/** A series of calls that fail: after `skip` good ones, `times` in a row. */
export interface Series {
  readonly code: FaultCode;
  readonly isDone: boolean;
  readonly times: number;
  readonly skip: number;
}

export type StreamFault = "lost" | "twice" | "swapped" | "well";

export type FaultInjector = ReturnType<typeof faultInjector>;

/** Everything that can be made to go wrong in a small world, and how to end it all. */
export function faultInjector({ broker, time, rome, paris, berlin }: TestFleet) {
  const clusters = [rome, paris, berlin];
  const brokerFaults = faultQueue();
  const clusterFaults = new Map(clusters.map((cluster) => [cluster, faultQueue()]));
  let slow: { readonly ms: number; readonly isDone: boolean } | undefined;

  broker.setCallFaults(() => {
    const failure = brokerFaults.next();
    if (failure !== undefined || slow === undefined) return failure;
    const { ms, isDone } = slow;
    slow = undefined;
    return { isDone, until: new Promise<void>((resolve) => void time.after(ms, resolve)) };
  });
  for (const [cluster, { next }] of clusterFaults) cluster.setCallFaults(next);

  return {
    brokerFails: brokerFaults.add,
    clusterFails: (cluster: TestCluster, series: Series): void => clusterFaults.get(cluster)?.add(series),
    /** The next call to the broker takes so long. */
    slowBroker: (ms: number, isDone: boolean): void => {
      slow = { ms, isDone };
    },
    streamEvents: (fault: StreamFault): void => broker.setEventTransform(eventTransform(fault)),
    end: (): void => {
      slow = undefined;
      broker.setEventTransform(undefined);
      for (const each of [brokerFaults, ...clusterFaults.values()]) each.clear();
      broker.up();
      for (const cluster of clusters) {
        cluster.up();
        cluster.setWatchLag(0);
      }
    },
  };
}

function faultQueue() {
  let series: { readonly of: Series; skip: number; left: number }[] = [];
  return {
    add: (of: Series) => void series.push({ of, skip: of.skip, left: of.times }),
    clear: () => {
      series = [];
    },
    next: (): CallFault | undefined => {
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

function eventTransform(fault: StreamFault): EventTransform | undefined {
  let kept: BrokerEvent | undefined;
  switch (fault) {
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
