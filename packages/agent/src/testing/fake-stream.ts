import { type Clock, Fault } from "@resource-broker/base";
import type { BrokerEvent } from "../transport/broker-communicator.ts";

/** What becomes of an event on its way: nothing, itself, itself twice, others before it. */
export type EventTransform = (clusterId: string, event: BrokerEvent) => readonly BrokerEvent[];

interface OpenStream {
  readonly clusterId: string;
  readonly waiting: BrokerEvent[];
  isCut: boolean;
  wake: () => void;
}

const HEARTBEAT_MS = 15_000;

/** The open event streams of a fake broker. */
export function fakeStreams(clock: Clock) {
  const streams = new Set<OpenStream>();
  let transform: EventTransform | undefined;

  const push = (line: OpenStream, event: BrokerEvent): void => {
    line.waiting.push(...(transform?.(line.clusterId, event) ?? [event]));
    line.wake();
  };
  const woken = (line: OpenStream, signal: AbortSignal): Promise<boolean> =>
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
    open: async function* (
      clusterId: string,
      beginning: readonly BrokerEvent[],
      signal: AbortSignal,
    ): AsyncGenerator<BrokerEvent> {
      const line: OpenStream = { clusterId, waiting: [...beginning], isCut: false, wake: () => undefined };
      streams.add(line);
      try {
        while (!signal.aborted) {
          if (line.isCut) throw new Fault("unreachable", "the stream of events broke");
          const event = line.waiting.shift();
          if (event !== undefined) yield structuredClone(event);
          else if (await woken(line, signal)) yield { kind: "heartbeat" };
        }
      } finally {
        streams.delete(line);
      }
    },
    send: (clusterId: string, event: BrokerEvent): void => {
      for (const line of streams) if (line.clusterId === clusterId) push(line, event);
    },
    sendAll: (event: BrokerEvent): void => {
      for (const line of streams) push(line, event);
    },
    cut: (): void => {
      for (const line of streams) {
        line.isCut = true;
        line.wake();
      }
    },
    setEventTransform: (next: EventTransform | undefined): void => {
      transform = next;
    },
  };
}
