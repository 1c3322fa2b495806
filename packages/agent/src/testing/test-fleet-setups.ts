import { Fault } from "@resource-broker/base";
import type { ResourceRequest } from "@resource-broker/contract/crd";
import { expect } from "vitest";
import type { CallFault } from "./call-fault.ts";
import type { BrokerCall } from "./fake-broker.ts";
import { type TestFleet, type TestFleetOptions, testFleet } from "./test-fleet.ts";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

/** The connection breaks, before or after the other side has done as it was told. */
export function connectionLost(isDone: boolean): CallFault {
  return { fault: new Fault("unreachable", "the connection broke"), isDone };
}

/** Befalls the first call of a kind. */
export function onFirstCall(
  method: BrokerCall["method"],
  fault: CallFault,
): (call: BrokerCall) => CallFault | undefined {
  let isOver = false;
  return (call) => {
    if (isOver || call.method !== method) return undefined;
    isOver = true;
    return fault;
  };
}

/** What a request in rome says of itself. */
export function conditionOf({ rome }: TestFleet, name: string) {
  return rome.request(name)?.status?.conditions?.find(({ type }) => type === "Reserved");
}

/** One reservation lives, and both sides have it. */
export function expectReserved({ broker, rome, paris }: TestFleet): string {
  const [reservation, ...others] = broker.live();
  expect(others).toEqual([]);
  expect(reservation).toMatchObject({ phase: "Active", acknowledged: true });
  const id = reservation?.id ?? "";
  expect(rome.reservationInstructions()).toEqual([id]);
  expect(paris.providerInstructions()).toEqual([id]);
  return id;
}

export function expectNothing({ broker, rome, paris }: TestFleet): void {
  expect(broker.live()).toEqual([]);
  expect(rome.reservationInstructions()).toEqual([]);
  expect(paris.providerInstructions()).toEqual([]);
}

/** rome's agent and paris' run, and nobody has asked for anything. */
export async function startedFleet(options?: TestFleetOptions): Promise<TestFleet> {
  const world = testFleet(options);
  await world.begin();
  return world;
}

/** paris lends to rome, and all is well. */
export async function fleetWithReservation(
  options?: TestFleetOptions,
  spec?: Partial<ResourceRequest["spec"]>,
): Promise<TestFleet & { id: string }> {
  const world = await startedFleet(options);
  world.rome.createRequest("more", spec);
  await world.time.advance(1000);
  return { ...world, id: expectReserved(world) };
}

/** The first request has what paris can lend; the second has just been made, and may wait for it. */
export async function fleetWithQueuedRequest({ canQueue = true } = {}): Promise<TestFleet> {
  const world = testFleet({ cpu: "6" });
  world.broker.setQueue(canQueue);
  await world.begin();
  world.rome.createRequest("first");
  await world.time.advance(1000);
  world.rome.createRequest("second", { queue: true });
  return world;
}
