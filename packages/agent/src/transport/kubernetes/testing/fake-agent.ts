import { type FakeClock, settle } from "@resource-broker/testkit";
import { recordedLog } from "../../../testing/recorded-log.ts";
import type { BrokerEvent, BrokerTransport } from "../../broker-communicator.ts";
import { kubernetesTransport } from "../kubernetes-transport.ts";
import type { FakeHub } from "./fake-hub.ts";
import { NAMESPACE } from "./objects.ts";

/** The transport of one cluster's agent on a fake hub. */
export interface FakeAgent {
  readonly communicator: BrokerTransport;
  readonly logLines: string[];
}

export async function fakeAgent(hub: FakeHub, clock: FakeClock, clusterId: string): Promise<FakeAgent> {
  const log = recordedLog();
  let count = 0;
  const communicator = await kubernetesTransport(
    { namespace: NAMESPACE, clusterId: "" },
    {
      client: hub.clientOf(clusterId),
      clock,
      random: () => 0.5,
      randomBytes: (size) => new Uint8Array(size).fill(++count),
      log,
    },
  );
  await clock.advance(0);
  return { communicator, logLines: log.lines };
}

/** What a call came to, without waiting for it. */
export interface Outcome<T> {
  readonly value: () => T | undefined;
  /** As `code: message`. */
  readonly fault: () => string | undefined;
  readonly isOver: () => boolean;
}

export function outcomeOf<T>(call: Promise<T>): Outcome<T> {
  let value: T | undefined;
  let fault: string | undefined;
  let isOver = false;
  call.then(
    (result) => {
      value = result;
      isOver = true;
    },
    (error: Error & { code?: string }) => {
      fault = `${error.code ?? "?"}: ${error.message}`;
      isOver = true;
    },
  );
  return { value: () => value, fault: () => fault, isOver: () => isOver };
}

/** A reader that takes whatever comes at once. */
export interface FakeReader {
  /** What has come since it was last asked; heartbeats only where nothing else did. */
  readonly received: () => Promise<string[]>;
  readonly heartbeats: () => number;
  /** Undefined while it goes on; "" when it ended quietly. */
  readonly ended: () => string | undefined;
  readonly stop: () => void;
}

export function readerOf(communicator: BrokerTransport): FakeReader {
  const stopping = new AbortController();
  const lines: string[] = [];
  let heartbeats = 0;
  let ended: string | undefined;
  const read = async (): Promise<void> => {
    for await (const event of communicator.watchInstructions(stopping.signal)) {
      if (event.kind === "heartbeat") heartbeats++;
      else lines.push(lineOf(event));
    }
  };
  read().then(
    () => {
      ended = "";
    },
    (error: Error) => {
      ended = error.message;
    },
  );
  return {
    received: async () => {
      await settle();
      return lines.splice(0);
    },
    heartbeats: () => heartbeats,
    ended: () => ended,
    stop: () => stopping.abort(),
  };
}

function lineOf(event: Exclude<BrokerEvent, { kind: "heartbeat" }>): string {
  switch (event.kind) {
    case "reset":
      return `reset: ${event.reset.reason}`;
    case "capacity":
      return `${event.capacity.change}: ${event.capacity.message ?? ""}`;
    default:
      return `${event.kind} ${event.reservation.id} ${event.reservation.status.phase}`;
  }
}
