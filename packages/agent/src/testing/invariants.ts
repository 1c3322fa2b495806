import { parseTime } from "@resource-broker/base";
import type {
  Condition,
  ProviderInstruction,
  ReservationInstruction,
  ResourceRequest,
} from "@resource-broker/contract/crd";
import { isFinal, type Reservation, type Waiting } from "@resource-broker/domain";
import { PROVIDER_INSTRUCTIONS, RESERVATION_INSTRUCTIONS } from "../manifests/labels.ts";
import { attemptOf } from "../reservations/reservation.ts";
import type { FakeDataPlane } from "./fake-data-plane.ts";
import { REQUESTS, type TestCluster, type TestFleet } from "./test-fleet.ts";

type Instruction = ProviderInstruction | ReservationInstruction;

/** Watches, while things happen, for what must never happen. What did is in the list. */
export function checkInvariants(world: TestFleet): string[] {
  const violations: string[] = [];
  checkGrants(world, violations);
  checkTeardowns(world, violations);
  checkPlaces(world, violations);
  return violations;
}

/** No request is booked twice, at any moment. */
function checkGrants({ broker }: TestFleet, wrongs: string[]): void {
  broker.onEvent((event) => {
    if (event.kind !== "granted") return;
    const { id } = event.reservation;
    const uid = uidOf(event.reservation);
    const others = broker.live().filter((other) => other.id !== id && uidOf(other) === uid);
    for (const other of others) wrongs.push(`${uid} is booked twice: ${id}, ${other.id}`);
  });
  broker.onEvent((event) => {
    if (event.kind !== "queued") return;
    const { id } = event.waiting;
    const uid = uidOf(event.waiting);
    const others = [...broker.live(), ...broker.pending()].filter(
      (other) => other.id !== id && uidOf(other) === uid,
    );
    for (const other of others) wrongs.push(`${uid} waits beside ${other.id}: ${id}`);
  });
}

/**
 * Nothing is torn down but after a final phase, by the time it was last told, because its request is gone, or because a
 * broker without memory has granted it anew elsewhere.
 */
function checkTeardowns({ broker, rome, paris, berlin }: TestFleet, wrongs: string[]): void {
  const requests = new Map<string, string | undefined>();
  const ended = new Set<string>();
  broker.onEvent((event) => {
    const id = "reservation" in event ? event.reservation.id : "id" in event ? event.id : "";
    const reservation = broker.ledger().reservations.get(id);
    if (reservation === undefined) return;
    requests.set(id, uidOf(reservation));
    if (isFinal(reservation.phase)) ended.add(id);
    else ended.delete(id);
  });
  const isWanted = (id: string): boolean =>
    rome.all(REQUESTS).some(({ metadata }) => metadata.uid === requests.get(id));
  const isExpired = (expiresAt: string | undefined): boolean =>
    (parseTime(expiresAt ?? "") ?? Number.POSITIVE_INFINITY) + 60_000 <= broker.now();
  const isElsewhere = ({ reservationName: id, targetClusterID }: ReservationInstruction["spec"]): boolean => {
    const reservation = broker.ledger().reservations.get(id);
    return reservation !== undefined && reservation.provider !== targetClusterID;
  };
  const isJustified = ({ kind, spec }: Instruction): boolean => {
    const id = spec.reservationName;
    if (ended.has(id) || isExpired(spec.expiresAt)) return true;
    return (
      kind === "ReservationInstruction" && (!isWanted(id) || ("targetClusterID" in spec && isElsewhere(spec)))
    );
  };
  for (const cluster of [rome, paris, berlin]) {
    cluster.onCall(({ verb, plural, name }) => {
      if (verb !== "delete" || !plural.endsWith("instructions")) return;
      const found = cluster.objects.find(plural, { name, namespace: "default" }) as Instruction | undefined;
      if (found === undefined || isJustified(found)) return;
      wrongs.push(`${cluster.id} tears ${name} down without a reason`);
    });
  }
}

/** A request that was preempted asks for the place of its reservation when it waits again. */
function checkPlaces({ broker }: TestFleet, wrongs: string[]): void {
  broker.onEvent((event) => {
    if (event.kind !== "queued") return;
    const { id, key } = event.waiting;
    const made = attemptOf(key);
    const before = [...broker.ledger().reservations.values()].find(({ key: earlier }) => {
      const other = attemptOf(earlier);
      return other?.uid === made?.uid && other?.attempt === (made?.attempt ?? 0) - 1;
    });
    if (before?.reason === "Preempted" && before.resumedBy === undefined)
      wrongs.push(`${id} waits at the end, though ${before.id} was preempted`);
  });
}

