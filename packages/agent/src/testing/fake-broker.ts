import { isReserved, type ReservationOrWaiting } from "@resource-broker/client";
import { hash } from "node:crypto";
import { type Clock, Fault } from "@resource-broker/base";
import {
  type AdoptionReplyDTO,
  type AdoptionRequestDTO,
  fromAdvertisement,
  fromReservation,
  fromWaiting,
  type PeerStatementDTO,
  present,
  type ReservationDTO,
  type ReservationRequestDTO,
  refusalDetails,
  type SliceDefaults,
  toAdoptionOffers,
  toAdvertisement,
  toMilliseconds,
  toReservationRequest,
  type WaitingRequestDTO,
} from "@resource-broker/contract";
import {
  apply,
  CALLS_PROTOCOL,
  type Command,
  DEFAULT_POLICY,
  decide,
  emptyLedger,
  headline,
  initialAdoptionWindow,
  isFinal,
  type LedgerEvent,
  MARKET_PROTOCOL,
  type Policy,
  type QueuePlace,
  queuePlaces,
  type Reply,
  type Reservation,
  reservationId,
  tenantOf,
  type Waiting,
} from "@resource-broker/domain";
import type {
  BrokerEvent,
  BrokerTransport,
  ResponseMetadata,
  Role,
} from "../transport/broker-communicator.ts";
import { type CallFaultRule, callWith } from "./call-fault.ts";
import { fakeStreams } from "./fake-stream.ts";

export interface BrokerCall {
  readonly clusterId: string;
  readonly method: keyof BrokerTransport;
  /** The reservation's id or the key, where the call has one. */
  readonly about: string;
}

const EPOCH_MS = Date.UTC(2026, 6, 1, 10);
/** How often the broker looks at the queue though nothing was freed. */
const LOOK_EVERY_MS = 30_000;
const ADMIN = { clusterId: "ops", isAdmin: true } as const;

/** What an admin does. */
export const asAdmin = { by: ADMIN } as const;

function waitIn({ wait, namespace, resumes }: ReservationRequestDTO) {
  return {
    ...(wait === undefined
      ? {}
      : { wait: wait.for === undefined ? {} : { forMs: toMilliseconds(wait.for) } }),
    ...present({ namespace, resumes }),
  };
}

export type FakeBroker = ReturnType<typeof fakeBroker>;

