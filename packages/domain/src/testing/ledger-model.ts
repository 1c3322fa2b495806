import type { Advertisement, ReservationUsage } from "../advertisement/advertisement.ts";
import type { ReceivedAdvertisement } from "../ledger/account.ts";
import type { LedgerEvent } from "../ledger/event.ts";
import { BudgetModel, wrongCharges } from "./budget-model.ts";
import { QueueModel } from "./queue-model.ts";
import type { LedgerView } from "../ledger/ledger.ts";
import type { Member } from "../ledger/member.ts";
import type { EndReason, Phase } from "../reservation/lifecycle.ts";
import type { Reservation } from "../reservation/reservation.ts";

/** What is counted. Amounts of anything else stay zero where the model is used. */
export const UNITS = ["cpuMillis", "memoryBytes", "gpus"] as const;
export type Unit = (typeof UNITS)[number];

/** A reservation as the model has it: the parts that promises are made about. */
export interface ModelReservation
  extends Pick<
    Reservation,
    | "id"
    | "requester"
    | "provider"
    | "granted"
    | "key"
    | "tenant"
    | "expiresAt"
    | "activateBy"
    | "endedAt"
    | "reason"
    | "request"
    | "createdAt"
    | "reservedAt"
    | "decisionId"
    | "since"
  > {
  readonly preemption?: Reservation["preemption"] | undefined;
  readonly phase: Phase;
  readonly generation: number;
}

const RELEASES: ReadonlySet<EndReason> = new Set([
  "Expired",
  "ReleasedByRequester",
  "ReleasedByAdmin",
  "RequesterLost",
  "ActivationTimeout",
]);
/** These are not stored: they do not move the ledger's time. Advertisements have a method of their own. */
const SOFT: ReadonlySet<string> = new Set([
  "advertised",
  "adoption-offered",
  "adoption-withdrawn",
  "settled",
]);
const REMEMBERED_INSTANCES = 8;
/** Written a second time, on purpose. */
const TAKE_DOWN_MS = 600_000;

/**
 * A simple model of the ledger, built from events only; every sum is computed from scratch. It shares no code with the
 * domain, so that both cannot have the same bug.
 */
export class LedgerModel {
  time = 0;
  readonly entries = new Map<string, ModelReservation>();
  readonly queue: QueueModel;
  readonly budgets: BudgetModel;
  readonly keys = new Map<string, string>();
  readonly closedKeys = new Set<string>();
  /** Preempted reservations whose place in the queue was taken over. */
  readonly resumed = new Set<string>();
  readonly cordoned = new Set<string>();
  readonly members = new Map<string, Member>();
  /** Reservations made before `since` may be adopted until `until`. */
  adoption = { since: 0, until: 0 };
  newest = new Map<string, ReceivedAdvertisement>();
  /** After a crash: what a cluster was told to be accepted, where what was read back is older. Until it speaks again. */
  answered = new Map<string, ReceivedAdvertisement>();
  /** When the broker last heard a cluster; whoever is not here: when it began to listen. */
  lastSeen = new Map<string, number>();

  constructor(queue = new QueueModel(), budgets = new BudgetModel()) {
    this.queue = queue;
    this.budgets = budgets;
  }

  /** A copy to try a batch on. */
  draft(): LedgerModel {
    const copy = new LedgerModel(this.queue.draft(), this.budgets.draft());
    copy.time = this.time;
    for (const [id, entry] of this.entries) copy.entries.set(id, entry);
    for (const [name, id] of this.keys) copy.keys.set(name, id);
    for (const name of this.closedKeys) copy.closedKeys.add(name);
    for (const id of this.resumed) copy.resumed.add(id);
    for (const id of this.cordoned) copy.cordoned.add(id);
    for (const [id, member] of this.members) copy.members.set(id, member);
    copy.adoption = this.adoption;
    copy.newest = this.newest;
    copy.answered = this.answered;
    copy.lastSeen = new Map(this.lastSeen);
    return copy;
  }

  /** False: it is old news, or of a process that was replaced. */
  isNewer(advertisement: Advertisement): boolean {
    const before = this.newest.get(advertisement.clusterId);
    return before === undefined || !isOvertaken(advertisement, before);
  }

