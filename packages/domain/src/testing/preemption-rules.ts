import type { LedgerEvent } from "../ledger/event.ts";
import type { Waiting } from "../queue/waiting.ts";
import type { Policy } from "../scheduling/policy.ts";
import { isPayable } from "./budget-rules.ts";
import { isTooSoon, type RuleContext, unfit } from "./fitting-rules.ts";
import { isLivePhase, type LedgerModel, type ModelReservation, type Unit, UNITS } from "./ledger-model.ts";

type Of<K extends LedgerEvent["kind"]> = Extract<LedgerEvent, { readonly kind: K }>;

const HALF_AN_HOUR_MS = 1_800_000;
const HOUR_MS = 3_600_000;

/** The rules of preemption, written a second time: slowly, and from the events alone. */
export function wrongPreemption(
  model: LedgerModel,
  event: Of<"nominated">,
  context: RuleContext,
): string | undefined {
  const { at, id, provider, victims = [] } = event;
  const entry = model.queue.waiting.get(id);
  if (entry?.phase !== "Pending") return `${id} gives notice and does not wait`;
  const { requester, request } = entry;
  if (at - context.listeningSince < context.policy.stalenessMs) return `${id} gives notice after a start`;
  return (
    wrongTime(entry, at) ??
    unfit(model, { provider, requester, request, at }, context) ??
    wrongProvider(model, provider) ??
    wrongVictims(model, { entry, provider, victims, at }, context.policy) ??
    tooMany(model, victims, context.policy)
  );
}

function wrongTime({ id, noticesAt = [] }: Waiting, at: number): string | undefined {
  if (noticesAt.length > 1) return `${id} gives notice a third time`;
  return noticesAt.some((before) => at - before < HALF_AN_HOUR_MS)
    ? `${id} gives notice again too soon`
    : undefined;
}

function wrongProvider(model: LedgerModel, provider: string): string | undefined {
  const { protocol = 0, usage = [] } = model.newest.get(provider)?.advertisement ?? {};
  if (protocol < 2) return `${provider} gives notice and cannot`;
  if (UNITS.some((unit) => freeAt(model, provider, unit) < 0 && model.reserved(provider, unit) > 0))
    return `${provider} gives notice and has promised too much`;
  const isGuest = (id: string): boolean => {
    const entry = model.entries.get(id);
    return entry?.provider === provider && !isLivePhase(entry.phase);
  };
  const guest = usage.find(
    ({ reservationId, used }) => isGuest(reservationId) && UNITS.some((unit) => used[unit] > 0),
  );
  return guest === undefined ? undefined : `${provider} gives notice and waits for ${guest.reservationId}`;
}

interface Asked {
  readonly entry: Waiting;
  readonly provider: string;
  readonly victims: readonly string[];
  readonly at: number;
}

function wrongVictims(model: LedgerModel, asked: Asked, policy: Policy): string | undefined {
  const { entry, provider, victims, at } = asked;
  if (victims.length === 0) return `${entry.id} gives notice to nobody`;
  for (const id of victims) {
    const victim = model.entries.get(id);
    if (victim?.provider !== provider) return `${id} gets notice and is not at ${provider}`;
    const wrong = wrongVictim(model, victim, { entry, at, policy });
    if (wrong !== undefined) return `${id} gets notice for ${entry.id}: ${wrong}`;
  }
  if (!suffices(model, asked)) return `${entry.id} gives notice in vain`;
  const needless = victims.find((id) =>
    suffices(model, { ...asked, victims: victims.filter((v) => v !== id) }),
  );
  return needless === undefined ? undefined : `${needless} gets notice needlessly`;
}

function wrongVictim(
  model: LedgerModel,
  victim: ModelReservation,
  { entry, at, policy }: { readonly entry: Waiting; readonly at: number; readonly policy: Policy },
): string | undefined {
  const protocol = model.newest.get(victim.requester)?.advertisement.protocol ?? 0;
  const wrongs: readonly (readonly [string, boolean])[] = [
    ["it has ended", !isLivePhase(victim.phase)],
    ["it has notice already", victim.preemption !== undefined],
    ["it was adopted", victim.decisionId === undefined],
    ["it has just begun", at - victim.reservedAt < policy.preemption.minRunMs],
    ["its agent is too old", protocol < 3],
    ["its rank", !isOutranked(victim.request, entry.request, policy)],
  ];
  return wrongs.find(([, isWrong]) => isWrong)?.[0];
}

function isOutranked(
  victim: Waiting["request"],
  by: Waiting["request"],
  { preemption: { victims, minPriorityGap } }: Policy,
): boolean {
  if (victims === "none") return false;
  const bySpot = victim.tier === "spot" && by.tier !== "spot";
  return bySpot || (victims === "lower-priority" && by.priority - victim.priority >= minPriorityGap);
}

/** Whether the request fits once these have ended. */
function suffices(model: LedgerModel, { entry, provider, victims }: Omit<Asked, "at">): boolean {
  return UNITS.every((unit) => {
    const asked = entry.request.resources[unit];
    const back = victims.reduce((sum, id) => sum + model.heldBy(provider, id, unit), 0);
    return asked <= 0 || asked <= freeAt(model, provider, unit) + back;
  });
}

/** What the provider has besides, below zero too. */
function freeAt(model: LedgerModel, provider: string, unit: Unit): number {
  const { allocatable, allocated } = model.newest.get(provider)?.advertisement ?? {};
  return (allocatable?.[unit] ?? 0) - (allocated?.[unit] ?? 0) - model.reserved(provider, unit);
}

