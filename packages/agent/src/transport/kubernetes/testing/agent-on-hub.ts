import { type FakeClock, fakeClock } from "@resource-broker/testkit";
import { onTestFinished } from "vitest";
import { type FakeAgent, fakeAgent } from "./fake-agent.ts";
import { type FakeHub, fakeHub } from "./fake-hub.ts";

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
