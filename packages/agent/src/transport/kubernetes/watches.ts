import {
  type ClusterAdvertisement,
  clusterAdvertisementName,
  Fault,
  type Reservation,
  type ReservationDTO,
} from "@resource-broker/contract";
import type { ReflectorDeps, ReflectorHealth } from "@resource-broker/kube";
import type { Role } from "../broker-communicator.ts";
import { type ApiCalls, apiServerAway } from "./api-calls.ts";
import { type Board, createBoard, labelSelectorOf } from "./board.ts";
import type { Place } from "./forge.ts";
import { createInstructionStream, type InstructionStream } from "./instruction-stream.ts";
import { createLenders } from "./lenders.ts";
import { type Observed, observed } from "./observed.ts";
import { createPulse, type Pulse } from "./pulse.ts";
import type { Told } from "./read-reservation.ts";
import { CLUSTER_ADVERTISEMENTS, RESERVATIONS } from "./resources.ts";
import { riskWatch } from "./risk-watch.ts";

/** Ends of a watch that lose no events for the reader. */
const HARMLESS: ReadonlySet<string> = new Set(["silent", "gone"]);

/** The longest wait for an answer of the broker. */
const READY_MS = 10_000;

export interface WatchesDeps extends ReflectorDeps {
  readonly calls: ApiCalls;
  readonly onStreamOpen: () => void;
}

/**
 * All watches on the broker's cluster: four, independent of the number of calls and readers, and one for each
 * provider of a reservation.
 */
export interface Watches {
  readonly pulse: Pulse;
  readonly stream: InstructionStream;
  readonly observedBy: (role: Role) => Observed<Reservation>;
  readonly own: Observed<ClusterAdvertisement>;
  readonly nameOf: (id: string) => string | undefined;
  /** The live reservations that this cluster provides, as far as known. */
  readonly instructions: () => ReservationDTO[];
  readonly start: () => void;
  readonly stop: () => Promise<void>;
}

interface Side {
  readonly board: Board;
  readonly watch: Observed<Reservation>;
}

export function createWatches(place: Place, deps: WatchesDeps): Watches {
  const { client, clock, log, calls } = deps;
  const { namespace, clusterId } = place;
  const pulse = createPulse(place, { ...deps, onFreed: () => stream.capacity({ change: "freed" }) });

  const side = (role: Role): Side => {
    const board = createBoard(role, {
      log,
      onNews: (told) => {
        stream.news(role, told);
        if (role === "requester")
          lenders.set(new Set(borrowings().map(({ targetClusterID }) => targetClusterID)));
      },
      onListedAnew: () => stream.reset("the watch history of the API server is gone"),
    });
    const onRestart = (resource: string, reason: string): void => {
      deps.observer?.onRestart?.(resource, reason);
      if (!HARMLESS.has(reason)) stream.broke(reason);
    };
    const watch = observed(
      { resource: RESERVATIONS, namespace, labelSelector: labelSelectorOf(role, clusterId) },
      { ...deps, pulse, sink: board.sink, observer: { ...deps.observer, onRestart } },
    );
    return { board, watch };
  };
  const sides: Readonly<Record<Role, Side>> = { requester: side("requester"), provider: side("provider") };
  const live = (role: Role): Iterable<Told> => sides[role].board.live();

  const own = observed(
    {
      resource: CLUSTER_ADVERTISEMENTS,
      namespace,
      fieldSelector: `metadata.name=${clusterAdvertisementName(clusterId)}`,
    },
    {
      ...deps,
      pulse,
      sink: riskWatch({
        touched: () => instructions().map(({ id }) => id),
        onRisk: (risk) => stream.capacity(risk),
      }),
    },
  );
  const lenders = createLenders(place, {
    ...deps,
    borrowedFrom: (lender) =>
      borrowings()
        .filter(({ targetClusterID }) => targetClusterID === lender)
        .map(({ id }) => id),
    onRisk: (risk) => stream.capacity(risk),
  });

  const known = (role: Role): ReservationDTO[] =>
    Array.from(live(role))
      .filter(({ ledgerId }) => ledgerId === undefined || ledgerId === pulse.ledgerId())
      .map(({ reservation }) => reservation);
  const instructions = (): ReservationDTO[] => known("provider");
  const borrowings = (): ReservationDTO[] => known("requester");

  const health = (): ReflectorHealth => {
    const all = Object.values(sides).map(({ watch }) => watch.health());
    return all.find(({ state }) => state === "troubled") ?? all[0] ?? { state: "starting" };
  };

  const ready = async (signal: AbortSignal): Promise<void> => {
    const lists = Promise.all(Object.values(sides).map(({ watch }) => watch.start()));
    await unlessAborted(lists, signal, () => {
      const now = health();
      return now.state === "troubled"
        ? apiServerAway(client.server, now.fault)
        : new Fault(
            "unreachable",
            `the Reservations in ${namespace} of ${client.server} were not listed in time`,
          );
    });
    await pulse.whenAlive(signal);
  };

  const stream = createInstructionStream({
    server: client.server,
    pulse,
    clock,
    ready: (signal) => calls.within(READY_MS, (limit) => ready(AbortSignal.any([signal, limit]))),
    live,
    health,
    onOpen: deps.onStreamOpen,
  });

  return {
    pulse,
    stream,
    observedBy: (role) => sides[role].watch,
    own,
    nameOf: (id) => sides.requester.board.nameOf(id) ?? sides.provider.board.nameOf(id),
    instructions,
    start: () => {
      pulse.start();
      // A watch that fails to list logs it, and callers that wait get the error.
      for (const { start } of [own, sides.requester.watch, sides.provider.watch]) void start().catch(nothing);
    },
    stop: async () => {
      stream.close();
      const all = [pulse, own, lenders, sides.requester.watch, sides.provider.watch];
      await Promise.all(all.map(({ stop }) => stop()));
    },
  };
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal, why: () => Fault): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(why());
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort);
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

function nothing(): void {
  return undefined;
}
