import { NO_RESOURCES } from "@resource-broker/base";
import type { LedgerEvent } from "../ledger/event.ts";
import type { Waiting } from "../queue/waiting.ts";
import { dayOf } from "./budget-model.ts";
import type { Kept } from "../scheduling/candidate-table.ts";

type Of<K extends LedgerEvent["kind"]> = Extract<LedgerEvent, { readonly kind: K }>;

const LETS_NOBODY_IN: ReadonlySet<string> = new Set([
  "granted",
  "queued",
  "unqueued",
  "refused",
  "key-closed",
]);

/** The queue's part of the model: who waits, and what providers keep for them. */
export class QueueModel {
  /** Requests that wait, or have left the queue without a grant. */
  readonly waiting = new Map<string, Waiting>();
  /** What providers keep for waiting requests, by provider. */
  readonly kept = new Map<string, Kept>();
  #plans: readonly Kept[] = [];
  /** Providers that may keep something that the model was not told of. */
  untold: ReadonlySet<string> = new Set();
  /** Since the last look nothing has happened that could let somebody in. */
  isSettled = true;
  /** On another day than that of the last look a budget may let somebody in. */
  settledOn = 0;

  draft(): QueueModel {
    const copy = new QueueModel();
    for (const [id, entry] of this.waiting) copy.waiting.set(id, entry);
    for (const [provider, kept] of this.kept) copy.kept.set(provider, kept);
    copy.#plans = this.#plans;
    copy.untold = this.untold;
    copy.isSettled = this.isSettled;
    copy.settledOn = this.settledOn;
    return copy;
  }

  get pending(): Waiting[] {
    return [...this.waiting.values()].filter(({ phase }) => phase === "Pending");
  }

  isSettledAt(at: number): boolean {
    return this.isSettled && this.settledOn === dayOf(at);
  }

  apply(event: LedgerEvent): void {
    if (event.kind === "settled" || this.pending.length === 0) this.settledOn = dayOf(event.at);
    if (!LETS_NOBODY_IN.has(event.kind) || this.#isHeardAgain(event) || this.#givesUpCapacity(event))
      this.isSettled = event.kind === "settled" && !this.#letsSomebodyIn(event);
    switch (event.kind) {
      case "queued":
        return void this.waiting.set(event.waiting.id, event.waiting);
      case "granted":
        this.#giveUp(event.reservation.id);
        return void this.waiting.delete(event.reservation.id);
      case "unqueued":
        return this.#leave(event);
      case "nominated":
      case "nomination-lapsed":
        return this.#nominate(event);
      case "settled":
        return this.#settle(event);
      case "forgotten":
        return void this.waiting.delete(event.id);
      default:
        return;
    }
  }

  /** A cluster that speaks may have been passed over for its silence. */
  #isHeardAgain(event: LedgerEvent): boolean {
    const requester = event.kind === "queued" ? event.waiting.requester : grantedTo(event);
    return this.pending.some((entry) => entry.requester === requester);
  }

  /** An old plan was dropped, moved or put off, or a nominated request has room at another time: the queue is looked at once more. */
  #letsSomebodyIn({ plans, rooms = [] }: Of<"settled">): boolean {
    const isMoved = ({ provider, from, victims, roomBy }: Kept): boolean =>
      from === undefined && victims === undefined && roomBy !== roomOf(rooms, provider);
    if ([...this.kept.values()].some(isMoved)) return true;
    const planned = [...this.kept.values()].filter(({ from }) => from !== undefined);
    const isAsStrict = (old: Kept): boolean =>
      plans.some(
        ({ id, provider, from }) =>
          id === old.id && provider === old.provider && (from ?? 0) <= (old.from ?? 0),
      );
    return !planned.every(isAsStrict);
  }

  /** What was kept for it is for others. */
  #givesUpCapacity(event: LedgerEvent): boolean {
    const id = event.kind === "unqueued" ? event.id : undefined;
    return [...this.kept.values()].some((kept) => kept.id === id);
  }

  /** Nominations stay; plans are made anew. */
  #settle({ plans, rooms = [] }: Of<"settled">): void {
    for (const [provider, { roomBy: _, ...kept }] of this.kept) {
      const by = roomOf(rooms, provider);
      if (kept.from !== undefined) this.kept.delete(provider);
      else this.kept.set(provider, by === undefined ? kept : { ...kept, roomBy: by });
    }
    this.#plans = plans;
    for (const plan of plans) if (!this.kept.has(plan.provider)) this.kept.set(plan.provider, plan);
  }

  #nominate(event: Of<"nominated" | "nomination-lapsed">): void {
    const entry = this.waiting.get(event.id);
    this.#giveUp(event.id);
    if (entry === undefined) return;
    const { noticesAt = [], generation } = entry;
    const notices = "victims" in event ? { noticesAt: [...noticesAt, event.at] } : {};
    this.waiting.set(entry.id, { ...entry, ...notices, generation: generation + 1 });
    if (event.kind === "nomination-lapsed") return;
    const { priority, resources } = entry.request;
    const { provider, victims } = event;
    const kept = { id: entry.id, provider, priority, resources, returning: NO_RESOURCES };
    this.kept.set(provider, victims === undefined ? kept : { ...kept, victims });
  }

  #leave({ id, reason, at }: Of<"unqueued">): void {
    const entry = this.waiting.get(id);
    this.#giveUp(id);
    const phase = reason === "WaitTimeout" ? "Failed" : "Released";
    if (entry !== undefined)
      this.waiting.set(id, { ...entry, phase, reason, endedAt: at, generation: entry.generation + 1 });
  }

  #giveUp(id: string): void {
    for (const [provider, kept] of this.kept) {
      if (kept.id !== id) continue;
      const plan = this.#plans.find((each) => each.provider === provider && each.id !== id);
      if (plan === undefined || kept.from !== undefined) this.kept.delete(provider);
      else this.kept.set(provider, plan);
    }
  }
}

function roomOf(rooms: NonNullable<Of<"settled">["rooms"]>, provider: string): number | undefined {
  return rooms.find((room) => room.provider === provider)?.by;
}

function grantedTo(event: LedgerEvent): string | undefined {
  return event.kind === "granted" ? event.reservation.requester : undefined;
}
