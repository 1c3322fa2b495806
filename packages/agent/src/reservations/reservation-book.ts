import { parseTime, type ReservationDTO, type SliceDefaults } from "@resource-broker/contract";
import { type Instant, isFinal, type ReleaseReason } from "@resource-broker/domain";
import type { Log } from "@resource-broker/runtime";
import { attemptOf, withKey } from "./attempt-key.ts";
import { isCountable, withSliceDefaults } from "./slice-defaults.ts";
import type { Role } from "../transport/broker-communicator.ts";

/** What the agent knows of one reservation. */
export interface BookEntry {
  readonly role: Role;
  readonly reservation: ReservationDTO;
  /**
   * `confirmed`: from the broker. `unconfirmed`: restored from an instruction, or from an earlier ledger.
   * `unknown`: the broker was asked and does not know it; it is kept.
   */
  readonly standing: "confirmed" | "remembered" | "unknown";
  /** Why the broker does not adopt an unknown reservation, in its words. */
  readonly notAdopted?: string;
  /** When it ended, by the broker's time; undefined while it is live. */
  readonly endedAt: Instant | undefined;
}

export type Learned = "new" | "changed" | "same" | "old" | "not-ours";

/**
 * The cache of the agent's reservations. Stream, poll and replies update it in any order and more than once;
 * only newer states count, and only a final phase ends a reservation.
 */
export interface ReservationBook {
  readonly learn: (role: Role, reservation: ReservationDTO) => Learned;
  /** Restores a reservation from an instruction; a state from the broker always wins. */
  readonly remember: (role: Role, reservation: ReservationDTO) => void;
  /** The broker does not know this reservation. */
  readonly markUnknown: (id: string) => void;
  /** The broker did not adopt an unknown reservation. */
  readonly markNotAdopted: (id: string, why: string) => void;
  /** Another ledger answers: all reservations become unconfirmed, and their generations do not count. */
  readonly doubt: () => void;
  /** Ends it locally, because the broker cannot be asked. A newer state makes it live again. */
  readonly endHere: (id: string, reason: ReleaseReason) => void;
  readonly get: (role: Role, id: string) => BookEntry | undefined;
  readonly entries: (role: Role) => Iterable<BookEntry>;
  readonly live: (role: Role) => BookEntry[];
  /** Reservations of the ResourceRequest with this UID, by attempt. */
  readonly ofRequest: (uid: string) => ReadonlyMap<number, BookEntry>;
  readonly onChange: (listener: (role: Role, id: string) => void) => () => void;
  /** Removes reservations that ended long ago. */
  readonly tidy: () => void;
}

/** How long ended reservations are kept: a late message must not make them live again. */
export const REMEMBER_ENDED_MS = 24 * 60 * 60 * 1000;

/** createdAt may differ slightly between the broker and an instruction; two reservations with one key are a day apart. */
const LIVES_APART_MS = 60 * 60 * 1000;

export interface BookOptions {
  readonly clusterId: string;
  /** The broker's time, or the best estimate. */
  readonly now: () => Instant;
  readonly log?: Pick<Log, "warn">;
}

const NOTHING: ReadonlyMap<number, BookEntry> = new Map();