  /** True when the advertisement counts. */
  advertise(advertisement: Advertisement, at: number): boolean {
    const { clusterId, instance } = advertisement;
    if (!this.isNewer(advertisement)) return false;
    const before = this.newest.get(clusterId);
    const last = before?.advertisement.instance;
    const ended = last === undefined || last === instance ? [] : [last];
    const replacedInstances = [...ended, ...(before?.replacedInstances ?? [])].slice(0, REMEMBERED_INSTANCES);
    this.newest = new Map(this.newest).set(clusterId, { advertisement, receivedAt: at, replacedInstances });
    this.lastSeen.set(clusterId, at);
    this.queue.isSettled = false;
    const answered = this.answered.get(clusterId);
    // A late copy of what was said before that is no news of the cluster.
    if (answered !== undefined && !isOvertaken(advertisement, answered)) this.answered.delete(clusterId);
    return true;
  }

  apply(event: LedgerEvent): void {
    if (!SOFT.has(event.kind)) this.#applyStored(event);
    this.queue.apply(event);
    if (event.kind === "granted" && this.#wasReported(event.reservation)) this.queue.isSettled = false;
    this.budgets.apply(event);
  }

  /** A hold that the ledger did not know may have been larger: then there is more room than before. */
  #wasReported({ id, provider }: Reservation): boolean {
    return this.newest.get(provider)?.advertisement.usage.some((each) => each.reservationId === id) === true;
  }

