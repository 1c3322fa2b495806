import { Fault, isRecord } from "@resource-broker/base";
import {
  type AdvertisementDTO,
  type AdvertisementPageDTO,
  type AuditEntryDTO,
  type AuditPageDTO,
  adoptionWindowSchema,
  advertisementPageSchema,
  advertisementReplySchema,
  advertisementSchema,
  auditPageSchema,
  cordonReplySchema,
  drainReplySchema,
  type DashboardLink,
  dashboardLinkSchema,
  decisionSchema,
  LIMIT,
  PATH,
  policyReplySchema,
  quoteSchema,
  type QueuePageDTO,
  queuePageSchema,
  type ReservationDTO,
  type ReservationRequestDTO,
  reservationListSchema,
  reservationSchema,
  type Schema,
  type TenantPageDTO,
  type TenantDTO,
  tenantPageSchema,
  type WaitingRequestDTO,
  waitingRequestSchema,
} from "@resource-broker/contract";
import { MARKET_PROTOCOL } from "@resource-broker/domain";
import type { CallMessage } from "./exchange.ts";
import { type Answer, type BodySchema, nextPage } from "./reply.ts";

export type Role = "requester" | "provider";

/** What is sent, and the schema of the reply. `BrokerClient.request` sends it. */
export interface TypedCall<T> extends CallMessage {
  /** The feature that an older broker lacks. Absent: every broker has the call. */
  readonly newerFeature?: string;
  /** The protocol that the feature came with. Absent: the second. */
  readonly needs?: number;
  readonly schema: BodySchema<T>;
}

/** Sends typed calls; refusals and failures are thrown as `Fault`. */
export interface CallSender {
  readonly request: <T>(call: TypedCall<T>) => Promise<Answer<T>>;
}

/** Any other call. */
// oxlint-disable-next-line max-params -- a call is read like a line of HTTP
export function typedCall<T>(
  method: CallMessage["method"],
  path: string,
  schema: BodySchema<T>,
  more: Pick<TypedCall<T>, "body" | "key" | "newerFeature" | "needs"> = {},
): TypedCall<T> {
  return { method, path, schema, ...more };
}

/** One page of a list. */
export interface PageCall<R, T> extends TypedCall<R> {
  /** What the list has: "reservations". */
  readonly listed: string;
  readonly read: (answer: Answer<R>) => Page<R, T>;
}

interface Page<R, T> {
  readonly items: readonly T[];
  /** Undefined: this was the last page. The same page again: the list does not end. */
  readonly next: PageCall<R, T> | undefined;
}

export interface PageLimits {
  /** Absent: no limit. */
  readonly maxItems?: number;
  /** The error for a list that does not end. Absent: the fault `unreachable`, because the rest is unknown. */
  readonly endless?: (listed: string) => Error;
}

/** The pages of a list, from `first` to the last. */
export async function* readPages<R, T, A extends Answer<R>>(
  request: (call: TypedCall<R>) => Promise<A>,
  first: PageCall<R, T>,
  { maxItems = Number.POSITIVE_INFINITY, endless = endlessList }: PageLimits = {},
): AsyncGenerator<{ readonly items: readonly T[]; readonly answer: A }, void, undefined> {
  let count = 0;
  for (let page: PageCall<R, T> | undefined = first; page !== undefined; ) {
    const answer: A = await request(page);
    const { items, next }: Page<R, T> = page.read(answer);
    yield { items, answer };
    count += items.length;
    if (next?.path === page.path || count > maxItems) throw endless(page.listed);
    page = next;
  }
}

/** All items of a list, to the last page. */
export async function readAll<R, T>(
  { request }: CallSender,
  first: PageCall<R, T>,
  limits?: PageLimits,
): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const { items } of readPages(request<R>, first, limits)) found.push(...items);
  return found;
}

function endlessList(listed: string): Fault {
  return new Fault("unreachable", `the broker's list of ${listed} does not end`);
}

