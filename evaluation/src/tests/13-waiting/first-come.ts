import { fits } from "@resource-broker/base";
import { type FleetSimulation, type Job, requestOf } from "@resource-broker/testkit";

/** A reference: strictly first come, first served. Whoever is first keeps everybody else waiting until there is room for it. */
export class FirstCome {
  readonly #fleet: FleetSimulation;
  readonly #givesUpAfterMs: number;
  readonly #line: Job[] = [];
  #next = 0;

  constructor(fleet: FleetSimulation, givesUpAfterMs: number) {
    this.#fleet = fleet;
    this.#givesUpAfterMs = givesUpAfterMs;
    fleet.afterStep = () => this.#serve();
  }

  get waiting(): number {
    return this.#line.length - this.#next;
  }

  arrive(job: Job): void {
    this.#line.push(job);
  }

  #serve(): void {
    for (let job = this.#line[this.#next]; job !== undefined; job = this.#line[this.#next]) {
      const isGone = this.#fleet.elapsedMs - job.atMs >= this.#givesUpAfterMs;
      if (!isGone && !hasRoomFor(this.#fleet, job)) return;
      this.#next++;
      if (!isGone) ask(this.#fleet, job);
    }
  }
}

/** True when some other cluster has enough left: in these traces nothing else is asked for. */
export function hasRoomFor({ ledger }: FleetSimulation, job: Job): boolean {
  const { resources } = requestOf(job);
  return ledger.candidateTable.candidates.some(
    ({ clusterId, available }) => clusterId !== job.requester && fits(resources, available),
  );
}

/** Asks for what there is room for. */
export function ask(fleet: FleetSimulation, job: Job): void {
  const { id, requester, tenant } = job;
  const reply = fleet.perform({
    kind: "reserve",
    requester,
    request: requestOf(job),
    key: id,
    namespace: tenant,
    reservationId: id,
    decisionId: fleet.newDecisionId(),
  });
  if (reply.kind !== "granted") throw new Error(`there was room for ${id}, and it was ${reply.kind}`);
}
