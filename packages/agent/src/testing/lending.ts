import { Fault, type ResourceRequest } from "@resource-broker/contract";
import { expect } from "vitest";
import type { BrokerCall } from "./fake-broker.ts";
import type { Mishap } from "./mishap.ts";
import { type SmallWorld, type SmallWorldOptions, smallWorld } from "./small-world.ts";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

/** The connection breaks, before or after the other side has done as it was told. */
export function lost(isDone: boolean): Mishap {
  return { fault: new Fault("unreachable", "the connection broke"), isDone };
}

/** Befalls the first call of a kind. */
export function first(
  method: BrokerCall["method"],
  mishap: Mishap,
): (call: BrokerCall) => Mishap | undefined {
  let isOver = false;
  return (call) => {
    if (isOver || call.method !== method) return undefined;
    isOver = true;
    return mishap;
  };
}

/** What a request in rome says of itself. */
export function conditionOf({ rome }: SmallWorld, name: string) {
  return rome.request(name)?.status?.conditions?.find(({ type }) => type === "Reserved");
}

/** One reservation lives, and both sides have it. */
export function expectLent({ broker, rome, paris }: SmallWorld): string {
  const [reservation, ...others] = broker.live();
  expect(others).toEqual([]);
  expect(reservation).toMatchObject({ phase: "Active", acknowledged: true });
  const id = reservation?.id ?? "";
  expect(rome.borrowings()).toEqual([id]);
  expect(paris.holds()).toEqual([id]);
  return id;
}

export function expectNothing({ broker, rome, paris }: SmallWorld): void {
  expect(broker.live()).toEqual([]);
  expect(rome.borrowings()).toEqual([]);
  expect(paris.holds()).toEqual([]);
}

/** rome's agent and paris' run, and nobody has asked for anything. */
export async function begun(options?: SmallWorldOptions): Promise<SmallWorld> {
  const world = smallWorld(options);
  await world.begin();
  return world;
}

/** paris lends to rome, and all is well. */
export async function lending(
  options?: SmallWorldOptions,
  wish?: Partial<ResourceRequest["spec"]>,
): Promise<SmallWorld & { id: string }> {
  const world = await begun(options);
  world.rome.ask("more", wish);
  await world.time.advance(1000);
  return { ...world, id: expectLent(world) };
}

/** The first request has what paris can lend; the second has just been made, and may wait for it. */
export async function queuing(): Promise<SmallWorld> {
  const world = await begun({ cpu: "6" });
  world.rome.ask("first");
  await world.time.advance(1000);
  world.rome.ask("second", { queue: true });
  return world;
}
