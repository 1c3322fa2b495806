import { formatTime, type ResourceVector, sum } from "@resource-broker/base";
import {
  type DemandDTO,
  REFUSED_SORTS,
  type RefusedPageDTO,
  type RefusedRequestDTO,
  type RefusedSort,
  toQuantities,
} from "@resource-broker/contract";
import {
  type ClusterId,
  type Decision,
  type Instant,
  type Reserve,
  tenantOf,
  unmetReason,
} from "@resource-broker/domain";
import type { Committed, Engine, RefusedCommand } from "../../engine/engine.ts";
import { requestIdentity } from "../../engine/request-identity.ts";
import { sha256 } from "@resource-broker/runtime";
import { type Query, readListQuery, type SortKey, sortRows } from "../http/query.ts";
import { isFrom, readOrigins } from "./queue-list.ts";
import { amountsOf } from "./standing.ts";

/** Enough for a large fleet; the oldest are forgotten first. */
const MAX_REFUSED = 1000;
const DAY_MS = 24 * 60 * 60 * 1000;
const MAX_TENANTS = 500;

interface Origin {
  readonly requester: ClusterId;
  readonly namespace?: string | undefined;
}

interface RefusedRequest extends Origin, Pick<Reserve, "request"> {
  /** Short, and the same for retries. */
  readonly id: string;
  readonly attempts: number;
  readonly firstAt: Instant;
  readonly last: Decision;
}

/** What is asked for and not granted: requests that wait, and those that are refused. */
export interface Demand {
  /** True: it is not the retry of one that is known. */
  readonly refused: (refused: RefusedCommand) => boolean;
  /** Forgets what was granted, or waits now. */
  readonly committed: (commit: Committed) => void;
  readonly refusedPage: (query: Query) => RefusedPageDTO;
  readonly byTenant: () => DemandDTO;
}

export function createDemand(engine: Pick<Engine, "ledger" | "now" | "policy">): Demand {
  /** The last refused at the end. */
  const rows = new Map<string, RefusedRequest>();

  const forgetOld = (): void => {
    const oldest = engine.now() - DAY_MS;
    for (const [id, { last }] of rows) {
      if (rows.size <= MAX_REFUSED && last.at >= oldest) return;
      rows.delete(id);
    }
  };

  const tenant = ({ requester, namespace }: Origin): string => tenantOf(engine.policy, requester, namespace);

  return {
    refused: ({ command, decision }) => {
      const { requester, namespace, request } = command;
      const id = requestIdentity(command);
      const known = rows.get(id);
      const { attempts, firstAt } = known ?? { attempts: 0, firstAt: decision.at };
      rows.delete(id);
      rows.set(id, {
        id: known?.id ?? shortName(id),
        requester,
        request,
        namespace,
        attempts: attempts + 1,
        firstAt,
        last: decision,
      });
      forgetOld();
      return known === undefined;
    },
    committed: ({ events }) => {
      // Each grant is asked for its identity: where nobody was refused, that would be for nothing.
      if (rows.size === 0) return;
      for (const event of events) {
        if (event.kind === "queued") rows.delete(requestIdentity(event.waiting));
        if (event.kind !== "granted") continue;
        const { request } = event.decision;
        rows.delete(requestIdentity({ ...event.reservation, request }));
      }
    },
    refusedPage: (query) => {
      forgetOld();
      const list = readListQuery(query, RULES);
      const wanted = { ...list, ...readOrigins(query) };
      const matching = [...rows.values()]
        .map((row, place) => ({ ...row, place, tenant: tenant(row) }))
        .filter((row) => isFrom(row, wanted));
      const { sort, isDescending, offset, limit } = list;
      const sorted = sortRows(matching, KEYS[sort], { nameOf: ({ id }) => id, isDescending });
      return { items: sorted.slice(offset, offset + limit).map(refusedRow), total: matching.length };
    },
    byTenant: () => {
      forgetOld();
      const waiting = new Map<string, ResourceVector[]>();
      for (const line of engine.ledger.waiting.lines()) {
        const own = listIn(waiting, tenant(line));
        for (const { request } of line.entries) own.push(request.resources);
      }
      const refused = new Map<string, ResourceVector[]>();
      for (const row of rows.values()) listIn(refused, tenant(row)).push(row.request.resources);
      return demandOf(waiting, refused);
    },
  };
}

const RULES = { sorts: REFUSED_SORTS, defaultSort: "last", descendingSort: "last" } as const;

interface RefusedRow extends RefusedRequest {
  /** The last refused has the highest. */
  readonly place: number;
  readonly tenant: string;
}

const KEYS: Readonly<Record<RefusedSort, (row: RefusedRow) => SortKey>> = {
  last: ({ place }) => place,
  first: ({ firstAt }) => firstAt,
  attempts: ({ attempts }) => attempts,
  requester: ({ requester }) => requester,
  priority: ({ request }) => request.priority,
  cpu: ({ request }) => request.resources.cpuMillis,
  memory: ({ request }) => request.resources.memoryBytes,
  gpu: ({ request }) => request.resources.gpus,
};

/** Identities are long, and name keys that only the requester may see. */
function shortName(id: string): string {
  return `req-${Buffer.from(sha256(id)).toString("hex").slice(0, 16)}`;
}

function listIn(lists: Map<string, ResourceVector[]>, name: string): ResourceVector[] {
  const list = lists.get(name) ?? [];
  lists.set(name, list);
  return list;
}

function demandOf(
  waiting: ReadonlyMap<string, readonly ResourceVector[]>,
  refused: ReadonlyMap<string, readonly ResourceVector[]>,
): DemandDTO {
  const names = [...new Set([...waiting.keys(), ...refused.keys()])];
  const size = (name: string): number => (waiting.get(name)?.length ?? 0) + (refused.get(name)?.length ?? 0);
  const ordered = names.toSorted((a, b) => size(b) - size(a) || (a < b ? -1 : 1));
  const unmet = (all: readonly ResourceVector[] = []) => ({
    requests: all.length,
    resources: amountsOf(sum(all)),
  });
  const tenants = ordered.slice(0, MAX_TENANTS).map((name) => ({
    tenant: name,
    waiting: unmet(waiting.get(name)),
    refused: unmet(refused.get(name)),
  }));
  return { tenants, left: ordered.length - tenants.length };
}

function refusedRow(row: RefusedRow): RefusedRequestDTO {
  const { id, requester, namespace, tenant, request, attempts, firstAt, last } = row;
  return {
    id,
    requesterID: requester,
    ...(namespace === undefined ? {} : { namespace }),
    tenant,
    requestedResources: toQuantities(request.resources),
    tier: request.tier,
    priority: request.priority,
    reason: unmetReason(last),
    attempts,
    firstAt: formatTime(firstAt),
    lastAt: formatTime(last.at),
    decisionID: last.id,
  };
}
