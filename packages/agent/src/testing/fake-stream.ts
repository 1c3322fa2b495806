import { type Clock, Fault } from "@resource-broker/base";
import type { BrokerEvent } from "../transport/broker-communicator.ts";
import { type Waiting, woken } from "./woken.ts";

/** What becomes of an event on its way: nothing, itself, itself twice, others before it. */
export type EventTransform = (clusterId: string, event: BrokerEvent) => readonly BrokerEvent[];

interface OpenStream extends Waiting {
  readonly clusterId: string;
  readonly waiting: BrokerEvent[];
  isCut: boolean;
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
          else if (await woken(line, { clock, idleMs: HEARTBEAT_MS, signal })) yield { kind: "heartbeat" };
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