  #applyStored(event: LedgerEvent): void {
    this.time = Math.max(this.time, event.at);
    this.#setMember(event);
    switch (event.kind) {
      case "granted":
      case "adopted": {
        const { id, requester, key } = event.reservation;
        this.entries.set(id, event.reservation);
        if (key !== undefined) this.keys.set(keyOf(requester, key), id);
        // An admin may adopt for a requester that says nothing, and what waited is granted whether it speaks or not.
        if (event.kind === "granted" && !this.queue.waiting.has(id)) this.lastSeen.set(requester, event.at);
        return;
      }
      case "queued": {
        const { id, requester, key } = event.waiting;
        this.keys.set(keyOf(requester, key), id);
        this.lastSeen.set(requester, event.at);
        return;
      }
      case "activated":
        this.lastSeen.set(this.entries.get(event.id)?.requester ?? "", event.at);
        return this.#change(event.id, { phase: "Active" });
      case "renewed":
        this.lastSeen.set(this.entries.get(event.id)?.requester ?? "", event.at);
        return this.#change(event.id, { expiresAt: event.expiresAt });
      case "acknowledged":
        return this.#change(event.id, {});
      case "ended": {
        const phase = RELEASES.has(event.reason) ? "Released" : "Failed";
        return this.#change(event.id, { phase, reason: event.reason, endedAt: event.at });
      }
      case "preempting": {
        const { kind: _, id, at: __, until, ...cause } = event;
        return this.#change(id, { preemption: { ...cause, at: until } });
      }
      case "reprieved":
        return this.#change(event.id, { preemption: undefined });
      case "resumed":
        return void this.resumed.add(event.id);
      case "forgotten":
        return this.#forget(event.id);
      case "key-closed":
        return void this.closedKeys.add(keyOf(event.closedKey.requester, event.closedKey.key));
      case "key-reopened":
        return void this.closedKeys.delete(keyOf(event.requester, event.key));
      case "cordoned":
        return void this.cordoned.add(event.clusterId);
      case "uncordoned":
        return void this.cordoned.delete(event.clusterId);
      case "adoption-window-set":
        this.adoption = event.window;
        return;
      default:
        return;
    }
  }

  #setMember(event: LedgerEvent): void {
    if ("member" in event) this.members.set(event.member.clusterId, event.member);
  }

  isEvicted(clusterId: string): boolean {
    return this.members.get(clusterId)?.evictedAt !== undefined;
  }

  /** available = allocatable − allocated − Σ live max(granted, used) − Σ ended used − Σ unknown max(granted, used). */
  available(provider: string, unit: Unit, advertised = this.newest.get(provider)): number {
    const { allocatable, allocated } = advertised?.advertisement ?? {};
    const own = (allocatable?.[unit] ?? 0) - (allocated?.[unit] ?? 0);
    return Math.max(
      0,
      own - this.reserved(provider, unit, advertised) - this.#borrowed(provider, unit, advertised),
    );
  }

  /** What may be lent: no crash makes an answered advertisement untrue. */
  lendable(provider: string, unit: Unit): number {
    const available = this.available(provider, unit);
    const answered = this.answered.get(provider);
    return answered === undefined ? available : Math.min(available, this.available(provider, unit, answered));
  }

  reserved(provider: string, unit: Unit, advertised = this.newest.get(provider)): number {
    const usage = advertised?.advertisement.usage ?? [];
    let total = 0;
    for (const { id, granted, phase, provider: lendingCluster } of this.entries.values()) {
      if (lendingCluster === provider && isLivePhase(phase))
        total += Math.max(granted[unit], usedFor(usage, id, unit));
    }
    for (const hold of usage) total += this.unaccounted(provider, hold, unit);
    return total;
  }

  /** What a reservation takes from its provider: live, or ended and still used. */
  heldBy(provider: string, id: string, unit: Unit): number {
    const usage = this.newest.get(provider)?.advertisement.usage ?? [];
    const entry = this.entries.get(id);
    const used = usedFor(usage, id, unit);
    return entry !== undefined && isLivePhase(entry.phase) ? Math.max(entry.granted[unit], used) : used;
  }

  /** A hold that is not a live reservation of this provider: the ended one's pods, or all of an unknown one. */
  unaccounted(provider: string, { reservationId, granted, used }: ReservationUsage, unit: Unit): number {
    const entry = this.entries.get(reservationId);
    if (entry?.provider !== provider) return Math.max(granted[unit], used[unit]);
    return isLivePhase(entry.phase) ? 0 : used[unit];
  }

  /** When the clock has to act next: the earliest end of a live reservation. No notice ends before `spare`. */
  earliestDeadline(spare: number): number {
    let earliest = Number.POSITIVE_INFINITY;
    for (const { phase, expiresAt = earliest, activateBy = earliest, preemption } of this.entries.values()) {
      if (isLivePhase(phase))
        earliest = Math.min(earliest, expiresAt, preemption ? Math.max(preemption.at, spare) : earliest);
      if (phase === "Reserved") earliest = Math.min(earliest, Math.max(activateBy, spare));
    }
    return earliest;
  }

  /** An older agent counts its virtual nodes as its own, and for some minutes after their reservations ended. */
  #borrowed(requester: string, unit: Unit, advertised: ReceivedAdvertisement | undefined): number {
    if (advertised === undefined || advertised.advertisement.protocol >= 2) return 0;
    const isCounted = ({ phase, endedAt = 0 }: ModelReservation): boolean =>
      isLivePhase(phase) || endedAt > advertised.receivedAt - TAKE_DOWN_MS;
    let total = 0;
    for (const entry of this.entries.values())
      if (entry.requester === requester && isCounted(entry)) total += entry.granted[unit];
    return total;
  }

  #change(id: string, change: Partial<ModelReservation>): void {
    const entry = this.entries.get(id);
    if (entry !== undefined) this.entries.set(id, { ...entry, ...change, generation: entry.generation + 1 });
  }

  #forget(id: string): void {
    const entry = this.entries.get(id) ?? this.queue.waiting.get(id);
    this.entries.delete(id);
    if (entry?.key !== undefined) this.keys.delete(keyOf(entry.requester, entry.key));
  }
}

export function keyOf(requester: string, key: string): string {
  return `${requester}\n${key}`;
}

export function isLivePhase(phase: Phase): boolean {
  return phase === "Reserved" || phase === "Active";
}

/** Within one instance only a higher sequence counts, and of a replaced one nothing does. */
function isOvertaken({ instance, sequence = 0 }: Advertisement, before: ReceivedAdvertisement): boolean {
  if (instance === undefined) return false;
  if (before.replacedInstances.includes(instance)) return true;
  const { advertisement: last } = before;
  return last.instance === instance && sequence <= (last.sequence ?? -1);
}

function usedFor(usage: readonly ReservationUsage[], id: string, unit: Unit): number {
  let used = 0;
  for (const hold of usage) if (hold.reservationId === id) used = Math.max(used, hold.used[unit]);
  return used;
}