function tooMany(model: LedgerModel, victims: readonly string[], { preemption }: Policy): string | undefined {
  const live = [...model.entries.values()].filter(({ phase }) => isLivePhase(phase));
  const before = live.filter((entry) => entry.preemption?.by !== undefined).length;
  const most = Math.max(1, Math.floor(live.length * preemption.maxUnderNotice));
  return before + victims.length > most
    ? `${before + victims.length} reservations under notice are too many`
    : undefined;
}

export function wrongNotice(
  model: LedgerModel,
  event: Of<"preempting">,
  context: RuleContext,
): string | undefined {
  const entry = model.entries.get(event.id);
  if (entry === undefined || !isLivePhase(entry.phase)) return `${event.id} has ended and gets notice`;
  if (event.by === undefined) return wrongDrain(model, { entry, event }, context);
  return wrongVictimNotice(model, { entry, event }, context);
}

interface Noticed {
  readonly entry: ModelReservation;
  readonly event: Of<"preempting">;
}

function wrongVictimNotice(model: LedgerModel, { entry, event }: Noticed, { policy }: RuleContext) {
  const { id, at, by, priority, until } = event;
  if (entry.preemption !== undefined) return `${id} gets notice twice`;
  const kept = model.queue.kept.get(entry.provider);
  if (kept?.id !== by || kept?.victims?.includes(id) !== true) return `${id} gets notice for nobody`;
  const isRight = until === at + policy.preemption.graceMs && priority === kept.priority;
  return isRight ? undefined : `${id} gets a wrong notice`;
}

/** An admin asked for it; it may take the place of a notice for a waiting request, never of another drain's. */
function wrongDrain(
  model: LedgerModel,
  { entry, event }: Noticed,
  { policy, asked }: RuleContext,
): string | undefined {
  const { id, provider, requester, preemption } = entry;
  const { at, until } = event;
  if (preemption !== undefined && preemption.by === undefined) return `${id} is drained twice`;
  if (!model.cordoned.has(provider)) return `${id} is drained from ${provider}, which is not cordoned`;
  const protocol = model.newest.get(requester)?.advertisement.protocol ?? 0;
  if (protocol < 3) return `${id} is drained and cannot be told`;
  const isUsual = until - at === policy.preemption.graceMs && asked.has(`drain ${provider} undefined`);
  return isUsual || asked.has(`drain ${provider} ${until - at}`) ? undefined : `${id} is drained unasked`;
}

export function wrongReprieve(model: LedgerModel, { id }: Of<"reprieved">): string | undefined {
  const entry = model.entries.get(id);
  if (entry === undefined || !isLivePhase(entry.phase)) return `${id} is reprieved after its end`;
  if (entry.preemption === undefined) return `${id} is reprieved without a notice`;
  const isDrained = entry.preemption.by === undefined && model.cordoned.has(entry.provider);
  return isDrained ? `${id} is reprieved, and ${entry.provider} is still drained` : undefined;
}

/** It had its time, the request still waits for it, and would not fit without it. */
export function wrongPreempted(
  model: LedgerModel,
  { victim, at }: { readonly victim: ModelReservation; readonly at: number },
  context: Pick<RuleContext, "policy" | "listeningSince">,
): string | undefined {
  const { policy } = context;
  const { id, provider, preemption } = victim;
  if (preemption === undefined || at < preemption.at) return `${id} is preempted too early`;
  if (isTooSoon(context, { promisedAt: preemption.at, at })) return `${id} is preempted right after a start`;
  if (preemption.by === undefined) return undefined;
  const entry = model.queue.waiting.get(preemption.by);
  if (entry?.phase !== "Pending") return `${id} is preempted for ${preemption.by}, which does not wait`;
  if (!isPayable(model, { id: preemption.by, provider, at }, policy))
    return `${id} is preempted for ${preemption.by}, which exceeds its budget`;
  return wrongSparing(model, { victim, entry });
}

function wrongSparing(
  model: LedgerModel,
  {
    victim: { id, provider },
    entry,
  }: { readonly victim: Pick<ModelReservation, "id" | "provider">; readonly entry: Waiting },
): string | undefined {
  const victims = (model.queue.kept.get(provider)?.victims ?? []).filter(
    (other) => model.entries.get(other)?.preemption?.by === entry.id,
  );
  if (!victims.includes(id) || !suffices(model, { entry, provider, victims }))
    return `${id} is preempted in vain`;
  const others = victims.filter((other) => other !== id);
  return suffices(model, { entry, provider, victims: others }) ? `${id} is preempted needlessly` : undefined;
}

/** Since it asked, or since a preempted one of the same requester did, whose place nobody has taken over. */
export function wrongSince(model: LedgerModel, { id, requester, since }: Waiting, at: number) {
  if (since === at) return undefined;
  const isResumed = [...model.entries.values()].some(
    (entry) =>
      entry.reason === "Preempted" &&
      entry.requester === requester &&
      !model.resumed.has(entry.id) &&
      at - (entry.endedAt ?? 0) <= HOUR_MS &&
      (entry.since ?? entry.createdAt) === since,
  );
  return isResumed ? undefined : `${id} waits since ${since}, and asked at ${at}`;
}

export function wrongResumption(model: LedgerModel, { id, by }: Of<"resumed">): string | undefined {
  if (model.resumed.has(id)) return `${id} is resumed twice`;
  const isOwn = model.entries.get(id)?.requester === model.queue.waiting.get(by)?.requester;
  return isOwn ? undefined : `${id} is resumed by another cluster`;
}
