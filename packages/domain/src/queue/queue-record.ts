import { add, fits } from "@resource-broker/base";
import type { Instant } from "../reservation/ids.ts";
import type { Decision, NoticeOption, RecordedPlace, QueueRecord } from "../scheduling/decision.ts";
import type { Queued } from "./order.ts";
import type { PassedOver } from "./passed-over.ts";
import { compareOptions } from "./preemption.ts";
import { neededOf } from "./victims.ts";

/** So many others are recorded beside the request that was granted. */
const MAX_NEXT = 8;

/** Notes who was passed over, and then who else waits. */
export class QueueWalk {
  readonly #next: QueueRecord["next"][number][] = [];

  passOver(queued: Queued, why: PassedOver): void {
    this.#note(queued, why);
  }

  /** The record of the request that is granted. `rest`: those that follow it. */
  recordOf(
    granted: Queued,
    { rest, of, now }: { readonly rest: Iterator<Queued>; readonly of: number; readonly now: Instant },
  ): QueueRecord {
    while (this.#next.length < MAX_NEXT) {
      const following = rest.next();
      if (following.done === true) break;
      this.#note(following.value);
    }
    return { of, waitedMs: now - granted.entry.since, ...placeOf(granted), next: this.#next };
  }

  #note(queued: Queued, why?: PassedOver): void {
    if (this.#next.length === MAX_NEXT) return;
    const passedOver = why === undefined ? {} : { passedOver: why };
    this.#next.push({ id: queued.entry.id, ...placeOf(queued), ...passedOver });
  }
}

function placeOf({ entry, tenant, share }: Queued): RecordedPlace {
  return { priority: entry.request.priority, tenant, share, since: entry.since };
}

/** What a record of the queue or of a notice contradicts; undefined: the rules give the same again. */
export function replayQueue({ request, queue, notice }: Decision): string | undefined {
  const overtaken = queue?.next.find((other) => other.passedOver === undefined && precedes(other, queue));
  if (overtaken !== undefined) return `${overtaken.id} comes first and was not passed over`;
  if (notice === undefined) return undefined;
  const options = [notice.chosen, ...notice.alternatives];
  const [best] = options.toSorted(compareOptions);
  if (best !== notice.chosen) return `${best?.provider} was the better choice for a notice`;
  const wrong = options.find((option) => !isExact(option, request.resources));
  return wrong === undefined ? undefined : `the victims at ${wrong.provider} are not those that are needed`;
}

/** Of different tenants with the same share the first that came goes first, which the record does not tell. */
function precedes(other: RecordedPlace, granted: RecordedPlace): boolean {
  if (other.priority !== granted.priority) return other.priority > granted.priority;
  if (other.tenant !== granted.tenant) return other.share < granted.share;
  return other.since < granted.since;
}

function isExact({ free, victims }: NoticeOption, resources: Decision["request"]["resources"]): boolean {
  const all = victims.reduce((sum, { frees }) => add(sum, frees), free);
  return fits(resources, all) && neededOf(victims, { resources, free })?.length === victims.length;
}
