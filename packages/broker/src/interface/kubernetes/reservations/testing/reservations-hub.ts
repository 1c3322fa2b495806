import type { Reservation } from "@resource-broker/contract/crd";
import { afterAll, beforeAll } from "vitest";
import { RESERVATIONS } from "../../objects/object-informers.ts";
import {
  type BrokerParts,
  NAMESPACE,
  openEnvironment,
  type TestBroker,
  type TestEnvironment,
} from "../../testing/environment.ts";
import { type Offered, publish } from "../../testing/samples.ts";

/** The scene that the tests of one file share, and its broker of the moment. */
export interface ReservationsHub {
  readonly env: TestEnvironment;
  readonly broker: TestBroker;
  /** The next broker, with the parts and the memory of the one that was stopped. */
  readonly startAgain: () => Promise<void>;
  readonly create: (object: Reservation) => Promise<Reservation>;
  readonly remove: (name: string) => Promise<unknown>;
  readonly inPhase: (name: string, phase: string) => Promise<Reservation>;
}

export interface HubParts {
  readonly broker: BrokerParts;
  /** The CPUs of each cluster that lends. */
  readonly providers: Readonly<Record<string, number>>;
}

/** Called once in a test file, outside its tests. */
export function reservationsHub(parts: HubParts): ReservationsHub {
  let env: TestEnvironment;
  let broker: TestBroker;
  beforeAll(async () => {
    env = await openEnvironment();
    broker = await env.startBroker(parts.broker);
    for (const [clusterId, cpu] of Object.entries(parts.providers))
      await advertiseProvider(env, clusterId, { cpu });
  });
  afterAll(() => env.stop());
  return {
    get env() {
      return env;
    },
    get broker() {
      return broker;
    },
    startAgain: async () => {
      broker = await env.startBroker({ ...parts.broker, disk: broker.disk });
    },
    create: (object) => env.client.create(RESERVATIONS, object),
    remove: (name) => env.client.delete(RESERVATIONS, named(name)),
    inPhase: (name, phase) => env.reservation(name, ({ status }) => status?.phase === phase),
  };
}

/** A scene of a test's own: its brokers come, go and die as no other test could bear. */
export async function inOwnEnvironment(act: (env: TestEnvironment) => Promise<void>): Promise<void> {
  const env = await openEnvironment();
  try {
    await act(env);
  } finally {
    await env.stop();
  }
}

/** Publishes, and waits until the broker has taken it in. */
export async function advertiseProvider(
  env: TestEnvironment,
  clusterId: string,
  offered: Offered = {},
): Promise<void> {
  await publish(env.client, clusterId, offered);
  await env.advertisement(clusterId, ({ status }) => status?.active === true);
}

export function named(name: string): { readonly name: string; readonly namespace: string } {
  return { name, namespace: NAMESPACE };
}