/** All advertisements, in the order of the clusters' IDs. Admins only. */
export function advertisementPages(after = ""): PageCall<AdvertisementPageDTO, AdvertisementDTO> {
  const query = new URLSearchParams({ limit: String(LIMIT.pageMax), after }).toString();
  return {
    ...typedCall("GET", `${PATH.advertisements}?${query}`, advertisementPageSchema),
    listed: "advertisements",
    read: ({ value: { items, next } }) => ({
      items,
      next: next === undefined ? undefined : advertisementPages(next > after ? next : after),
    }),
  };
}

/** The audit log, from the entry behind the sequence number `after`. Admins only. */
export function auditPages(after = 0, limit: number = LIMIT.pageMax): PageCall<AuditPageDTO, AuditEntryDTO> {
  const query = new URLSearchParams({ limit: String(limit), after: String(after) }).toString();
  return {
    ...typedCall("GET", `${PATH.audit}?${query}`, auditPageSchema),
    listed: "audit entries",
    read: ({ value: { items, next } }) => {
      const last = next === undefined ? undefined : items.at(-1)?.sequence;
      return { items, next: last === undefined ? undefined : auditPages(Math.max(last, after), limit) };
    },
  };
}

/** The reservations of the own cluster in a role; without one all that the caller may see, an admin every one. */
export function reservationPages(
  role?: Role,
  limit: number = LIMIT.pageMax,
): PageCall<readonly ReservationDTO[], ReservationDTO> {
  return reservationPage(`${PATH.reservations}?${role === undefined ? "" : `role=${role}&`}limit=${limit}`);
}

function reservationPage(path: string): PageCall<readonly ReservationDTO[], ReservationDTO> {
  return {
    ...typedCall("GET", path, reservationListSchema, { newerFeature: "lists of reservations" }),
    listed: "reservations",
    read: ({ value, headers }) => {
      const next = nextPage(headers, PATH.reservations);
      return { items: value, next: next === undefined ? undefined : reservationPage(next) };
    },
  };
}

export const advertiseCall = (body: AdvertisementDTO) =>
  typedCall("POST", PATH.advertisements, advertisementReplySchema, { body });

/** The advertisement of a cluster as the broker knows it; clusters may read their own. */
export const advertisementCall = (clusterId: string) =>
  typedCall("GET", PATH.advertisement(clusterId), advertisementSchema);

/** What the broker has under one ID: a reservation, or a request that waits or has left the queue. */
export type ReservationOrWaiting = ReservationDTO | WaitingRequestDTO;

/** Only a reservation has a provider. */
export function isReserved(body: ReservationOrWaiting): body is ReservationDTO {
  return "targetClusterID" in body;
}

const reservedOrWaiting = (body: unknown): Schema<ReservationOrWaiting> =>
  isRecord(body) && "until" in body ? waitingRequestSchema : reservationSchema;

const WAITING = { newerFeature: "requests that wait", needs: MARKET_PROTOCOL };

/** The requests of the own cluster that wait, in the order of the queue; an admin sees every one, or those of a cluster. */
export function queuePages(requester?: string, offset = "0"): PageCall<QueuePageDTO, WaitingRequestDTO> {
  const whose = requester === undefined ? {} : { requester };
  const query = new URLSearchParams({ limit: String(LIMIT.pageMax), offset, ...whose }).toString();
  return {
    ...typedCall("GET", `${PATH.queue}?${query}`, queuePageSchema, WAITING),
    listed: "waiting requests",
    read: ({ value: { items, next } }) => ({
      items,
      next: next === undefined ? undefined : queuePages(requester, next),
    }),
  };
}

/** The tenants of the policy, and clusters without one that hold something or wait. Admins only. */
export function tenantPages(offset = "0"): PageCall<TenantPageDTO, TenantDTO> {
  const query = new URLSearchParams({ limit: String(LIMIT.pageMax), offset }).toString();
  return {
    ...typedCall("GET", `${PATH.tenants}?${query}`, tenantPageSchema, WAITING),
    listed: "tenants",
    read: ({ value: { items, next } }) => ({
      items,
      next: next === undefined ? undefined : tenantPages(next),
    }),
  };
}

/** With the key, the reservation is made once, however often the call is repeated. */
export const reserveCall = (body: Omit<ReservationRequestDTO, "wait">, key: string) =>
  typedCall("POST", PATH.reservations, reservationSchema, { body, key });

