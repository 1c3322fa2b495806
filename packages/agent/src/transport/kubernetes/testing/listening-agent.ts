import { RESERVATIONS } from "../resources.ts";
import { type AgentOnHub, agentOnHub } from "./agent-on-hub.ts";
import { type FakeAgent, type FakeReader, readerOf } from "./fake-agent.ts";
import { reservationObject } from "./objects.ts";

/** paris, which listens to what the broker says. */
export interface ListeningAgent extends Omit<AgentOnHub, "agent"> {
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
