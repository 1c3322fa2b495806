import type { Reservation } from "@resource-broker/contract/crd";
import { type FakeClock, fakeClock, settle } from "@resource-broker/testkit";
import { onTestFinished } from "vitest";
import { recordedLog } from "../../../testing/recorded-log.ts";
import type { BrokerEvent, BrokerTransport } from "../../broker-communicator.ts";
import { kubernetesTransport } from "../kubernetes-transport.ts";
import { RESERVATIONS } from "../manifests.ts";
import { type FakeHub, fakeHub, NAMESPACE, named, reservationObject } from "./fake-hub.ts";

/** Until the agent has felt two beats of the broker. */
const TWO_RENEWALS_MS = 4000;

/** The transport of one cluster's agent on a fake hub. */
async function agentOf(hub: FakeHub, clock: FakeClock, clusterId: string) {
  const log = recordedLog();
  const transport = await kubernetesTransport(
    { namespace: NAMESPACE, clusterId: "" },
    {
      client: hub.clientOf(clusterId),
      clock,
      random: () => 0.5,
      randomBytes: (size) => new Uint8Array(size).fill(1),
      log,
    },
  );
  onTestFinished(transport.close);
  await clock.advance(0);
  return { ...transport, logLines: log.lines };
}

/** A hub whose broker lives, and the agent of one cluster, which has felt that. All of it ends with the test. */
export async function agentOnHub(clusterId: string) {
  const clock = fakeClock();
  const hub = fakeHub(clock);
  const stopRenewing = hub.keepRenewing();
  const agent = await agentOf(hub, clock, clusterId);
  onTestFinished(stopRenewing);
  await clock.advance(TWO_RENEWALS_MS);
  return {
    clock,
    hub,
    agent,
    /** From now on the broker gives no sign of life. */
    stopRenewing,
    /** One more agent on this hub, of any cluster. */
    connect: (name: string) => agentOf(hub, clock, name),
    /** The broker shows one more reservation. */
    put: (...object: Parameters<typeof reservationObject>): void =>
      void hub.cluster.put(RESERVATIONS, reservationObject(...object)),
    found: (name: string): Reservation | undefined => hub.cluster.find(RESERVATIONS, named(name)),
    objects: (): Reservation[] => hub.cluster.all(RESERVATIONS),
    read: () => readerOf(agent),
  };
}

/** What a call came to, without waiting for it. */
export interface Outcome<T> {
  readonly value: () => T | undefined;
  /** As `code: message`. */
  readonly fault: () => string | undefined;
  readonly isOver: () => boolean;
}

export function outcomeOf<T>(call: Promise<T>): Outcome<T> {
  let end: { readonly value?: T; readonly fault?: string } | undefined;
  call.then(
    (value) => {
      end = { value };
    },
    (error: Error & { code?: string }) => {
      end = { fault: `${error.code ?? "?"}: ${error.message}` };
    },
  );
  return { value: () => end?.value, fault: () => end?.fault, isOver: () => end !== undefined };
}

/** A reader that takes whatever comes at once. */
export function readerOf(communicator: BrokerTransport) {
  const stopping = new AbortController();
  const lines: string[] = [];
  const read = async (): Promise<void> => {
    for await (const event of communicator.watch(stopping.signal)) {
      if (event.kind !== "heartbeat") lines.push(lineOf(event));
    }
  };
  const ended = outcomeOf(read());
  return {
    /** What has come since it was last asked. */
    received: async (): Promise<string[]> => {
      await settle();
      return lines.splice(0);
    },
    /** Undefined while it goes on; "" when it ended quietly. */
    ended: (): string | undefined => (ended.isOver() ? (ended.fault() ?? "") : undefined),
    stop: () => stopping.abort(),
  };
}

function lineOf(event: Exclude<BrokerEvent, { kind: "heartbeat" }>): string {
  switch (event.kind) {
    case "reset":
      return `reset: ${event.reset.reason}`;
    case "capacity":
      return `${event.capacity.change}: ${event.capacity.message ?? ""}`;
    case "statement":
      return `statement of ${event.from}`;
    case "waiting":
      return `waiting ${event.waiting.id} ${event.waiting.status.phase}`;
    default:
      return `${event.kind} ${event.reservation.id} ${event.reservation.status.phase}`;
  }
}
