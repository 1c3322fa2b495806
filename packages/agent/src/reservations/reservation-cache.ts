import { type Log, parseTime } from "@resource-broker/base";
import type { SliceDefaults } from "@resource-broker/contract";
import { type Instant, isFinal, type ReleaseReason } from "@resource-broker/domain";
import type { Role } from "../transport/broker-communicator.ts";
import { attemptOf, isParseable, type Reservation, withKey, withSliceDefaults } from "./reservation.ts";

/** What the agent knows of one reservation. */
export interface CachedReservation {
  readonly role: Role;
  readonly reservation: Reservation;
  /**
   * `confirmed`: from the broker. `unconfirmed`: restored from an instruction, or from an earlier ledger.
   * `unknown`: the broker was asked and does not know it; it is kept.
   */
  readonly syncState: "confirmed" | "unconfirmed" | "unknown";
  /** Why the broker does not adopt an unknown reservation, in its words. */
  readonly notAdopted?: string;
  /** When it ended, by the broker's time; undefined while it is live. */
  readonly endedAt: Instant | undefined;
}

export type CacheUpdate = "new" | "changed" | "same" | "old" | "not-ours";

interface ReservationCacheOptions {
  readonly clusterId: string;
  /** The broker's time, or the best estimate. */
  readonly now: () => Instant;
  readonly log?: Pick<Log, "info" | "warn">;
}

/** How long ended reservations are kept: a late message must not make them live again. */
export const ENDED_RETENTION_MS = 24 * 60 * 60 * 1000;

/** createdAt may differ slightly between the broker and an instruction; two reservations with one key are at least a day apart. */
const REUSE_DISTANCE_MS = 60 * 60 * 1000;

const NO_ATTEMPTS: ReadonlyMap<number, CachedReservation> = new Map();

export type ReservationCache = ReturnType<typeof reservationCache>;

/**
 * The cache of the agent's reservations. Stream, poll and replies update it in any order and more than once;
 * only newer states count, and only a final phase ends a reservation.
 */
