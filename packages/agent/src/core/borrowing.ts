import type { CapacityEventDTO, ReservationInstruction, ResourceRequest } from "@resource-broker/contract";
import { type Reconciler, reconcileLoop } from "@resource-broker/kube";
import { borrowingController } from "../borrowings/borrowing-controller.ts";
import type { Origin } from "../borrowings/borrowing-deps.ts";
import { leftoverRounds } from "../borrowings/leftover-rounds.ts";
import type { BrokerLink } from "../broker/broker-link.ts";
import { reservationIn } from "../forge/instructions.ts";
import type { Requeue } from "../reconcile.ts";
import { releaseController } from "../requests/release-controller.ts";
import { requestController } from "../requests/request-controller.ts";
import { attemptOf } from "../reservations/attempt-key.ts";
import type { BookEntry, ReservationBook } from "../reservations/reservation-book.ts";
import type { AgentDeps } from "./agent-deps.ts";
import type { AgentObjects } from "./agent-objects.ts";

export interface BorrowingOptions {
  readonly clusterId: string;
  readonly instructionNamespace: string;
  readonly withoutBroker?: boolean;
}

export interface BorrowingDeps extends AgentDeps {
  readonly book: ReservationBook;
  readonly link: BrokerLink;
  readonly objects: AgentObjects;
}

const LOOK_AGAIN_MS = 100;

/** The requester's half of the agent: ResourceRequests, ReservationInstructions and releases. */
export interface Borrowing {
  /** Starts the orphan collection; the controllers start with the informers. */
  readonly start: () => void;
  readonly stop: () => Promise<void>;
  /** Releases what a deleted request with this UID still has reserved. */
  readonly releaseRequest: (uid: string) => void;
  readonly capacityChanged: (capacity: CapacityEventDTO) => void;
}

export function borrowing(options: BorrowingOptions, deps: BorrowingDeps): Borrowing {
  const { book, objects, observer } = deps;
  const requests = requestController({
    ...deps,
    clusterId: options.clusterId,
    withoutBroker: options.withoutBroker === true,
    request: objects.requests.get,
    requestKeys: objects.requests.keys,
    instruction: objects.borrowing,
    released: (id) => borrowings.released(id),
    looksAtKeys: async () => {
      if (deps.link.isCurrent() === true) return true;
      await deps.communicator.ping();
      return deps.link.isCurrent() === true;
    },
    onReserved: observer.reserved,
    onUnwanted: requestDeleted,
  });
  const borrowings = borrowingController({
    ...deps,
    instruction: objects.borrowing,
    originOf,
    broker: deps.link.view,
    onReleased: (id) => {
      const entry = book.get("requester", id);
      if (entry !== undefined) triggerRequestOf(entry);
    },
    namespace: options.instructionNamespace,
  });
  const releases = releaseController(deps);
  /** Existing reservations are known only when all instructions were listed: before that, nothing may be requested again. */
  const loopOf = (name: string, reconcile: (key: string) => Promise<Requeue>): Reconciler =>
    reconcileLoop(
      {
        name,
        concurrency: 8,
        reconcile: async (key) => (objects.synced() ? reconcile(key) : { requeueAfterMs: LOOK_AGAIN_MS }),
      },
      { ...deps, observer: { onRetry: () => observer.reconcileFailed(name) } },
    );
  const loops = {
    requests: loopOf("requests", requests.reconcile),
    borrowings: loopOf("borrowings", borrowings.reconcile),
    releases: loopOf("releases", releases.reconcile),
  };

  function originOf({ reservation }: BookEntry): Origin {
    const made = attemptOf(reservation.key);
    if (made === undefined) return { kind: "foreign" };
    const request = objects.requestByUid(made.uid);
    const isThere = request !== undefined && request.metadata.deletionTimestamp === undefined;
    return isThere ? { kind: "request", request } : { kind: "gone" };
  }

  function requestDeleted(request: ResourceRequest): void {
    const uid = releases.take(request);
    loops.releases.enqueue(uid);
    for (const { reservation } of book.ofRequest(uid).values()) loops.borrowings.enqueue(reservation.id);
  }
  const triggerRequestOf = ({ reservation }: Pick<BookEntry, "reservation">): void => {
    const made = attemptOf(reservation.key);
    const request = made && objects.requestByUid(made.uid);
    if (request !== undefined) loops.requests.enqueue(keyOf(request));
  };

  objects.requests.listen((key, now, before) => {
    const isReplaced = before !== undefined && before.metadata.uid !== now?.metadata.uid;
    if (isReplaced) requestDeleted(before);
    else if (now?.metadata.deletionTimestamp !== undefined) requestDeleted(now);
    loops.requests.enqueue(key);
  });
  objects.borrowings.listen((_, now, before) => {
    const instruction = now ?? before;
    if (instruction === undefined) return;
    instructionSeen(instruction, now === undefined);
  });
  const instructionSeen = (instruction: ReservationInstruction, isGone: boolean): void => {
    const id = instruction.spec.reservationName;
    if (!isGone) book.remember("requester", reservationIn(instruction, options.clusterId));
    const entry = book.get("requester", id);
    if (isGone && entry?.standing === "unknown" && originOf(entry).kind !== "gone") {
      // The broker does not know it either, so a person may delete the instruction.
      book.endHere(id, "ReleasedByAdmin");
    }
    loops.borrowings.enqueue(id);
    if (entry !== undefined) triggerRequestOf(entry);
  };
  book.onChange((role, id) => {
    const entry = role === "requester" ? book.get(role, id) : undefined;
    if (entry === undefined) return;
    loops.borrowings.enqueue(id);
    triggerRequestOf(entry);
  });

  const rounds = leftoverRounds({
    ...deps,
    isReady: objects.synced,
    onLeftover: (id) => {
      borrowings.found(id);
      loops.borrowings.enqueue(id);
    },
    onRound: borrowings.tidy,
  });

  const warnOfRisk = ({ reservationIDs = [], message = "" }: CapacityEventDTO): void => {
    for (const id of reservationIDs) {
      const made = attemptOf(book.get("requester", id)?.reservation.key);
      const about = (made && objects.requestByUid(made.uid)) ?? objects.borrowing(id);
      if (about !== undefined) deps.tell({ about, type: "Warning", reason: "CapacityAtRisk", message });
    }
  };

  return {
    start: rounds.start,
    stop: async () => {
      await rounds.stop();
      await Promise.all(Object.values(loops).map((loop) => loop.stop()));
    },
    releaseRequest: loops.releases.enqueue,
    capacityChanged: (capacity) => {
      if (capacity.change === "at-risk") warnOfRisk(capacity);
      else for (const key of requests.nudge()) loops.requests.enqueue(key);
    },
  };
}

function keyOf({ metadata }: ResourceRequest): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}
