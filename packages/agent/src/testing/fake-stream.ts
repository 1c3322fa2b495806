import { Fault } from "@resource-broker/contract";
import type { Clock } from "@resource-broker/runtime";
import type { BrokerEvent } from "../transport/broker-communicator.ts";

/** What becomes of an event on its way: nothing, itself, itself twice, others before it. */
export type Distortion = (clusterId: string, event: BrokerEvent) => readonly BrokerEvent[];

/** The open event streams of a fake broker. */
export interface FakeStreams {
  readonly open: (
    clusterId: string,
    beginning: readonly BrokerEvent[],
    signal: AbortSignal,
  ) => AsyncGenerator<BrokerEvent>;
  readonly send: (clusterId: string, event: BrokerEvent) => void;
  readonly sendAll: (event: BrokerEvent) => void;
  readonly cut: () => void;
  readonly setDistortion: (distortion: Distortion | undefined) => void;
}

interface Line {
  readonly clusterId: string;
  readonly waiting: BrokerEvent[];
  isCut: boolean;
  wake: () => void;
}

const HEARTBEAT_MS = 15_000;

export function fakeStreams(clock: Clock): FakeStreams {
  const lines = new Set<Line>();
  let distortion: Distortion | undefined;

  const push = (line: Line, event: BrokerEvent): void => {
    line.waiting.push(...(distortion?.(line.clusterId, event) ?? [event]));
    line.wake();
  };
  const woken = (line: Line, signal: AbortSignal): Promise<boolean> =>
    new Promise((resolve) => {
      const end = (isTime: boolean) => {
        cancel();
        signal.removeEventListener("abort", wake);
        resolve(isTime);
      };
      const wake = () => end(false);
      const cancel = clock.after(HEARTBEAT_MS, () => end(true));
      line.wake = wake;
      signal.addEventListener("abort", wake);
    });

  return {
    open: async function* (clusterId, beginning, signal) {
      const line: Line = { clusterId, waiting: [...beginning], isCut: false, wake: () => undefined };
      lines.add(line);
      try {
        while (!signal.aborted) {
          if (line.isCut) throw new Fault("unreachable", "the stream of events broke");
          const event = line.waiting.shift();
          if (event !== undefined) yield structuredClone(event);
          else if (await woken(line, signal)) yield { kind: "heartbeat" };
        }
      } finally {
        lines.delete(line);
      }
    },
    send: (clusterId, event) => {
      for (const line of lines) if (line.clusterId === clusterId) push(line, event);
    },
    sendAll: (event) => {
      for (const line of lines) push(line, event);
    },
    cut: () => {
      for (const line of lines) {
        line.isCut = true;
        line.wake();
      }
    },
    setDistortion: (next) => {
      distortion = next;
    },
  };
}