export function reservationBook({ clusterId, now, log }: BookOptions): ReservationBook {
  const books: Readonly<Record<Role, Map<string, BookEntry>>> = { requester: new Map(), provider: new Map() };
  const byRequest = new Map<string, Map<number, BookEntry>>();
  const listeners = new Set<(role: Role, id: string) => void>();

  const put = (entry: BookEntry): void => {
    const { role, reservation } = entry;
    books[role].set(reservation.id, entry);
    const made = role === "requester" ? attemptOf(reservation.key) : undefined;
    if (made !== undefined) {
      const attempts = byRequest.get(made.uid) ?? new Map<number, BookEntry>();
      byRequest.set(made.uid, attempts.set(made.attempt, entry));
    }
    for (const listener of listeners) listener(role, reservation.id);
  };

  const isOurs = (role: Role, { requesterID, targetClusterID }: ReservationDTO): boolean =>
    clusterId === (role === "requester" ? requesterID : targetClusterID);

  const completed = (told: ReservationDTO, before: BookEntry | undefined): ReservationDTO => {
    const known = withKey(told, before?.reservation.key);
    // Set by the first message, also when absent: a later policy must not change a running slice.
    const isSettled = before !== undefined && !isNextLife(before, told);
    return withSliceDefaults(known, isSettled ? before.reservation.sliceDefaults : usable(told));
  };

  const learn = (role: Role, told: ReservationDTO): Learned => {
    if (!isOurs(role, told)) return "not-ours";
    const before = books[role].get(told.id);
    const reservation = completed(told, before);
    const news = judge(before, reservation);
    if (news === "old") return news;
    if (news === "same" && before?.standing === "confirmed") return news;
    const endedAt = isFinal(reservation.status.phase) ? (before?.endedAt ?? now()) : undefined;
    put({ role, reservation, standing: "confirmed", endedAt });
    return news;
  };

  const usable = ({ id, sliceDefaults }: ReservationDTO): SliceDefaults | undefined => {
    if (sliceDefaults === undefined || isCountable(sliceDefaults)) return sliceDefaults;
    log?.warn({ reservation: id, sliceDefaults }, "unreadable slice defaults: the built-in ones are used");
    return undefined;
  };

  const change = (id: string, by: (entry: BookEntry) => Partial<BookEntry> | undefined): void => {
    for (const book of Object.values(books)) {
      const entry = book.get(id);
      if (entry === undefined || entry.endedAt !== undefined) continue;
      const changed = by(entry);
      if (changed !== undefined) put({ ...entry, ...changed });
    }
  };

  const forgetAttempt = ({ key }: ReservationDTO): void => {
    const made = attemptOf(key);
    const attempts = made && byRequest.get(made.uid);
    if (attempts?.delete(made?.attempt ?? 0) === true && attempts.size === 0)
      byRequest.delete(made?.uid ?? "");
  };

  return {
    learn,
    remember: (role, reservation) => {
      if (books[role].has(reservation.id) || !isOurs(role, reservation)) return;
      put({ role, reservation, standing: "remembered", endedAt: undefined });
    },
    markUnknown: (id) =>
      change(id, ({ standing }) => (standing === "unknown" ? undefined : { standing: "unknown" })),
    markNotAdopted: (id, why) =>
      change(id, ({ standing, notAdopted }) =>
        standing !== "unknown" || notAdopted === why ? undefined : { notAdopted: why },
      ),
    doubt: () => {
      for (const { reservation } of [...books.requester.values(), ...books.provider.values()]) {
        change(reservation.id, ({ standing }) =>
          standing === "confirmed" ? { standing: "remembered" } : undefined,
        );
      }
    },
    endHere: (id, reason) =>
      change(id, ({ reservation }) => ({ reservation: released(reservation, reason), endedAt: now() })),
    get: (role, id) => books[role].get(id),
    entries: (role) => books[role].values(),
    live: (role) => [...books[role].values()].filter(({ endedAt }) => endedAt === undefined),
    ofRequest: (uid) => byRequest.get(uid) ?? NOTHING,
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    tidy: () => {
      const before = now() - REMEMBER_ENDED_MS;
      for (const book of Object.values(books)) {
        for (const [id, { endedAt, reservation }] of book) {
          if (endedAt === undefined || endedAt >= before) continue;
          book.delete(id);
          forgetAttempt(reservation);
        }
      }
    },
  };
}

/**
 * Compares a message with the cache. Without generations only an end is final. A live reservation that this
 * ledger has not confirmed is replaced: the ledger may have made it again, with generation 1.
 */
function judge(before: BookEntry | undefined, now: ReservationDTO): "new" | "changed" | "same" | "old" {
  if (before === undefined) return "new";
  const isCounted = before.standing === "confirmed" || before.endedAt !== undefined;
  const growth = isCounted ? livesLater(before.reservation, now) || growthOf(before.reservation, now) : 0;
  if (growth !== 0) return growth > 0 ? "changed" : "old";
  if (before.endedAt !== undefined) return isFinal(now.status.phase) ? "same" : "old";
  return JSON.stringify(before.reservation) === JSON.stringify(now) ? "same" : "changed";
}

/** A key may be used again a day after its end: the same ID, a later createdAt, generation 1. 0: the same reservation. */
function livesLater(before: ReservationDTO, now: ReservationDTO): number {
  const apartMs = (parseTime(now.createdAt) ?? 0) - (parseTime(before.createdAt) ?? 0);
  return Math.abs(apartMs) > LIVES_APART_MS ? apartMs : 0;
}

/** True: the cached reservation has ended, and its key was used again. */
function isNextLife({ endedAt, reservation }: BookEntry, now: ReservationDTO): boolean {
  return endedAt !== undefined && livesLater(reservation, now) > 0;
}

function growthOf(before: ReservationDTO, now: ReservationDTO): number {
  return (now.generation ?? 0) - (before.generation ?? now.generation ?? 0);
}

function released(reservation: ReservationDTO, reason: ReleaseReason): ReservationDTO {
  const status = { ...reservation.status, phase: "Released", message: `Released (${reason})` } as const;
  return { ...reservation, status, reason };
}
