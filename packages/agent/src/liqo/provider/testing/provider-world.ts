import type { ReservationDTO } from "@resource-broker/contract";
import { countedResources } from "@resource-broker/domain";
import { NAMESPACES } from "@resource-broker/kube";
import { fakeClock } from "@resource-broker/testkit";
import type { ObjectEvent } from "../../../events/tell.ts";
import { reservationCache } from "../../../reservations/reservation-book.ts";
import { fakeCluster } from "../../../testing/fake-cluster.ts";
import { recordedLog } from "../../../testing/recorded-log.ts";
import { ended } from "../../../testing/samples.ts";
import { QUOTAS } from "../../objects/quota.ts";
import { RESOURCE_SLICES, type ResourceSlice } from "../../objects/resource-slice.ts";
import { SHADOW_PODS } from "../../objects/shadow-pod.ts";
import { sliceController } from "../liqo-provider.ts";
import {
  aProviderReservation,
  aQuota,
  aReplica,
  aShadowPod,
  ID,
  MALLORY,
  ROME,
  tenantNamespace,
} from "./replicas.ts";

/** rome's loan, when it is over. */
export const OVER = ended("Expired", { requesterLiqoID: ROME });
export const MINUTE_MS = 60_000;

/** paris' API server with Liqo in it, and the agent's provider side, which has or has not started yet. */
export function providerTestEnvironment({ isEnforcing = false } = {}) {
  const time = fakeClock(Date.parse("2026-07-01T10:00:00Z"));
  const cluster = fakeCluster(time);
  const cache = reservationCache({ clusterId: "paris", now: time.wallMs });
  const events: ObjectEvent[] = [];
  const log = recordedLog();
  const broker: { answer: () => Promise<ReservationDTO | undefined>; isCurrent: boolean; asked: string[] } = {
    answer: async () => undefined,
    isCurrent: true,
    asked: [],
  };
  const held = new Set<string>([ID]);
  for (const tenant of [ROME, MALLORY]) cluster.put(NAMESPACES, tenantNamespace(tenant));
  const begin = () => {
    const provider = sliceController(
      { resources: countedResources(), isEnforcing },
      {
        client: cluster.client,
        clock: time,
        random: () => 0.5,
        log,
        cache,
        communicator: {
          fetchReservation: (id) => {
            broker.asked.push(id);
            return broker.answer();
          },
        },
        link: { isCurrent: () => broker.isCurrent },
        broker: () => ({ now: time.wallMs(), isSilent: false }),
        isHeld: (id) => held.has(id),
        isReady: () => true,
        recordEvent: (event) => void events.push(event),
        onRetry: () => undefined,
      },
    );
    provider.setPresent(true);
    return provider;
  };
  const find = (tenant = ROME): ResourceSlice | undefined =>
    cluster.find(RESOURCE_SLICES, { name: ID, namespace: `liqo-tenant-${tenant}` });
  return {
    time,
    cluster,
    book: cache,
    log,
    broker,
    held,
    begin,
    find,
    word: (tenant = ROME) => {
      const condition = find(tenant)?.status?.conditions?.find(({ type }) => type === "Resources");
      return condition && `${condition.status} ${condition.reason ?? ""}`;
    },
    cordon: (tenant = ROME) => find(tenant)?.metadata.annotations?.["liqo.io/cordon"],
    told: () => events.map(({ reason }) => reason),
    shadowPods: () => cluster.all(SHADOW_PODS).map(({ metadata }) => metadata.name),
    writes: () => cluster.calls.filter(({ verb }) => verb !== "get" && verb !== "list" && verb !== "watch"),
  };
}

type Environment = ReturnType<typeof providerTestEnvironment>;

/** rome has its slice, and three pods in it. */
export async function withSlice(): Promise<Environment & { provider: ReturnType<Environment["begin"]> }> {
  const made = providerTestEnvironment();
  made.book.update("provider", aProviderReservation());
  made.cluster.put(RESOURCE_SLICES, aReplica());
  const provider = made.begin();
  await made.time.advance(1000);
  made.cluster.put(QUOTAS, aQuota(ROME));
  for (const name of ["web-1", "web-2", "web-3"]) made.cluster.put(SHADOW_PODS, aShadowPod(name));
  await made.time.advance(1000);
  return { ...made, provider };
}

/** Liqo's quota controller, when it gets round to it. */
export function cordonQuota({ cluster }: Environment, tenant = ROME): void {
  const { name, namespace = "" } = aQuota(tenant).metadata;
  cluster.edit(QUOTAS, { name, namespace }, (quota) => ({
    ...quota,
    spec: { ...quota.spec, cordoned: true },
  }));
}
