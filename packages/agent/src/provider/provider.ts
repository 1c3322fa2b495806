import type { CountedResources, ToleratedTaint } from "@resource-broker/accounting";
import { advertisementKind, apiVersionOf, type ProviderInstruction } from "@resource-broker/contract/crd";
import { reconcileLoop } from "@resource-broker/kube";
import { type AgentParts, followDeps } from "../core/agent-deps.ts";
import { reservationFromInstruction } from "../manifests/instructions.ts";
import { clusterObserver } from "../observe/cluster-observer.ts";
import { type AdvertisementInput, availableOf, reservedIn } from "../publish/advertisement.ts";
import { type MirrorKey, mirrorWriter } from "../publish/advertisement-mirror.ts";
import { createPublisher, type Publication } from "../publish/publisher.ts";
import type { Reservation } from "../reservations/reservation.ts";
import { usageMeter } from "../usage/usage-meter.ts";
import { checkCapacity } from "./plan-provider-instruction.ts";
import { providerInstructionController } from "./provider-instruction-controller.ts";

export interface ProviderOptions {
  readonly clusterId: string;
  readonly clusterName: string | undefined;
  readonly endpointUrl: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly toleratedTaints: readonly ToleratedTaint[];
  readonly resources: CountedResources;
  readonly intervalMs: number;
  /** No broker is configured: only the local Advertisement is written. */
  readonly withoutBroker?: boolean;
  readonly advertisement: MirrorKey;
  readonly instructionNamespace: string;
}

interface ProviderDeps extends AgentParts {
  readonly onPublished: (isAccepted: boolean) => void;
}

/** The provider's half of the agent: advertisements, ProviderInstructions, and its half of the data plane. */
export function createProvider(options: ProviderOptions, deps: ProviderDeps) {
  const { cache, objects, prices, observer, log } = deps;
  const cluster = clusterObserver({ ...options, accounting: deps.dataPlane.accounting }, followDeps(deps));
  const meter = usageMeter(options, { ...deps, isCounted: cluster.isCounted });
  const mirror = mirrorWriter(options.advertisement, {
    ...deps,
    withoutBroker: options.withoutBroker === true,
  });
  let last: Publication | undefined;
  /** Until then an advertisement would give up the cluster's ID in the data plane, which another cluster could then claim. */
  let isIdentityKnown = false;

  const reservations = (): Reservation[] =>
    cache
      .live("provider")
      .map(({ reservation }) => reservation)
      .filter(({ id }) => controller.isHeld(id));
  const input = (): Omit<AdvertisementInput, "instance" | "sequence" | "reserved"> | undefined => {
    if (!cluster.isSynced() || !objects.synced() || !isIdentityKnown) return undefined;
    return {
      clusterId: options.clusterId,
      clusterName: options.clusterName,
      endpointUrl: options.endpointUrl,
      extraLabels: options.labels,
      dataPlane: dataPlane.identity(),
      cost: prices.current(),
      observation: cluster.observe(),
      used: meter.current(),
      reservations: reservations(),
      now: deps.clock.wallMs(),
    };
  };
  const controller = providerInstructionController({
    ...deps,
    namespace: options.instructionNamespace,
    advertisement: {
      apiVersion: apiVersionOf(advertisementKind),
      kind: advertisementKind.kind,
      metadata: options.advertisement,
    },
    checkCapacity: (reservation) =>
      cluster.isSynced()
        ? checkCapacity(reservation, cluster.observe(), reservations())
        : { kind: "unknown" },
  });
  const dataPlane = deps.dataPlane.createProvider({
    resources: options.resources,
    cache,
    communicator: deps.communicator,
    link: deps.link,
    recordEvent: deps.recordEvent,
    isHeld: controller.isHeld,
    isReady: objects.synced,
    onIdentity: () => publisher.trigger(),
    onRetry: () => observer.reconcileFailed("slices"),
  });
  const loop = reconcileLoop(
    { name: "holds", concurrency: 8, reconcile: controller.reconcile },
    { ...deps, observer: { onRetry: () => observer.reconcileFailed("holds") } },
  );
  const publisher = createPublisher(options, {
    ...deps,
    input,
    onPublished: (publication, tookMs) => {
      last = publication;
      if (options.withoutBroker !== true)
        observer.published(publication.ok ? "accepted" : publication.fault.code, tookMs);
      if (!publication.ok)
        log.warn({ code: publication.fault.code }, `not advertised: ${publication.fault.message}`);
      const observation = cluster.observe();
      observer.advertised({
        reserved: reservedIn(observation, reservations()),
        available: availableOf(observation, reservations()),
      });
      mirror.write(publication);
      deps.onPublished(publication.ok);
    },
    onInstructions: (instructions) => {
      for (const reservation of instructions) cache.update("provider", reservation);
    },
  });

  const reservationsChanged = (): void => {
    cluster.setReservations(
      reservations().map(({ id, dataPlaneIds }) => ({ id, origin: dataPlaneIds.requester })),
    );
    publisher.trigger();
  };
  objects.providerInstructions.listen((_, now, before) => {
    const instruction = now ?? before;
    if (instruction === undefined) return;
    const id = instruction.spec.reservationName;
    if (objects.synced()) logInstruction(now, before);
    if (now !== undefined) cache.restore("provider", reservationFromInstruction(now, options.clusterId));
    // The broker does not know it either, so a person may delete the instruction.
    else if (cache.get("provider", id)?.syncState === "unknown") cache.endLocally(id, "ReleasedByAdmin");
    loop.enqueue(id);
    reservationsChanged();
  });
  const logInstruction = (
    now: ProviderInstruction | undefined,
    before: ProviderInstruction | undefined,
  ): void => {
    const { reservationName: reservation, requesterClusterID: requester } = (now ?? before)?.spec ?? {};
    if (now === undefined) log.info({ reservation }, "ProviderInstruction removed");
    else if (now.status?.enforced === true && before?.status?.enforced !== true)
      log.info({ reservation, requester }, "enforced: capacity is held");
  };
  cache.onChange((role, id) => {
    if (role !== "provider") return;
    loop.enqueue(id);
    reservationsChanged();
  });
  cluster.onChange(publisher.trigger);
  prices.onChange(publisher.trigger);

  return {
    /** Resolves when the cluster was observed once. */
    start: async (): Promise<void> => {
      publisher.start();
      const identified = dataPlane.start().then(() => {
        isIdentityKnown = true;
        publisher.trigger();
      });
      await Promise.all([cluster.start(), prices.start(), identified]);
      publisher.trigger();
      meter.start();
    },
    stop: async (): Promise<void> => {
      await Promise.all([publisher.stop(), meter.stop(), dataPlane.stop()]);
      await loop.stop();
      await mirror.settled();
      await Promise.all([cluster.stop(), prices.stop()]);
    },
    triggerPublish: publisher.trigger,
    republishSoon: publisher.republishSoon,
    /** The broker has another ledger: send everything again. */
    resendAll: (): void => {
      controller.forgetAcknowledgements();
      publisher.republish();
      for (const { reservation } of cache.live("provider")) loop.enqueue(reservation.id);
    },
    health: cluster.health,
    lastPublication: (): Publication | undefined => last,
  };
}