export function reservationCache({ clusterId, now, log }: ReservationCacheOptions) {
  const byRole: Readonly<Record<Role, Map<string, CachedReservation>>> = {
    requester: new Map(),
    provider: new Map(),
  };
  const byRequest = new Map<string, Map<number, CachedReservation>>();
  const listeners = new Set<(role: Role, id: string) => void>();

  const put = (entry: CachedReservation): void => {
    const { role, reservation } = entry;
    byRole[role].set(reservation.id, entry);
    const attempt = role === "requester" ? attemptOf(reservation.key) : undefined;
    if (attempt !== undefined) {
      const attempts = byRequest.get(attempt.uid) ?? new Map<number, CachedReservation>();
      byRequest.set(attempt.uid, attempts.set(attempt.attempt, entry));
    }
    for (const listener of listeners) listener(role, reservation.id);
  };

  const isOurs = (role: Role, { requester, provider }: Reservation): boolean =>
    clusterId === (role === "requester" ? requester : provider);

  const withSettledFields = (received: Reservation, before: CachedReservation | undefined): Reservation => {
    const known = withKey(received, before?.reservation.key);
    // Set by the first message, also when absent: a later policy must not change a running slice.
    const isSettled = before !== undefined && !isReusedKey(before, received);
    return withSliceDefaults(
      known,
      isSettled ? before.reservation.sliceDefaults : usableSliceDefaults(received),
    );
  };

  const update = (role: Role, received: Reservation): CacheUpdate => {
    if (!isOurs(role, received)) return "not-ours";
    const before = byRole[role].get(received.id);
    const reservation = withSettledFields(received, before);
    const result = compareWithCached(before, reservation);
    if (result === "old") return result;
    if (result === "same" && before?.syncState === "confirmed") return result;
    const endedAt = isFinal(reservation.phase) ? (before?.endedAt ?? now()) : undefined;
    put({ role, reservation, syncState: "confirmed", endedAt });
    logStep({ role, reservation, endedAt }, before);
    return result;
  };

  /** A reservation that was never seen live gets no line, nor does one restored from its instruction. */
  const logStep = (
    { role, reservation, endedAt }: Pick<CachedReservation, "role" | "reservation" | "endedAt">,
    before: CachedReservation | undefined,
  ): void => {
    const { id, requester, provider, key, endReason: reason, expiresAt } = reservation;
    const isNew = before === undefined || isReusedKey(before, reservation);
    if (endedAt !== undefined) {
      if (!isNew && before.endedAt === undefined)
        log?.info({ reservation: id, role, reason }, "reservation ended");
    } else if (isNew) {
      if (role === "requester") log?.info({ reservation: id, provider, key, expiresAt }, "reserved");
      else log?.info({ reservation: id, requester }, "provider instruction received");
    }
  };

  const usableSliceDefaults = ({ id, sliceDefaults }: Reservation): SliceDefaults | undefined => {
    if (sliceDefaults === undefined || isParseable(sliceDefaults)) return sliceDefaults;
    log?.warn({ reservation: id, sliceDefaults }, "unreadable slice defaults: the built-in ones are used");
    return undefined;
  };

  const updateLive = (
    id: string,
    by: (entry: CachedReservation) => Partial<CachedReservation> | undefined,
  ): void => {
    for (const entries of Object.values(byRole)) {
      const entry = entries.get(id);
      if (entry === undefined || entry.endedAt !== undefined) continue;
      const changed = by(entry);
      if (changed !== undefined) put({ ...entry, ...changed });
    }
  };

  const forgetAttempt = ({ key }: Reservation): void => {
    const attempt = attemptOf(key);
    const attempts = attempt && byRequest.get(attempt.uid);
    if (attempts?.delete(attempt?.attempt ?? 0) === true && attempts.size === 0)
      byRequest.delete(attempt?.uid ?? "");
  };

  return {
    update,
    /** Restores a reservation from an instruction; a state from the broker always wins. */
    restore: (role: Role, reservation: Reservation): void => {
      if (byRole[role].has(reservation.id) || !isOurs(role, reservation)) return;
      put({ role, reservation, syncState: "unconfirmed", endedAt: undefined });
    },
    /** The broker does not know this reservation. */
    markUnknown: (id: string): void =>
      updateLive(id, ({ syncState }) => (syncState === "unknown" ? undefined : { syncState: "unknown" })),
    /** The broker did not adopt an unknown reservation. */
    markNotAdopted: (id: string, why: string): void =>
      updateLive(id, ({ syncState, notAdopted }) =>
        syncState !== "unknown" || notAdopted === why ? undefined : { notAdopted: why },
      ),
    /** Another ledger answers: all reservations become unconfirmed, and their generations do not count. */
    markUnconfirmed: (): void => {
      for (const { reservation } of [...byRole.requester.values(), ...byRole.provider.values()]) {
        updateLive(reservation.id, ({ syncState }) =>
          syncState === "confirmed" ? { syncState: "unconfirmed" } : undefined,
        );
      }
    },
    /** Ends it locally, because the broker is not reachable. A newer state makes it live again. */
    endLocally: (id: string, reason: ReleaseReason): void =>
      updateLive(id, (entry) => {
        const ended = { reservation: released(entry.reservation, reason), endedAt: now() };
        logStep({ ...entry, ...ended }, entry);
        return ended;
      }),
    get: (role: Role, id: string): CachedReservation | undefined => byRole[role].get(id),
    live: (role: Role): CachedReservation[] =>
      [...byRole[role].values()].filter(({ endedAt }) => endedAt === undefined),
    /** Reservations of the ResourceRequest with this UID, by attempt. */
    ofRequest: (uid: string): ReadonlyMap<number, CachedReservation> => byRequest.get(uid) ?? NO_ATTEMPTS,
    onChange: (listener: (role: Role, id: string) => void): (() => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** Removes reservations that ended long ago. */
    prune: (): void => {
      const before = now() - ENDED_RETENTION_MS;
      for (const entries of Object.values(byRole)) {
        for (const [id, { endedAt, reservation }] of entries) {
          if (endedAt === undefined || endedAt >= before) continue;
          entries.delete(id);
          forgetAttempt(reservation);
        }
      }
    },
  };
}

/**
 * Compares a received reservation with the cached one. Without generations, only an end is final. A live reservation
 * that the current ledger has not confirmed is replaced: the ledger may have created it again, with generation 1.
 */
function compareWithCached(
  before: CachedReservation | undefined,
  received: Reservation,
): "new" | "changed" | "same" | "old" {
  if (before === undefined) return "new";
  const isComparable = before.syncState === "confirmed" || before.endedAt !== undefined;
  const difference = isComparable
    ? creationDifferenceMs(before.reservation, received) || generationDifference(before.reservation, received)
    : 0;
  if (difference !== 0) return difference > 0 ? "changed" : "old";
  if (before.endedAt !== undefined) return isFinal(received.phase) ? "same" : "old";
  return JSON.stringify(before.reservation) === JSON.stringify(received) ? "same" : "changed";
}

/** 0: the same reservation. A key may be used again a day after its end: then the ID is the same and createdAt is later. */
function creationDifferenceMs(before: Reservation, received: Reservation): number {
  const differenceMs = (parseTime(received.createdAt) ?? 0) - (parseTime(before.createdAt) ?? 0);
  return Math.abs(differenceMs) > REUSE_DISTANCE_MS ? differenceMs : 0;
}

/** True: the cached reservation has ended, and its key was used again. */
function isReusedKey({ endedAt, reservation }: CachedReservation, received: Reservation): boolean {
  return endedAt !== undefined && creationDifferenceMs(reservation, received) > 0;
}

function generationDifference(before: Reservation, received: Reservation): number {
  return (received.generation ?? 0) - (before.generation ?? received.generation ?? 0);
}

function released(reservation: Reservation, reason: ReleaseReason): Reservation {
  return { ...reservation, phase: "Released", message: `Released (${reason})`, endReason: reason };
}
