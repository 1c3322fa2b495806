import { Fault, parseTime } from "@resource-broker/base";
import { BROKER_LEASE, KUBE_ANNOTATION } from "@resource-broker/contract/crd";
import { MARKET_PROTOCOL } from "@resource-broker/domain";
import { LEASES, type Lease, type ReflectorDeps, reflector, type Sink } from "@resource-broker/kube";
import { serverTime } from "../../server-time.ts";
import { apiServerFault, NO_GO_BROKER } from "./api-calls.ts";
import type { LedgerReservation } from "./read-reservation.ts";

/** The broker renews its Lease every 2 s: seven renewals are missed. */
const LEASE_TIMEOUT_MS = 15_000;

interface BrokerHealthDeps extends ReflectorDeps {
  /** Called when some cluster can lend more than before. */
  readonly onFreed: () => void;
}

export type BrokerHealth = ReturnType<typeof createBrokerHealth>;

/** Whether the broker is alive, its time and its ledger, from its Lease. */
export function createBrokerHealth({ namespace }: { readonly namespace: string }, deps: BrokerHealthDeps) {
  const { clock, client } = deps;
  const time = serverTime(clock);
  const listeners = new Set<() => void>();
  let startedAt = clock.monotonicMs();
  let lastSeenAt: number | undefined;
  let renewTime: string | undefined;
  let ledgerId: string | undefined;
  let freedAt: string | undefined;
  let protocol = 0;
  let isThere = false;
  let isListed = false;
  let isMissed = false;

  const notify = (): void => {
    for (const listener of listeners) listener();
  };
  const markSeen = (stated?: string): void => {
    lastSeenAt = clock.monotonicMs();
    const brokerTimeMs = stated === undefined ? undefined : parseTime(stated);
    if (brokerTimeMs !== undefined) time.observe(brokerTimeMs);
  };
  const observeLease = ({ metadata, spec }: Lease): void => {
    const stated = spec?.renewTime;
    const { annotations = {} } = metadata;
    // The first Lease that is seen may be old: only a change proves that the broker is alive.
    const isRenewal = renewTime !== undefined && stated !== renewTime;
    isThere = true;
    renewTime = stated;
    ledgerId = annotations[KUBE_ANNOTATION.ledgerId] ?? ledgerId;
    // An older broker that takes over removes it.
    protocol = Number(annotations[KUBE_ANNOTATION.protocol] ?? 0);
    const freedBefore = freedAt;
    // A new leader does not set the annotation at first: that is no change.
    freedAt = annotations[KUBE_ANNOTATION.capacityFreed] ?? freedAt;
    if (isRenewal) markSeen(stated);
    notify();
    if (isRenewal && freedAt !== freedBefore) deps.onFreed();
  };

  const sink: Sink<Lease> = {
    beginList: () => {
      isListed = false;
    },
    put: (lease) => {
      isListed = true;
      observeLease(lease);
    },
    endList: () => {
      isThere = isListed;
      // Logged at once: a broker of another kind will never answer.
      if (!isThere && !isMissed) deps.log.warn({ namespace }, missing().message);
      isMissed = !isThere;
    },
    remove: () => {
      isThere = false;
    },
  };
  const follower = reflector(
    { resource: LEASES, namespace, fieldSelector: `metadata.name=${BROKER_LEASE}` },
    sink,
    deps,
  );

  const sinceMs = (): number => clock.monotonicMs() - (lastSeenAt ?? startedAt);
  /** True after a renewal in the last seconds. */
  const isAlive = (): boolean => lastSeenAt !== undefined && sinceMs() <= LEASE_TIMEOUT_MS;
  /** True when no renewal came for long enough. */
  const isSilent = (): boolean => sinceMs() > LEASE_TIMEOUT_MS;

  const lease = `Lease ${BROKER_LEASE} in namespace ${namespace} of ${client.server}`;
  const missing = (): Fault =>
    new Fault(
      "unreachable",
      `there is no ${lease}: no broker with --broker-interface=kubernetes serves there; check --broker-namespace; ${NO_GO_BROKER}`,
    );

  /** Why the broker does not answer, as far as known. */
  const unavailableFault = (): Fault => {
    const health = follower.health();
    if (health.state === "failing") return apiServerFault(client.server, health.fault);
    if (!isThere && health.state === "synced") return missing();
    const since = lastSeenAt === undefined ? "" : ` for ${Math.round(sinceMs() / 1000)} s`;
    const message = `the API server answers, but the broker showed no activity${since}: nobody renews the ${lease}`;
    return new Fault("unreachable", isAlive() ? "the broker is alive, but did not answer in time" : message);
  };

  /** Resolves when the broker is alive; rejects with the reason when it is silent, or on abort. */
  const whenAlive = async (signal: AbortSignal): Promise<void> => {
    if (isAlive()) return;
    if (isSilent() || signal.aborted) throw unavailableFault();
    await new Promise<void>((resolve, reject) => {
      const end = (): void => {
        listeners.delete(look);
        cancel();
        signal.removeEventListener("abort", giveUp);
      };
      const look = (): void => {
        if (!isAlive()) return;
        end();
        resolve();
      };
      const giveUp = (): void => {
        end();
        reject(unavailableFault());
      };
      const cancel = clock.after(LEASE_TIMEOUT_MS - sinceMs() + 1, giveUp);
      listeners.add(look);
      signal.addEventListener("abort", giveUp);
    });
  };

  return {
    start: (): void => {
      startedAt = clock.monotonicMs();
      void follower.start().catch(() => undefined);
    },
    stop: follower.stop,
    isAlive,
    isSilent,
    whenAlive,
    /** Records activity of the broker, with its time if known. */
    markSeen: (stated?: string): void => {
      markSeen(stated);
      notify();
    },
    /** The broker's time; undefined before the first renewal. */
    now: time.now,
    ledgerId: () => ledgerId,
    /** False: requests cannot wait there. */
    canQueue: (): boolean => protocol >= MARKET_PROTOCOL,
    /** False: it was made by another ledger than the broker's, or the broker's is not known yet. */
    isOfLedger: (found: Pick<LedgerReservation, "ledgerId">): boolean =>
      found.ledgerId === undefined || found.ledgerId === ledgerId,
    unavailableFault,
    /** Called when the Lease changed. Returns the function that unsubscribes. */
    onRenewal: (listener: () => void): (() => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