/** The same for a request that waits if nobody has room. */
export const reserveOrWaitCall = (body: ReservationRequestDTO, key: string) =>
  typedCall("POST", PATH.reservations, reservedOrWaiting, { body, key, ...WAITING });

export const reservationCall = (id: string) => typedCall("GET", PATH.reservation(id), reservedOrWaiting);

/** What would be decided now about a request that waits. */
export const explainWaitingCall = (id: string) =>
  typedCall("GET", PATH.queueExplanation(id), decisionSchema, WAITING);

/** What a cluster lends, those that end first at the beginning, as far as the caller may see it. */
export const lentByCall = (provider: string) => {
  const query = { provider, phase: "live", sort: "expires", limit: String(LIMIT.pageMax) };
  const path = `${PATH.reservations}?${new URLSearchParams(query).toString()}`;
  return typedCall("GET", path, reservationListSchema, WAITING);
};

/** `duration` Go style, from now. */
export const renewCall = (id: string, duration: string) =>
  typedCall("POST", PATH.renew(id), reservationSchema, {
    body: { duration },
    newerFeature: "how to renew reservations",
  });

/** The reply is the reservation as it was released. */
export const releaseCall = (id: string) => typedCall("DELETE", PATH.reservation(id), reservedOrWaiting);

/** As `releaseCall`, for what was reserved with the key. The reply is empty when there is nothing. */
export const releaseByKeyCall = (key: string) =>
  typedCall("DELETE", PATH.releaseByKey(key), reservedOrWaiting);

/** What `reserve` would answer, without reserving. */
export const quoteCall = (body: ReservationRequestDTO) =>
  typedCall("POST", PATH.quotes, quoteSchema, { body, newerFeature: "quotes" });

/** The same call for another cluster. Only admins may name one. */
export function forRequester<T>(call: TypedCall<T>, requester: string): TypedCall<T> {
  const { path } = call;
  const query = `requester=${encodeURIComponent(requester)}`;
  return { ...call, path: `${path}${path.includes("?") ? "&" : "?"}${query}` };
}

/** Why the broker decided as it did. Clusters may read the decisions on their own requests. */
export const decisionCall = (id: string) =>
  typedCall("GET", PATH.decision(id), decisionSchema, { newerFeature: "decisions" });

/** The policy in force. Admins only. */
export const policyCall = () => typedCall("GET", PATH.policy, policyReplySchema);

/** Keeps a cluster from lending anything new. Admins only. */
export const cordonCall = (clusterId: string, reason?: string) =>
  typedCall(
    "POST",
    PATH.cordon(clusterId),
    cordonReplySchema,
    reason === undefined ? {} : { body: { reason } },
  );

/** Cordons a cluster and gives notice to what it lends. `grace` Go style. Admins only. */
export const drainCall = (
  clusterId: string,
  body: { readonly reason?: string; readonly grace?: string } = {},
) =>
  typedCall("POST", PATH.drain(clusterId), drainReplySchema, { body, newerFeature: "how to drain clusters" });

/** Lets a cluster lend again. Admins only. */
export const uncordonCall = (clusterId: string) =>
  typedCall("POST", PATH.uncordon(clusterId), cordonReplySchema);

/** Whether clusters may offer their reservations to the broker. Admins only. */
export const adoptionWindowCall = () => typedCall("GET", PATH.adoptionWindow, adoptionWindowSchema);

/** `duration` Go style, from now. Admins only. */
export const openAdoptionCall = (duration: string) =>
  typedCall("POST", PATH.adoptionWindow, adoptionWindowSchema, { body: { duration } });

/** Admins only. */
export const closeAdoptionCall = () => typedCall("DELETE", PATH.adoptionWindow, adoptionWindowSchema);

/** A link that signs one browser in to the dashboard, once. Admins only. */
export const dashboardLinkCall = (role?: DashboardLink["role"]) =>
  typedCall("POST", PATH.dashboardLinks, dashboardLinkSchema, { body: role === undefined ? {} : { role } });
