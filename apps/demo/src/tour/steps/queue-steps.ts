import type { ReservationDTO, WaitingRequestDTO } from "@resource-broker/contract";
import type { ResourceRequest } from "@resource-broker/contract/crd";
import { RESOURCE_REQUESTS, until } from "@resource-broker/testkit";
import { REQUESTER } from "../../fleet/plan-fleet.ts";
import { type Line, line, span, table } from "../../text.ts";
import { check, GPU_PROVIDER, isActive, SMALLER_TRAINING, type TourStep, URGENT } from "../step.ts";
import type { TourEnvironment } from "../tour-environment.ts";

/** All GPUs there are, for work that can be interrupted. */
const SPOT: ResourceRequest["spec"] = {
  requestedCPU: "4",
  requestedMemory: "16Gi",
  requestedGPU: "4",
  tier: "spot",
  queue: true,
};
const NIGHTLY = { name: "nightly", spec: SPOT };
const RENDERING = { name: "rendering", spec: { ...SPOT, priority: 10 } };

/** A request waits under the ID that its reservation will have. */
async function idOf({ untilRequest }: TourEnvironment, name: string): Promise<string> {
  const { status } = await untilRequest(name, (each) => each.status?.reservationName !== undefined);
  return status?.reservationName ?? "";
}

async function untilWaiting(environment: TourEnvironment, ids: readonly string[]) {
  return until(`${ids.join(", ")} wait in this order`, async () => {
    const waiting = await environment.queue();
    return ids.join() === waiting.map(({ id }) => id).join() ? waiting : undefined;
  });
}

async function untilReservation(
  { reservations }: TourEnvironment,
  id: string,
  isAsWanted: (reservation: ReservationDTO) => boolean,
): Promise<ReservationDTO> {
  return until(`${id} is as wanted`, async () => {
    const found = (await reservations()).find((each) => each.id === id);
    return found !== undefined && isAsWanted(found) ? found : undefined;
  });
}

function queueRows(waiting: readonly WaitingRequestDTO[], names: ReadonlyMap<string, string>): Line[] {
  return table(
    ["PLACE", "REQUEST", "PRIORITY", "TIER", "REASON"],
    waiting.map(({ id, priority, tier, queue }) => [
      `${queue?.position}/${queue?.of}`,
      names.get(id) ?? id,
      String(priority),
      tier,
      queue?.reason ?? "",
    ]),
  );
}

const wait: TourStep = {
  title: "Requests that wait",
  narration: `All GPUs of ${GPU_PROVIDER} are lent. With queue: true a request is not refused, it waits. ${NIGHTLY.name} comes first; ${RENDERING.name} comes later, but with a higher priority:`,
  run: async (environment) => {
    await environment.createRequest(NIGHTLY.name, NIGHTLY.spec);
    const nightly = await idOf(environment, NIGHTLY.name);
    await environment.createRequest(RENDERING.name, RENDERING.spec);
    const rendering = await idOf(environment, RENDERING.name);
    const waiting = await untilWaiting(environment, [rendering, nightly]);
    check(
      waiting.every(({ queue }) => queue?.reason === "Capacity"),
      `they wait for something else: ${JSON.stringify(waiting)}`,
    );
    return queueRows(
      waiting,
      new Map([
        [nightly, NIGHTLY.name],
        [rendering, RENDERING.name],
      ]),
    );
  },
};

const start: TourStep = {
  title: "A release, and the right one starts",
  narration: `The training is done, its request is deleted. The broker grants what waits: ${RENDERING.name}, in the same moment. Nobody asks again, and the order is not a matter of luck.`,
  run: async (environment) => {
    const { world, clock, untilRequest } = environment;
    const name = { name: SMALLER_TRAINING.name, namespace: "default" };
    const deletedAt = clock.monotonicMs();
    await world.cluster(REQUESTER).client.delete(RESOURCE_REQUESTS, name);
    const { status } = await untilRequest(RENDERING.name, isActive);
    const afterMs = Math.round(clock.monotonicMs() - deletedAt);
    check(status?.targetClusterID === GPU_PROVIDER, `it is at ${status?.targetClusterID}`);
    await untilWaiting(environment, [await idOf(environment, NIGHTLY.name)]);
    return [
      line(
        `${RENDERING.name}  `,
        span(status.phase ?? "", "good"),
        ` after ${afterMs} ms: "${status.message}"`,
      ),
      line(`${NIGHTLY.name}    `, span("Pending", "careful"), ", still in the queue"),
    ];
  },
};

const notice: TourStep = {
  title: "A spot reservation gets notice",
  narration: `${URGENT.name} needs the GPUs now. ${RENDERING.name} is a spot reservation: by the operator's policy those give way, but not without notice. Its node accepts no new pods, and its workload may save itself.`,
  run: async (environment) => {
    const { createRequest, untilRequest } = environment;
    const id = await idOf(environment, RENDERING.name);
    await createRequest(URGENT.name, URGENT.spec);
    const { preempting } = await untilReservation(environment, id, (each) => each.preempting !== undefined);
    check(
      preempting !== undefined && preempting.byPriority === URGENT.spec.priority,
      `the notice is for another: ${JSON.stringify(preempting)}`,
    );
    const found = await untilRequest(RENDERING.name, (each) => preemptingOf(each) !== undefined);
    return [
      line(`${RENDERING.name}  `, span("Preempting", "careful"), `, ends at ${preempting.at}`),
      line(`"${preemptingOf(found)?.message}"`),
    ];
  },
};

function preemptingOf({ status }: ResourceRequest) {
  return status?.conditions?.find(({ type, status: value }) => type === "Preempting" && value === "True");
}

const preempted: TourStep = {
  title: "It gives way, and waits again",
  narration: `After the notice ${RENDERING.name} ends and ${URGENT.name} gets the GPUs. ${RENDERING.name} asks again by itself and keeps its place: as if it had never left the queue.`,
  run: async (environment) => {
    const before = await idOf(environment, RENDERING.name);
    const { status } = await environment.untilRequest(URGENT.name, isActive);
    check(status?.targetClusterID === GPU_PROVIDER, `it is at ${status?.targetClusterID}`);
    const ended = await untilReservation(environment, before, (each) => each.reason !== undefined);
    check(ended.reason === "Preempted", `it ended otherwise: ${JSON.stringify(ended)}`);
    await environment.untilRequest(
      RENDERING.name,
      (each) => each.status?.reservationName !== undefined && each.status.reservationName !== before,
    );
    const [rendering, nightly] = [
      await idOf(environment, RENDERING.name),
      await idOf(environment, NIGHTLY.name),
    ];
    const waiting = await untilWaiting(environment, [rendering, nightly]);
    return [
      line(`${URGENT.name}  `, span(status.phase ?? "", "good"), `: "${status.message}"`),
      line(`${ended.id} is `, span(ended.reason, "careful")),
      line(),
      ...queueRows(
        waiting,
        new Map([
          [nightly, NIGHTLY.name],
          [rendering, RENDERING.name],
        ]),
      ),
    ];
  },
};

/** A full fleet, a queue, a release, and a spot reservation that gives way. */
export const QUEUE_STEPS: readonly TourStep[] = [wait, start, notice, preempted];
