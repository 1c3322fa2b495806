import { QUEUE_SORTS, type QueuePageDTO, type QueueSort } from "@resource-broker/contract";
import { type Actor, tenantOf, type Waiting } from "@resource-broker/domain";
import type { Engine } from "../../engine/engine.ts";
import { type ListQuery, type Query, readListQuery, type SortKey, sortRows, textOf } from "../http/query.ts";
import { isWaitingVisible, placesOf, renderWaiting } from "../shared/render-waiting.ts";

/** Whose unmet requests are wanted; "": everybody's. */
interface Origins {
  readonly requester: string;
  readonly tenant: string;
}

export function readOrigins(query: Query): Origins {
  return { requester: textOf(query, "requester"), tenant: textOf(query, "tenant") };
}

interface Origin extends Origins {
  readonly namespace?: string | undefined;
}

/** `text` is in lower case; "": everything. `id` is searched as well. */
export function isFrom(
  { requester, tenant, namespace = "" }: Origin,
  wanted: Origins & Pick<ListQuery<string>, "text">,
  id = "",
): boolean {
  if (wanted.requester !== "" && wanted.requester !== requester) return false;
  if (wanted.tenant !== "" && wanted.tenant !== tenant) return false;
  const { text } = wanted;
  if (text === "") return true;
  return [id, requester, tenant.toLowerCase(), namespace].some((each) => each.includes(text));
}

type Entry = Pick<Waiting, "id" | "createdAt" | "until" | "requester" | "request">;

const KEYS: Readonly<Record<Exclude<QueueSort, "position">, (entry: Entry) => SortKey>> = {
  created: ({ createdAt }) => createdAt,
  until: ({ until }) => until,
  requester: ({ requester }) => requester,
  priority: ({ request }) => request.priority,
  cpu: ({ request }) => request.resources.cpuMillis,
  memory: ({ request }) => request.resources.memoryBytes,
  gpu: ({ request }) => request.resources.gpus,
};

/** One page of the waiting requests that the reader may see. Places are computed for those on the page only. */
export function queuePage(
  engine: Pick<Engine, "ledger" | "now" | "policy">,
  query: Query,
  reader: Actor,
): QueuePageDTO {
  const list = readListQuery(query, { sorts: QUEUE_SORTS, defaultSort: "position" });
  const wanted = { ...list, ...readOrigins(query) };
  const matching: Waiting[] = [];
  for (const { requester, namespace, entries } of engine.ledger.waiting.lines()) {
    const origin = { requester, namespace, tenant: tenantOf(engine.policy, requester, namespace) };
    matching.push(
      ...entries.filter((each) => isWaitingVisible(reader, each) && isFrom(origin, wanted, each.id)),
    );
  }
  const { sort, isDescending, offset } = list;
  const places = sortRows(
    placesOf(engine, pageOf(matching, list)),
    (place) => (sort === "position" ? place.position : KEYS[sort](place.entry)),
    { nameOf: ({ entry }) => entry.id, isDescending },
  );
  const total = matching.length;
  const end = offset + places.length;
  return {
    items: places.map((place) => renderWaiting(engine, place.entry, { reader, place })),
    total,
    ...(end < total ? { next: String(end) } : {}),
  };
}

/** Whether an entry is on the page; asked for each entry of the queue, in its order. */
function pageOf(
  matching: readonly Waiting[],
  { sort, isDescending, offset, limit }: ListQuery<QueueSort>,
): (entry: Waiting) => boolean {
  if (sort === "position") {
    const ids = new Set(matching.map(({ id }) => id));
    const first = isDescending ? ids.size - offset - limit : offset;
    let position = 0;
    return ({ id }) => {
      if (!ids.has(id)) return false;
      const index = position++ - first;
      return index >= 0 && index < limit;
    };
  }
  const sorted = sortRows(matching, KEYS[sort], { nameOf: ({ id }) => id, isDescending });
  const ids = new Set(sorted.slice(offset, offset + limit).map(({ id }) => id));
  return ({ id }) => ids.has(id);
}