/** Who is under notice says so and gets no new pods, and nobody else that a ledger knows; what was preempted and may wait has not failed. */
export function wrongNotices(
  { broker, rome }: TestFleet,
  { cordoned }: Pick<FakeDataPlane, "cordoned">,
): string[] {
  const noticed = broker.live().filter(({ preemption }) => preemption !== undefined);
  const ids = noticed.map(({ id }) => id);
  const isNotice = ({ status }: Instruction | ResourceRequest): boolean =>
    conditionIn(status?.conditions, "Preempting")?.status === "True";
  const instructions = rome.all(RESERVATION_INSTRUCTIONS);
  const kept = new Set(namesOf(instructions.filter(isUnknown)));
  const compare = (what: string, found: readonly string[]): string[] =>
    differences(
      what,
      found.filter((id) => !kept.has(id)),
      ids,
    );
  const requests = rome.all(REQUESTS).filter(isNotice);
  return [
    ...compare("rome cordons", [...cordoned]),
    ...compare("rome's instructions show the notice of", namesOf(instructions.filter(isNotice))),
    ...compare(
      "rome's requests show the notice of",
      requests.map(({ status }) => status?.reservationName ?? ""),
    ),
    ...rome
      .all(REQUESTS)
      .filter(({ spec, status }) => spec.queue === true && status?.reason === "Preempted")
      .map(({ metadata }) => `${metadata.name} was preempted and does not wait`),
  ];
}

/** What is not as it should be when all is calm: nobody may say anything that the ledger does not. */
export function inconsistencies({ broker, rome, paris, berlin }: TestFleet): string[] {
  const live = broker.live();
  const wanted = new Set(rome.all(REQUESTS).map(({ metadata }) => metadata.uid));
  return [
    ...[rome, paris, berlin].flatMap((cluster) => wrongInstructions(cluster, live)),
    ...rome.all(REQUESTS).flatMap((request) => wrongStatus(request, live)),
    ...live.filter((each) => !wanted.has(uidOf(each))).map(({ id }) => `${id} is booked for nobody`),
    ...broker
      .pending()
      .filter((each) => !wanted.has(uidOf(each)))
      .map(({ id }) => `${id} waits for nobody`),
    ...rome.all(REQUESTS).flatMap((request) => wrongQueue(request, broker.pending())),
  ];
}

function wrongInstructions(cluster: TestCluster, live: readonly Reservation[]): string[] {
  const provided = live.filter(({ provider }) => provider === cluster.id).map(({ id }) => id);
  const requested = live.filter(({ requester }) => requester === cluster.id).map(({ id }) => id);
  return [
    ...differences(`${cluster.id} holds`, known(cluster.all(PROVIDER_INSTRUCTIONS)), provided),
    ...differences(`${cluster.id} borrows`, known(cluster.all(RESERVATION_INSTRUCTIONS)), requested),
  ];
}

function differences(what: string, found: readonly string[], wanted: readonly string[]): string[] {
  return [
    ...found.filter((id) => !wanted.includes(id)).map((id) => `${what} ${id}, which is not live`),
    ...wanted.filter((id) => !found.includes(id)).map((id) => `${what} no ${id}, which is live`),
  ];
}

/** What no ledger knows is kept for a person to judge, and says so. */
function known(instructions: readonly Instruction[]): string[] {
  return namesOf(instructions.filter((each) => !isUnknown(each)));
}

function isUnknown({ status }: Instruction): boolean {
  return conditionIn(status?.conditions, "UnknownToBroker")?.status === "True";
}

function namesOf(instructions: readonly Instruction[]): string[] {
  return instructions.map(({ spec }) => spec.reservationName);
}

function wrongStatus(
  { metadata, spec, status = {} }: ResourceRequest,
  live: readonly Reservation[],
): string[] {
  const [held, ...more] = live.filter((reservation) => uidOf(reservation) === metadata.uid);
  const shown = `${metadata.name} says ${JSON.stringify(status)}`;
  if (more.length > 0) return [`${metadata.name} is booked twice`];
  if (held === undefined) {
    const wrong = isReservedPhase(status) ? "but nothing is reserved" : "though it does not queue";
    return isReservedPhase(status) || (isWaiting(status) && spec.queue !== true)
      ? [`${shown}, ${wrong}`]
      : [];
  }
  const isTrue = status.phase === held.phase && status.reservationName === held.id;
  return isTrue ? [] : [`${shown}, but ${held.id} is ${held.phase}`];
}

/** Who waits at the broker says so, once; who says so waits there. */
function wrongQueue({ metadata, spec, status = {} }: ResourceRequest, pending: readonly Waiting[]): string[] {
  const ids = pending.filter((entry) => uidOf(entry) === metadata.uid).map(({ id }) => id);
  const shown = `${metadata.name} says ${JSON.stringify(status)}`;
  const said = waitsBy(status);
  if (ids.join() !== said.join()) return [`${shown}, but ${ids.join() || "nothing of it"} waits`];
  return ids.length > 0 && spec.queue !== true ? [`${shown}, though it shall not wait`] : [];
}

/** The ID under which it says that it waits. */
function waitsBy({ phase, reservationName, conditions }: Status): string[] {
  const isQueued = conditionIn(conditions, "Queued")?.status === "True";
  if (isQueued !== (phase === "Pending" && reservationName !== undefined)) return ["it contradicts itself"];
  return isQueued && reservationName !== undefined ? [reservationName] : [];
}

type Status = NonNullable<ResourceRequest["status"]>;

function isReservedPhase({ phase, conditions }: Status): boolean {
  const isUnknown = conditionIn(conditions, "Reserved")?.reason === "UnknownToBroker";
  return !isUnknown && (phase === "Reserved" || phase === "Active");
}

function isWaiting({ phase }: Status): boolean {
  return phase === undefined || phase === "Pending";
}

function uidOf({ key }: Pick<Reservation, "key">): string | undefined {
  return attemptOf(key)?.uid;
}

function conditionIn(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}
