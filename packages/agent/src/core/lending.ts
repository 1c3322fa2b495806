import { advertisementKind, apiVersionOf, type ReservationDTO } from "@resource-broker/contract";
import type { CountedResources, ToleratedTaint } from "@resource-broker/domain";
import { reconcileLoop, type ReflectorHealth } from "@resource-broker/kube";
import type { BrokerLink } from "../broker/broker-link.ts";
import { reservationIn } from "../forge/instructions.ts";
import { holdController } from "../holds/hold-controller.ts";
import { roomFor } from "../holds/room.ts";
import { liqoLending, type LiqoLendingOptions } from "../liqo/provider/liqo-lending.ts";
import { clusterObserver } from "../observe/cluster-observer.ts";
import { availableOf, heldIn, type Offer } from "../publish/advertisement.ts";
import type { MirrorPlace } from "../publish/advertisement-mirror.ts";
import { mirrorWriter } from "../publish/mirror-writer.ts";
import { createPublisher, type Publication } from "../publish/publisher.ts";
import { usageMeter } from "../usage/usage-meter.ts";
import type { ReservationBook } from "../reservations/reservation-book.ts";
import { type AgentDeps, followDeps } from "./agent-deps.ts";
import type { AgentObjects } from "./agent-objects.ts";

export interface LendingOptions {
  readonly clusterId: string;
  readonly clusterName: string | undefined;
  readonly endpointUrl: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly toleratedTaints: readonly ToleratedTaint[];
  readonly resources: CountedResources;
  readonly intervalMs: number;
  /** No broker is configured: only the local Advertisement is written. */
  readonly withoutBroker?: boolean;
  readonly advertisement: MirrorPlace;
  readonly instructionNamespace: string;
  /** Absent: Liqo is not used. */
  readonly liqo?: LiqoLendingOptions;
}

export interface LendingDeps extends AgentDeps {
  readonly book: ReservationBook;
  readonly link: BrokerLink;
  readonly objects: AgentObjects;
  readonly onPublished: (isAccepted: boolean) => void;
}

/** The provider's half of the agent: advertisements, ProviderInstructions, and Liqo's slices. */
export interface Lending {
  /** Resolves when the cluster was observed once. */
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  /** Part of the advertisement may have changed. */
  readonly poke: () => void;
  /** The broker was away and may have lost the newest advertisement. */
  readonly repeatSoon: () => void;
  /** The broker has another ledger: send everything again. */
  readonly tellAgain: () => void;
  readonly health: () => Readonly<Record<string, ReflectorHealth>>;
  readonly lastPublication: () => Publication | undefined;
}

export function lending(options: LendingOptions, deps: LendingDeps): Lending {
  const { book, objects, prices, observer, log } = deps;
  const cluster = clusterObserver(options, followDeps(deps));
  const meter = usageMeter(options, { ...deps, isCounted: cluster.isCounted });
  const mirror = mirrorWriter(options.advertisement, {
    ...deps,
    withoutBroker: options.withoutBroker === true,
  });
  let last: Publication | undefined;

  const holds = (): ReservationDTO[] =>
    book
      .live("provider")
      .map(({ reservation }) => reservation)
      .filter(({ id }) => controller.isHeld(id));
  const offer = (): Omit<Offer, "instance" | "sequence" | "reserved"> | undefined => {
    if (!cluster.isSynced() || !objects.synced()) return undefined;
    return {
      clusterId: options.clusterId,
      clusterName: options.clusterName,
      endpointUrl: options.endpointUrl,
      extraLabels: options.labels,
      liqo: liqo.identity(),
      cost: prices.current(),
      observation: cluster.observe(),
      used: meter.current(),
      holds: holds(),
      now: deps.clock.wallMs(),
    };
  };
  const controller = holdController({
    ...deps,
    instruction: objects.hold,
    namespace: options.instructionNamespace,
    advertisement: {
      apiVersion: apiVersionOf(advertisementKind),
      kind: advertisementKind.kind,
      metadata: options.advertisement,
    },
    broker: deps.link.view,
    room: (reservation) =>
      cluster.isSynced() ? roomFor(reservation, cluster.observe(), holds()) : { kind: "unknown" },
    onHeld: observer.held,
  });
  const liqo = liqoLending(options, {
    ...deps,
    observer: { onRestart: observer.watchRestarted },
    isHeld: controller.isHeld,
    isReady: objects.synced,
    onIdentity: () => publisher.poke(),
    onRetry: () => observer.reconcileFailed("slices"),
  });
  const loop = reconcileLoop(
    { name: "holds", concurrency: 8, reconcile: controller.reconcile },
    { ...deps, observer: { onRetry: () => observer.reconcileFailed("holds") } },
  );
  const publisher = createPublisher(options, {
    ...deps,
    offer,
    onPublished: (publication, tookMs) => {
      last = publication;
      if (options.withoutBroker !== true)
        observer.published(publication.ok ? "accepted" : publication.fault.code, tookMs);
      if (!publication.ok)
        log.warn({ code: publication.fault.code }, `not advertised: ${publication.fault.message}`);
      const observation = cluster.observe();
      observer.advertised({
        reserved: heldIn(observation, holds()),
        available: availableOf(observation, holds()),
      });
      mirror.write(publication);
      deps.onPublished(publication.ok);
    },
    onInstructions: (instructions) => {
      for (const reservation of instructions) book.learn("provider", reservation);
    },
  });

  const holdsChanged = (): void => {
    cluster.setHolds(holds().map(({ id, requesterLiqoID }) => ({ id, origin: requesterLiqoID })));
    publisher.poke();
  };
  objects.holds.listen((_, now, before) => {
    const instruction = now ?? before;
    if (instruction === undefined) return;
    const id = instruction.spec.reservationName;
    if (now !== undefined) book.remember("provider", reservationIn(now, options.clusterId));
    // The broker does not know it either, so a person may delete the instruction.
    else if (book.get("provider", id)?.standing === "unknown") book.endHere(id, "ReleasedByAdmin");
    loop.enqueue(id);
    holdsChanged();
  });
  book.onChange((role, id) => {
    if (role !== "provider") return;
    loop.enqueue(id);
    holdsChanged();
  });
  cluster.onChange(publisher.poke);
  prices.onChange(publisher.poke);

  return {
    start: async () => {
      publisher.start();
      await Promise.all([cluster.start(), prices.start(), liqo.start()]);
      publisher.poke();
      meter.start();
    },
    stop: async () => {
      await Promise.all([publisher.stop(), meter.stop(), liqo.stop()]);
      await loop.stop();
      await mirror.settled();
      await Promise.all([cluster.stop(), prices.stop()]);
    },
    poke: publisher.poke,
    repeatSoon: publisher.repeatSoon,
    tellAgain: () => {
      controller.forgetAcknowledgements();
      publisher.repeat();
      for (const { reservation } of book.live("provider")) loop.enqueue(reservation.id);
    },
    health: cluster.health,
    lastPublication: () => last,
  };
}
