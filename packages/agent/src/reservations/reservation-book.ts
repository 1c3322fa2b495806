import { parseTime, type ReservationDTO, type SliceDefaults } from "@resource-broker/contract";
import { type Instant, isFinal, type ReleaseReason } from "@resource-broker/domain";
import type { Log } from "@resource-broker/runtime";
import { attemptOf, withKey } from "./attempt-key.ts";
import { isCountable, withSliceDefaults } from "./slice-defaults.ts";
import type { Role } from "../transport/broker-communicator.ts";

/** What the agent knows of one reservation it is a party of. */
export interface BookEntry {
  readonly role: Role;
  readonly reservation: ReservationDTO;
  /**
   * `confirmed`: the broker said so. `remembered`: an instruction in the cluster says so, or a broker that has lost
   * its memory since. `unknown`: the broker, asked by id, knows no such reservation; it is kept until somebody says otherwise.
   */
  readonly standing: "confirmed" | "remembered" | "unknown";
  /** Why the broker does not take an unknown one back in, in its words. */
  readonly notAdopted?: string;
  /** When it ended, by the broker's time; undefined while it lives. */
  readonly endedAt: Instant | undefined;
}

export type Learned = "new" | "changed" | "same" | "old" | "not-ours";

/**
 * The agent's one memory of reservations. Stream, poll and replies all feed it, in any order and more than once;
 * only newer news counts, and only a final phase ends anything.
 */
export interface ReservationBook {
  readonly learn: (role: Role, reservation: ReservationDTO) => Learned;
  /** What an instruction found at start says; real news always wins. */
  readonly remember: (role: Role, reservation: ReservationDTO) => void;
  /** The broker answered that it knows no such reservation. */
  readonly markUnknown: (id: string) => void;
  /** The broker, offered an unknown one, did not take it back in. */
  readonly markNotAdopted: (id: string, why: string) => void;
  /** Another ledger answers: what the old one said is not confirmed any more, and its generations count nothing. */
  readonly doubt: () => void;
  /** It is over though the broker cannot say so. Newer news revives it. */
  readonly endHere: (id: string, reason: ReleaseReason) => void;
  readonly get: (role: Role, id: string) => BookEntry | undefined;
  readonly entries: (role: Role) => Iterable<BookEntry>;
  readonly live: (role: Role) => BookEntry[];
  /** Those asked for with the ResourceRequest of this UID, by the attempt that led to them. */
  readonly ofRequest: (uid: string) => ReadonlyMap<number, BookEntry>;
  readonly onChange: (listener: (role: Role, id: string) => void) => () => void;
  /** Forgets what ended long ago. */
  readonly tidy: () => void;
}

/** A late message about an ended reservation must not bring it back. */
export const REMEMBER_ENDED_MS = 24 * 60 * 60 * 1000;

/** One life may be dated a little apart, by the broker and by an instruction in the cluster; two lives are a day apart. */
const LIVES_APART_MS = 60 * 60 * 1000;

export interface BookOptions {
  readonly clusterId: string;
  /** The broker's time, or the best guess at it. */
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
    // Settled by the first word of it, also by none: a later policy must not change a slice that runs.
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
    log?.warn(
      { reservation: id, sliceDefaults },
      "slice defaults that cannot be counted: the usual ones are taken",
    );
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
 * Whether a message is news. Older brokers count no generations: there, only an end is irrevocable. What lives and was
 * not confirmed by this ledger is replaced by whatever it says: it may have made the reservation anew and counts from 1.
 */
function judge(before: BookEntry | undefined, now: ReservationDTO): "new" | "changed" | "same" | "old" {
  if (before === undefined) return "new";
  const isCounted = before.standing === "confirmed" || before.endedAt !== undefined;
  const growth = isCounted ? livesLater(before.reservation, now) || growthOf(before.reservation, now) : 0;
  if (growth !== 0) return growth > 0 ? "changed" : "old";
  if (before.endedAt !== undefined) return isFinal(now.status.phase) ? "same" : "old";
  return JSON.stringify(before.reservation) === JSON.stringify(now) ? "same" : "changed";
}

/** A key may be used again a day after its end: the same id, made later, counting from 1. 0: one and the same life. */
function livesLater(before: ReservationDTO, now: ReservationDTO): number {
  const apartMs = (parseTime(now.createdAt) ?? 0) - (parseTime(before.createdAt) ?? 0);
  return Math.abs(apartMs) > LIVES_APART_MS ? apartMs : 0;
}

/** True: what was known of it has ended, and its key was used again. */
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
