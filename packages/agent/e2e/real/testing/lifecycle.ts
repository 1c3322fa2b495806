import { randomInt, randomUUID } from "node:crypto";
import type { Log } from "@resource-broker/base";
import { PATH, type ReservationDTO } from "@resource-broker/contract";
import { EVENTS, type EventInput, eventRecorder } from "@resource-broker/kube";
import { systemClock } from "@resource-broker/runtime";
import {
  ADVERTISEMENTS,
  type BrokerProcess,
  PROVIDER_INSTRUCTIONS,
  RESERVATION_INSTRUCTIONS,
  RESOURCE_REQUESTS,
  until,
  type WorldCluster,
} from "@resource-broker/testkit";
import { askFor } from "../../testing/resource-request.ts";

const REQUEST = "more";
const RANDOM_STEPS = 2 ** 32;

export interface LifecycleOptions {
  readonly broker: BrokerProcess;
  readonly rome: WorldCluster;
  /** True: nothing more needs to be waited for. */
  readonly isEnough: () => boolean;
}

/** rome borrows from paris and lends to berlin; then both are given back, and no trace is left. */
export async function runAgentLifecycle({ broker, rome, isEnough }: LifecycleOptions): Promise<void> {
  /** Undefined: it was enough before that. */
  const reach = async <T>(what: string, look: () => Promise<T | undefined>): Promise<T | undefined> => {
    const { seen } = await until(what, async () => {
      if (isEnough()) return { seen: undefined };
      const found = await look();
      return found === undefined ? undefined : { seen: found };
    });
    return seen;
  };
  const berlin = broker.clientFor("berlin");
  await reach("rome is advertised with its prices", async () => {
    const { body } = await broker.admin().request("GET", PATH.advertisement("rome"));
    const copy = await rome.find(ADVERTISEMENTS, "cluster-advertisement");
    const isPriced = (body as { cost?: unknown }).cost !== undefined;
    return (isPriced && copy?.status?.published === true) || undefined;
  });
  await askFor(rome, REQUEST, { targetClusterID: "paris" });
  const requested = await reach("rome has borrowed", async () => {
    const { status } = (await rome.find(RESOURCE_REQUESTS, REQUEST)) ?? {};
    return status?.phase === "Active" ? status.reservationName : undefined;
  });
  const request = { requestedResources: { cpu: "1", memory: "1Gi" }, targetClusterID: "rome" };
  const { body } = await berlin.request("POST", PATH.reservations, { body: request });
  const { id: provided = "none" } = body as Partial<ReservationDTO>;
  await reach("rome holds what berlin was given", async () => {
    const instruction = await rome.find(PROVIDER_INSTRUCTIONS, `${provided}-provider`);
    return instruction?.status?.enforced === true || undefined;
  });
  await rome.client.delete(RESOURCE_REQUESTS, { name: REQUEST, namespace: "default" });
  await berlin.request("DELETE", PATH.reservation(provided));
  await reach("both instructions are gone", async () => {
    const left = [
      await rome.find(RESERVATION_INSTRUCTIONS, requested ?? "none"),
      await rome.find(PROVIDER_INSTRUCTIONS, `${provided}-provider`),
    ];
    return left.every((each) => each === undefined) || undefined;
  });
}

/** What an agent seldom does in so short a life: the same event happens twice. Returns what is said of it. */
export async function recordTwice(agent: WorldCluster, admin: WorldCluster): Promise<readonly string[]> {
  const lines: string[] = [];
  const record: Log["info"] = (_, message) => void lines.push(message);
  const recorder = eventRecorder(
    { component: "resource-broker-agent", instance: agent.name },
    {
      client: agent.client,
      clock: systemClock(() => Math.round(performance.timeOrigin + performance.now())),
      random: () => randomInt(RANDOM_STEPS) / RANDOM_STEPS,
      log: { info: record, warn: record, error: record },
    },
  );
  const recordedEvent: EventInput = {
    regarding: { apiVersion: "v1", kind: "Namespace", name: "default" },
    type: "Normal",
    reason: "Repeated",
    message: randomUUID(),
  };
  recorder.record(recordedEvent);
  await until("the first is written, or is not", async () => {
    if (lines.length > 0) return true;
    return (await admin.list(EVENTS)).some(({ message }) => message === recordedEvent.message) || undefined;
  });
  recorder.record(recordedEvent);
  await recorder.stop();
  return lines;
}