/** The broker without its server: the real ledger, in memory, and what can go wrong on the way to it. */
export function fakeBroker(clock: Clock) {
  const streams = fakeStreams(clock);
  const calls: BrokerCall[] = [];
  const listeners: ((event: LedgerEvent) => void)[] = [];
  let ledger = emptyLedger();
  let ledgers = 1;
  let made = 0;
  let isDown = false;
  let isOlder = false;
  let canQueue = true;
  let policy: Policy = DEFAULT_POLICY;
  let tellsByName = true;
  let sliceDefaults: SliceDefaults | undefined;
  let rule: CallFaultRule<BrokerCall> | undefined;
  let cancelSweep = (): void => undefined;
  let cancelLook = (): void => undefined;

  const now = (): number => EPOCH_MS + clock.monotonicMs();
  const ledgerId = (): string => `led-${ledgers}`;

  const run = (command: Command): Reply => {
    const reply = perform(command);
    if (!ledger.isSettled) admit();
    else if (reply.kind === "waiting" && !reply.isReplay) lookLater();
    armSweep();
    return reply;
  };
  const perform = (command: Command): Reply => {
    const { events, reply } = decide(ledger, command, { now: now(), policy });
    for (const event of events) apply(ledger, event);
    for (const event of events) announce(event);
    return reply;
  };
  const lookLater = (): void => {
    cancelLook();
    if (ledger.waiting.pendingCount > 0)
      cancelLook = clock.after(LOOK_EVERY_MS, () => (isDown ? lookLater() : admit()));
  };
  /** Grants what waits and fits. The broker looks when something was freed, and every 30 seconds. */
  const admit = (): void => {
    for (let hasMore = true; hasMore && ledger.waiting.pendingCount > 0; ) {
      const reply = perform({ kind: "admit", decisionId: `dec-${++made}` });
      hasMore = reply.kind === "admitted" && reply.hasMore;
    }
    lookLater();
    armSweep();
  };
  const armSweep = (): void => {
    cancelSweep();
    const at = ledger.deadlines.earliest?.at;
    if (at !== undefined) cancelSweep = clock.after(Math.max(1, at - now()), sweep);
  };
  const sweep = (): void => {
    if (!isDown) run({ kind: "expire-due" });
  };
  const announce = (event: LedgerEvent): void => {
    for (const listener of listeners) listener(event);
    const id = "reservation" in event ? event.reservation.id : "id" in event ? event.id : undefined;
    const entry = event.kind === "queued" ? undefined : ledger.waiting.byId.get(id ?? "");
    if (entry !== undefined) streams.send(entry.requester, { kind: "waiting", waiting: shownWaiting(entry) });
    const reservation = id === undefined ? undefined : ledger.reservations.get(id);
    if (reservation === undefined) return;
    const { requester, provider } = reservation;
    streams.send(provider, { kind: "instruction", reservation: shown(reservation, "provider") });
    streams.send(requester, { kind: "reservation", reservation: shown(reservation, "requester") });
    if (event.kind === "ended") streams.sendAll({ kind: "capacity", capacity: { change: "freed" } });
  };

  const shown = (reservation: Reservation, role: Role): ReservationDTO => {
    const dto = fromReservation(reservation, {
      role,
      isOlderAgent: isOlder,
      ...(sliceDefaults === undefined || isOlder ? {} : { sliceDefaults }),
    });
    if (!isOlder) return dto;
    const { generation: _, key: _key, reason: _reason, tier: _tier, decisionID: _id, ...older } = dto;
    return older;
  };
  const shownWaiting = (entry: Waiting, place?: QueuePlace): WaitingRequestDTO =>
    fromWaiting(entry, {
      tenant: tenantOf(policy, entry.requester, entry.namespace),
      isRequester: true,
      ...(place === undefined ? {} : { place }),
    });
  /** With their places, as the broker shows them to those who ask. */
  const placed = (isAsked: (entry: Waiting) => boolean): WaitingRequestDTO[] =>
    [...queuePlaces(ledger, { now: now(), policy }, isAsked)].map((place) =>
      shownWaiting(place.entry, place),
    );
  const roleOf = (clusterId: string, { requester }: Reservation): Role =>
    clusterId === requester ? "requester" : "provider";
  const of = (clusterId: string, role: Role): Reservation[] =>
    [...ledger.reservations.values()].filter((reservation) => reservation[role] === clusterId);
  const live = (): Reservation[] => [...ledger.reservations.values()].filter(({ phase }) => !isFinal(phase));
  const providedBy = (clusterId: string): ReservationDTO[] =>
    of(clusterId, "provider")
      .filter(({ phase }) => !isFinal(phase))
      .map((reservation) => shown(reservation, "provider"));

  /** The newest statements, by sender and receiver. Not checked, and lost with `forget`. */
  const statements = new Map<string, string>();
  const statementsTo = (to: string): PeerStatementDTO[] =>
    [...statements].flatMap(([pair, statement]) => {
      const [from = "", receiver] = pair.split(" ");
      return receiver === to ? [{ from, statement }] : [];
    });

  const connect = (clusterId: string): BrokerTransport => {
    const responseListeners = new Set<(response: ResponseMetadata) => void>();
    const by = { clusterId, isAdmin: false };
    const respond = (): void => {
      const response: ResponseMetadata = {
        ledgerId: isOlder ? undefined : ledgerId(),
        brokerTimeMs: Math.floor(now() / 1000) * 1000,
        isCurrent: !isOlder,
        canQueue: !isOlder && canQueue,
      };
      for (const listener of responseListeners) listener(response);
    };
    const call = async <T>(method: BrokerCall["method"], about: string, perform: () => T): Promise<T> => {
      const made: BrokerCall = { clusterId, method, about };
      const arrived = (): { value: T } | { fault: Fault } => {
        if (isDown) throw new Fault("unreachable", "the broker does not answer");
        calls.push(made);
        sweep();
        try {
          return { value: structuredClone(perform()) };
        } catch (error) {
          if (error instanceof Fault) return { fault: error };
          throw error;
        }
      };
      const answer = await callWith(rule?.(made), arrived);
      respond();
      if ("fault" in answer) throw answer.fault;
      return answer.value;
    };
    const newer = <T>(method: BrokerCall["method"], about: string, perform: () => T): Promise<T> =>
      call(method, about, () => {
        if (isOlder) throw new Fault("unsupported", "an older broker");
        return perform();
      });

    const queueing = <T>(method: BrokerCall["method"], about: string, perform: () => T): Promise<T> =>
      newer(method, about, () => {
        if (!canQueue) throw new Fault("unsupported", "a broker without a queue");
        return perform();
      });

    const request = (body: ReservationRequestDTO, key: string): ReservationOrWaiting => {
      const mapped = toReservationRequest(body);
      if (!mapped.ok) throw new Fault("invalid", JSON.stringify(mapped.problems));
      made++;
      const secret = isOlder ? `older ${made}` : `${clusterId}\0${key}`;
      const reply = run({
        kind: "reserve",
        requester: clusterId,
        request: mapped.value,
        ...(isOlder ? {} : { key, protocol: MARKET_PROTOCOL, ...waitIn(body) }),
        reservationId: reservationId(clusterId, hash("sha256", secret, "buffer")),
        decisionId: `dec-${made}`,
      });
      if (reply.kind === "refused") {
        throw new Fault("no-capacity", headline(reply.decision), {
          details: refusalDetails(reply.decision, "full"),
        });
      }
      return reply.kind === "waiting" ? shownWaiting(reply.waiting) : after(reply, clusterId);
    };
    const after = (reply: Reply, reader: string): ReservationDTO => {
      if (reply.kind === "granted" || reply.kind === "current") {
        return shown(reply.reservation, roleOf(reader, reply.reservation));
      }
      if (reply.kind === "rejected") throw new Fault(reply.code, reply.message);
      throw new Fault("internal", reply.kind);
    };
    const adopt = ({ reservations }: AdoptionRequestDTO): AdoptionReplyDTO => {
      const offers = toAdoptionOffers({ reservations });
      if (!offers.ok) throw new Fault("invalid", JSON.stringify(offers.problems));
      return {
        results: offers.value.map((offer) => {
          const reply = run({ kind: "adopt", by, offer });
          const { id } = offer;
          if (reply.kind === "current") {
            return { id, outcome: "adopted", message: "", reservation: after(reply, clusterId) };
          }
          if (reply.kind === "rejected") return { id, outcome: "refused", message: reply.message };
          return { id, outcome: "waiting", message: "waits for the other" };
        }),
      };
    };
    const tolerant = (reply: Reply, ...codes: readonly string[]): void => {
      if (reply.kind === "rejected" && !codes.includes(reply.code))
        throw new Fault(reply.code, reply.message);
    };

    return {
      identity: () => clusterId,
      publish: (body) =>
        call("publish", "", () => {
          const mapped = toAdvertisement(body, canQueue ? MARKET_PROTOCOL : CALLS_PROTOCOL);
          if (!mapped.ok) throw new Fault("invalid", JSON.stringify(mapped.problems));
          tolerant(run({ kind: "advertise", advertisement: mapped.value }));
          const account = ledger.accounts.get(clusterId);
          const providerInstructions = providedBy(clusterId);
          return {
            advertisement: account === undefined ? body : fromAdvertisement(mapped.value, account),
            ...(providerInstructions.length === 0 ? {} : { providerInstructions }),
          };
        }),
      reserve: (body, key) =>
        call("reserve", key, () => {
          const reply = request(body, key);
          if (isReserved(reply)) return reply;
          throw new Fault("no-capacity", reply.status.message);
        }),
      reserveOrWait: (body, key) => queueing("reserve", key, () => request(body, key)),
      getWaiting: (id) =>
        queueing("getWaiting", id, () => {
          const entry = ledger.waiting.byId.get(id);
          if (entry?.requester !== clusterId) return undefined;
          return placed((each) => each.id === id)[0] ?? shownWaiting(entry);
        }),
      listWaiting: () =>
        queueing("listWaiting", "", () => placed(({ requester }) => requester === clusterId)),
      listReservations: (role) =>
        newer("listReservations", role, () => of(clusterId, role).map((each) => shown(each, role))),
      getReservation: (id) =>
        call("getReservation", id, () => {
          if (!tellsByName) throw new Fault("unsupported", "404 page not found");
          const found = ledger.reservations.get(id);
          const isParty = found?.requester === clusterId || found?.provider === clusterId;
          return found === undefined || !isParty ? undefined : shown(found, roleOf(clusterId, found));
        }),
      listInstructions: () => call("listInstructions", "", () => providedBy(clusterId)),
      watch: async function* (signal) {
        const beginning = await newer("watch", "", (): BrokerEvent[] => [
          ...providedBy(clusterId).map((reservation) => ({ kind: "instruction", reservation }) as const),
          ...of(clusterId, "requester")
            .filter(({ phase }) => !isFinal(phase))
            .map((each) => ({ kind: "reservation", reservation: shown(each, "requester") }) as const),
          ...statementsTo(clusterId).map((each) => ({ kind: "statement", ...each }) as const),
        ]);
        yield* streams.open(clusterId, beginning, signal);
      },
      activate: (id) => newer("activate", id, () => after(run({ kind: "activate", by, id }), clusterId)),
      release: (id) =>
        newer("release", id, () => tolerant(run({ kind: "release", by, id }), "not-found", "already-ended")),
      releaseByKey: (key) =>
        newer("releaseByKey", key, () =>
          tolerant(run({ kind: "release-by-key", requester: clusterId, key }), "not-found"),
        ),
      acknowledge: (id) => newer("acknowledge", id, () => tolerant(run({ kind: "acknowledge", by, id }))),
      refuse: (id, why) =>
        newer("refuse", id, () => tolerant(run({ kind: "refuse", by, id, why }), "already-ended")),
      adopt: (offers) => newer("adopt", "", () => adopt(offers)),
      putStatement: (to, statement) =>
        newer("putStatement", to, () => {
          statements.set(`${clusterId} ${to}`, statement);
          streams.send(to, { kind: "statement", from: clusterId, statement });
        }),
      listStatements: () => newer("listStatements", "", () => statementsTo(clusterId)),
      ping: () => call("ping", "", () => undefined),
      onResponse: (listener) => {
        responseListeners.add(listener);
        return () => responseListeners.delete(listener);
      },
      close: () => Promise.resolve(),
    };
  };

  return {
    connect,
    /** Every call that arrived, in order. */
    calls,
    ledger: () => ledger,
    /** Its time, which no agent's clock touches. */
    now,
    /** As an admin, or anybody else, would. */
    run,
    live,
    /** The requests that wait. */
    pending: (): Waiting[] => [...ledger.waiting.byId.values()].filter(({ phase }) => !isFinal(phase)),
    setCallFaults: (next: CallFaultRule<BrokerCall> | undefined): void => {
      rule = next;
    },
    setEventTransform: streams.setEventTransform,
    /** An event that the ledger knows nothing of. */
    send: streams.send,
    down: (): void => {
      isDown = true;
      streams.cut();
    },
    up: (): void => {
      isDown = false;
      sweep();
    },
    cutStreams: streams.cut,
    /** It comes back with an empty database. */
    forget: (): void => {
      ledger = emptyLedger();
      ledger.adoption = initialAdoptionWindow(now(), "created");
      ledgers++;
      statements.clear();
      streams.cut();
    },
    policy: () => policy,
    /** Another policy is in force. */
    setPolicy: (next: Partial<Policy>): void => {
      policy = { ...policy, ...next };
    },
    /** False: it speaks protocol 2, and requests cannot wait there. */
    setQueue: (next: boolean): void => {
      canQueue = next;
      streams.cut();
    },
    /** Another policy is in force. Undefined: the built-in slice defaults, which no word is lost on. */
    setSliceDefaults: (next: SliceDefaults | undefined): void => {
      sliceDefaults = next;
    },
    /** True: it answers as the Go broker does. `cannotTell`: as its first releases, which know no reservation by name. */
    setOlder: (next: boolean | "cannotTell"): void => {
      isOlder = next !== false;
      tellsByName = next !== "cannotTell";
      streams.cut();
    },
    onEvent: (listener: (event: LedgerEvent) => void): void => void listeners.push(listener),
  };
}
