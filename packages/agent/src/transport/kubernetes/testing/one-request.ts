import type { ReservationDTO } from "@resource-broker/contract";
import { reservationNameFor } from "@resource-broker/runtime";
import { reservationBody } from "@resource-broker/testkit";
import { RESERVATIONS } from "../resources.ts";
import { type AgentOnHub, agentOnHub } from "./agent-on-hub.ts";
import { type FakeAgent, type Outcome, outcomeOf } from "./fake-agent.ts";

export const KEY = "k";
export const NAME = reservationNameFor("rome", KEY);
export const REQUEST = reservationBody({ cpu: 2, memoryGi: 4 });
export const GRANTED = { phase: "Reserved", generation: 1, createdAt: "2026-01-05T12:00:00.000Z" } as const;

/** rome asks for one reservation, which paris can serve. */
export interface OneRequest extends Omit<AgentOnHub, "agent"> {
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
