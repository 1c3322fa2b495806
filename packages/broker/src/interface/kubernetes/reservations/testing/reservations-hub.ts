import type { Reservation } from "@resource-broker/contract";
import { afterAll, beforeAll } from "vitest";
import { RESERVATIONS } from "../../objects/resources.ts";
import { type Offered, publish } from "../../testing/samples.ts";
import { type BrokerParts, NAMESPACE, openScene, type Scene, type SceneBroker } from "../../testing/scene.ts";

/** The scene that the tests of one file share, and its broker of the moment. */
export interface ReservationsHub {
  readonly scene: Scene;
  readonly broker: SceneBroker;
  /** The next broker, with the parts and the memory of the one that was stopped. */
  readonly startAgain: () => Promise<void>;
  readonly create: (object: Reservation) => Promise<Reservation>;
  readonly remove: (name: string) => Promise<unknown>;
  readonly inPhase: (name: string, phase: string) => Promise<Reservation>;
}

export interface HubParts {
  readonly broker: BrokerParts;
  /** The CPUs of each cluster that lends. */
  readonly lenders: Readonly<Record<string, number>>;
}

/** Called once in a test file, outside its tests. */
export function reservationsHub(parts: HubParts): ReservationsHub {
  let scene: Scene;
  let broker: SceneBroker;
  beforeAll(async () => {
    scene = await openScene();
    broker = await scene.startBroker(parts.broker);
    for (const [clusterId, cpu] of Object.entries(parts.lenders)) await lend(scene, clusterId, { cpu });
  });
  afterAll(() => scene.stop());
  return {
    get scene() {
      return scene;
    },
    get broker() {
      return broker;
    },
    startAgain: async () => {
      broker = await scene.startBroker({ ...parts.broker, disk: broker.disk });
    },
    create: (object) => scene.client.create(RESERVATIONS, object),
    remove: (name) => scene.client.delete(RESERVATIONS, named(name)),
    inPhase: (name, phase) => scene.reservation(name, ({ status }) => status?.phase === phase),
  };
}

/** A scene of a test's own: its brokers come, go and die as no other test could bear. */
export async function inOwnScene(act: (scene: Scene) => Promise<void>): Promise<void> {
  const scene = await openScene();
  try {
    await act(scene);
  } finally {
    await scene.stop();
  }
}

/** Publishes, and waits until the broker has taken it in. */
export async function lend(scene: Scene, clusterId: string, offered: Offered = {}): Promise<void> {
  await publish(scene.client, clusterId, offered);
  await scene.advertisement(clusterId, ({ status }) => status?.active === true);
}

export function named(name: string): { readonly name: string; readonly namespace: string } {
  return { name, namespace: NAMESPACE };
}
