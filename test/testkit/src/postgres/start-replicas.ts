import { PATH } from "@resource-broker/contract";
import type { BrokerClient } from "../broker/broker-client.ts";
import { type BrokerProcess, type BrokerProcessOptions, startBroker } from "../broker/broker-process.ts";
import { isServed } from "../process/program.ts";
import { until } from "../world/until.ts";
import { failoverClient } from "./failover-client.ts";

/**
 * Only a guard: on a machine that does much else a process takes half a minute to start, and one whose database was too slow
 * for its lease ends and starts once more.
 */
const LEADER_WITHIN_MS = 300_000;
const SUPERVISE_EVERY_MS = 100;

export interface ReplicasOptions extends Omit<BrokerProcessOptions, "directory" | "isReplica" | "store"> {
  /** The store of each: the same database, perhaps on different ways. */
  readonly stores: readonly string[];
  /** Flags that differ from replica to replica, by its number. */
  readonly flagsFor?: (replica: number) => readonly string[];
}

/** Several real brokers on one store. Whichever ends is started again, as a supervisor would. */
export interface Replicas {
  readonly all: readonly BrokerProcess[];
  /** A client that finds the leader; the same one each time. */
  readonly clientFor: BrokerProcess["clientFor"];
  readonly admin: () => BrokerClient;
  /** The replica that serves; waits until there is one. */
  readonly leader: () => Promise<BrokerProcess>;
  /** Ends them all in good order. */
  readonly stop: () => Promise<void>;
  readonly dispose: () => Promise<void>;
}

export async function startReplicas({ stores, flagsFor, ...options }: ReplicasOptions): Promise<Replicas> {
  const all: BrokerProcess[] = [];
  const supervisor = supervise(all);
  const dispose = async (): Promise<void> => {
    await supervisor.stop();
    await Promise.all(all.map((each) => each.dispose()));
  };
  try {
    for (const [index, store] of stores.entries()) {
      const own = flagsFor?.(index) ?? [];
      const flags = [`--replica-name=replica-${index}`, ...own, ...(options.flags ?? [])];
      all.push(await startBroker({ ...options, store, flags, isReplica: true }));
    }
  } catch (error) {
    await dispose();
    throw error;
  }
  const clients = new Map<string, BrokerClient>();
  const once = (clusterId: string, make: () => readonly BrokerClient[]): BrokerClient => {
    const client = clients.get(clusterId) ?? failoverClient(make());
    clients.set(clusterId, client);
    return client;
  };
  return {
    all,
    clientFor: (clusterId, more) => once(clusterId, () => all.map((each) => each.clientFor(clusterId, more))),
    admin: () => once("", () => all.map((each) => each.admin())),
    leader: () => until("a replica leads", () => servingAmong(all), LEADER_WITHIN_MS),
    stop: async () => {
      await supervisor.stop();
      await Promise.all(all.map((each) => each.stop()));
    },
    dispose,
  };
}

function supervise(replicas: readonly BrokerProcess[]): { readonly stop: () => Promise<void> } {
  const starting = new Map<BrokerProcess, Promise<void>>();
  const look = (): void => {
    for (const replica of replicas) {
      if (replica.pid !== undefined || starting.has(replica)) continue;
      starting.set(
        replica,
        replica.launch().finally(() => starting.delete(replica)),
      );
    }
  };
  const timer = setInterval(look, SUPERVISE_EVERY_MS);
  return {
    // What is just being started has no number yet, and could not be ended.
    stop: async () => {
      clearInterval(timer);
      await Promise.allSettled(starting.values());
    },
  };
}

async function servingAmong(replicas: readonly BrokerProcess[]): Promise<BrokerProcess | undefined> {
  const running = replicas.filter(({ pid }) => pid !== undefined);
  const answers = await Promise.all(
    running.map(({ probePort }) => isServed({ port: probePort, path: PATH.readiness })),
  );
  return running.find((_, index) => answers[index]);
}
