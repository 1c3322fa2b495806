import type { BrokerClient, SeededRandom } from "@resource-broker/testkit";
import { Gate } from "./gate.ts";
import { LoadClient } from "./load-client.ts";
import type { TrackedRequest } from "./tracked-request.ts";

export interface LoadClientsOptions {
  readonly clients: readonly BrokerClient[];
  readonly random: SeededRandom;
  /** Orders each client makes. Absent: until stopped. */
  readonly ordersEach?: number;
  /** Orders of one client at the same time. */
  readonly lanes: number;
  /** The part of the orders that wait if there is no room. Absent: none. */
  readonly patience?: number;
}

/** Many clients that order at the same time, hang up, repeat themselves and give back. */
export interface LoadClients {
  readonly requests: readonly TrackedRequest[];
  /** Replies that no client should ever see. */
  readonly problems: readonly string[];
  /** Resolves when every client has made its orders, or was stopped. */
  readonly done: Promise<void>;
  /** Resolves in the very moment in which a client hears that its order is booked. */
  readonly nextAcknowledgement: () => Promise<void>;
  /** Resolves when no call is under way any more. */
  readonly pause: () => Promise<void>;
  readonly resume: () => void;
  readonly stop: () => Promise<void>;
  /** Gives back what every client holds, once they have stopped. */
  readonly releaseAll: () => Promise<void>;
}

export function startLoadClients(options: LoadClientsOptions): LoadClients {
  const { clients, random, ordersEach, lanes, patience = 0 } = options;
  const requests: TrackedRequest[] = [];
  const problems: string[] = [];
  const gate = new Gate();
  let isStopped = false;
  let listeners: (() => void)[] = [];
  const onAcknowledged = (): void => {
    const notified = listeners;
    listeners = [];
    for (const notify of notified) notify();
  };

  const loadClients = clients.map(
    (client, number) =>
      new LoadClient({
        client,
        gate,
        random: random.fork(number),
        requests,
        problems,
        patience,
        onAcknowledged,
      }),
  );
  const runClient = async (loadClient: LoadClient): Promise<void> => {
    let left = ordersEach ?? Number.POSITIVE_INFINITY;
    const lane = async (): Promise<void> => {
      while (left-- > 0 && !isStopped) await loadClient.reserve(() => isStopped);
    };
    await Promise.all(Array.from({ length: lanes }, lane));
  };

  const done = Promise.all(loadClients.map(runClient)).then(() => undefined);
  return {
    requests,
    problems,
    done,
    nextAcknowledgement: () => new Promise((resolve) => listeners.push(resolve)),
    pause: () => gate.close(),
    resume: () => gate.open(),
    stop: async () => {
      isStopped = true;
      gate.open();
      await done;
    },
    releaseAll: () => Promise.all(loadClients.map((each) => each.releaseAll())).then(() => undefined),
  };
}