/** Where the live ledger and the model differ; undefined when they agree. */
export function differsFromModel(ledger: LedgerView, model: LedgerModel): string | undefined {
  if (ledger.reservations.size !== model.entries.size)
    return `the ledger has ${ledger.reservations.size} reservations, the model ${model.entries.size}`;
  for (const entry of model.entries.values()) {
    const reservation = ledger.reservations.get(entry.id);
    if (reservation === undefined) return `${entry.id} is missing`;
    if (!isSame(reservation, entry))
      return `${entry.id} differs: ${JSON.stringify(reservation)} and ${JSON.stringify(entry)}`;
  }
  return (
    wrongQueue(ledger, model) ??
    danglingNotice(model) ??
    wrongKeys(ledger, model) ??
    wrongAccounts(ledger, model) ??
    wrongCharges(ledger, model.budgets, model) ??
    wrongMembers(ledger, model)
  );
}

/** A notice stands only as long as its provider is drained, or the request for which it was given is nominated to it. */
function danglingNotice(model: LedgerModel): string | undefined {
  for (const { id, phase, provider, preemption } of model.entries.values()) {
    if (preemption === undefined || !isLivePhase(phase)) continue;
    if (preemption.by === undefined) {
      if (model.cordoned.has(provider)) continue;
      return `${id} is under notice of a drain, and ${provider} is not cordoned`;
    }
    const kept = model.queue.kept.get(provider);
    if (kept?.id !== preemption.by || kept.victims?.includes(id) !== true)
      return `${id} is under notice for ${preemption.by}, which no longer needs it`;
  }
  return undefined;
}

function wrongQueue({ waiting }: LedgerView, model: LedgerModel): string | undefined {
  if (waiting.byId.size !== model.queue.waiting.size)
    return `the ledger has ${waiting.byId.size} waiting requests, the model ${model.queue.waiting.size}`;
  for (const { id, phase, reason, generation, endedAt } of model.queue.waiting.values()) {
    const entry = waiting.byId.get(id);
    if (entry?.phase !== phase || entry.reason !== reason) return `${id} is ${entry?.phase}, not ${phase}`;
    if (entry.generation !== generation || entry.endedAt !== endedAt) return `${id} differs from the model`;
  }
  return waiting.pendingCount === model.queue.pending.length ? undefined : "another number of requests waits";
}

function isSame(a: ModelReservation, b: ModelReservation): boolean {
  return (
    a.phase === b.phase &&
    a.generation === b.generation &&
    a.provider === b.provider &&
    a.expiresAt === b.expiresAt &&
    a.endedAt === b.endedAt &&
    a.reason === b.reason &&
    JSON.stringify(a.preemption) === JSON.stringify(b.preemption) &&
    UNITS.every((unit) => a.granted[unit] === b.granted[unit])
  );
}

function wrongKeys(ledger: LedgerView, model: LedgerModel): string | undefined {
  if (ledger.keys.size !== model.keys.size) return "the ledger remembers other keys than the model";
  for (const [name, id] of model.keys)
    if (ledger.keys.get(name) !== id) return `key ${JSON.stringify(name)} is not ${id}`;
  if (ledger.closedKeys.size !== model.closedKeys.size) return "the ledger has other released keys";
  for (const name of model.closedKeys)
    if (!ledger.closedKeys.has(name)) return `key ${JSON.stringify(name)} is open`;
  return undefined;
}

function wrongMembers({ members }: LedgerView, model: LedgerModel): string | undefined {
  if (members.size !== model.members.size) return "the ledger has other members than the model";
  for (const [clusterId, member] of model.members)
    if (JSON.stringify(members.get(clusterId)) !== JSON.stringify(member))
      return `member ${clusterId} differs`;
  return undefined;
}

function wrongAccounts({ accounts }: LedgerView, model: LedgerModel): string | undefined {
  for (const [provider, { receivedAt }] of model.newest) {
    const account = accounts.get(provider);
    if (account?.receivedAt !== receivedAt) return `${provider}: another advertisement is in force`;
    if ((account.cordon !== undefined) !== model.cordoned.has(provider)) return `${provider}: wrong cordon`;
    for (const unit of UNITS) {
      const [available, reserved] = [model.available(provider, unit), model.reserved(provider, unit)];
      if (account.available[unit] !== available || account.reserved[unit] !== reserved)
        return `${provider}: the ledger counts ${account.reserved[unit]} ${unit} reserved and ${account.available[unit]} available, a recount ${reserved} and ${available}`;
    }
  }
  return undefined;
}
