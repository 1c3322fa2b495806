import type { ReservationDTO } from "@resource-broker/contract";
import { reservationNameFor } from "@resource-broker/domain";
import { sha256 } from "@resource-broker/runtime";
import { type FakeClock, fakeClock, reservationBody } from "@resource-broker/testkit";
import { onTestFinished } from "vitest";
import { RESERVATIONS } from "../manifests.ts";
import {
  type FakeAgent,
  type FakeReader,
  fakeAgent,
  type Outcome,
  outcomeOf,
  readerOf,
} from "./fake-agent.ts";
import { type FakeHub, fakeHub } from "./fake-hub.ts";
import { reservationObject } from "./objects.ts";

/** Until the agent has felt two beats of the broker. */
const TWO_RENEWALS_MS = 4000;

/** A hub whose broker lives, and the agent of one cluster, which has felt that. All of it ends with the test. */
export interface AgentOnHub {
  readonly clock: FakeClock;
  readonly hub: FakeHub;
  readonly agent: FakeAgent;
  /** One more agent on this hub, of any cluster. */
  readonly connect: (clusterId: string) => Promise<FakeAgent>;
  /** From now on the broker gives no sign of life. */
  readonly stopRenewing: () => void;
}

export async function agentOnHub(clusterId: string): Promise<AgentOnHub> {
  const clock = fakeClock();
  const hub = fakeHub(clock);
  const stopRenewing = hub.keepRenewing();
  const connect = async (name: string): Promise<FakeAgent> => {
    const connected = await fakeAgent(hub, clock, name);
    onTestFinished(connected.communicator.close);
    return connected;
  };
  const agent = await connect(clusterId);
  onTestFinished(stopRenewing);
  await clock.advance(TWO_RENEWALS_MS);
  return { clock, hub, agent, connect, stopRenewing };
}

/** paris, which listens to what the broker says. */
interface ListeningAgent extends Omit<AgentOnHub, "agent"> {
  readonly paris: FakeAgent;
  /** The broker shows one more reservation. */
  readonly put: (...object: Parameters<typeof reservationObject>) => void;
  readonly read: () => FakeReader;
}

export async function listeningAgent(): Promise<ListeningAgent> {
  const { agent: paris, ...others } = await agentOnHub("paris");
  return {
    ...others,
    paris,
    put: (...object) => void others.hub.cluster.put(RESERVATIONS, reservationObject(...object)),
    read: () => readerOf(paris.communicator),
  };
}

export const KEY = "k";
export const NAME = reservationNameFor("rome", KEY, sha256);
export const REQUEST = reservationBody({ cpu: 2, memoryGi: 4 });
export const GRANTED = { phase: "Reserved", generation: 1, createdAt: "2026-01-05T12:00:00.000Z" } as const;

/** rome asks for one reservation, which paris can serve. */
interface OneRequest extends Omit<AgentOnHub, "agent"> {
  readonly rome: FakeAgent;
  /** Asks; `by` another process of rome where it is given. */
  readonly request: (by?: FakeAgent) => Outcome<ReservationDTO>;
  /** The broker grants what was asked for. */
  readonly grant: () => void;
  /** The names of all Reservations. */
  readonly objects: () => string[];
}

export async function oneRequest(): Promise<OneRequest> {
  const { agent: rome, ...others } = await agentOnHub("rome");
  const { hub } = others;
  return {
    ...others,
    rome,
    request: (by = rome) => outcomeOf(by.communicator.requestReservation(REQUEST, KEY)),
    grant: () => hub.writeReservation(NAME, GRANTED, { targetClusterID: "paris" }),
    objects: () => hub.cluster.all(RESERVATIONS).map(({ metadata }) => metadata.name),
  };
}
