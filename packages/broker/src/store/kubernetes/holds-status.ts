import { formatResources, formatTime } from "@resource-broker/base";
import {
  type ClusterAdvertisement,
  clusterAdvertisementKind,
  clusterAdvertisementName,
} from "@resource-broker/contract/crd";
import {
  type ClusterId,
  isLive,
  type LedgerEvent,
  MAX_RESERVATIONS_PER_PROVIDER,
  type Reservation,
} from "@resource-broker/domain";
import { customResource } from "@resource-broker/kube";
import { type KeyedWriter, keyedWriter } from "./keyed-writer.ts";
import { isCode, type LedgerAccess } from "./ledger-client.ts";
import type { Records } from "./records.ts";

const ADVERTISEMENTS = customResource(clusterAdvertisementKind);
const FIELD_MANAGER = "resource-broker-ledger";
/** Information for people: written at most four times per second. */
const WRITE_INTERVAL_MS = 250;
const TRIES = 5;

interface HoldsStatusDeps extends LedgerAccess {
  readonly epoch: number;
  readonly records: Records;
  readonly commitNumber: () => number;
  readonly onError: (error: unknown) => void;
}

/**
 * Writes `status.holds` of the providers' ClusterAdvertisements: the live reservations of the ledger, for people. The broker
 * never reads it back. If a cluster has no such object, nothing is written.
 */
export interface HoldsStatusWriter extends Pick<KeyedWriter<ClusterId>, "stop"> {
  /** Run after start: writes what the previous leader did not write any more. */
  readonly resync: () => Promise<void>;
  readonly onEvents: (events: readonly LedgerEvent[]) => void;
}

type Hold = NonNullable<NonNullable<ClusterAdvertisement["status"]>["holds"]>[number];

export function holdsStatusWriter(deps: HoldsStatusDeps): HoldsStatusWriter {
  const { client, namespace, clock, epoch, records, commitNumber, onError } = deps;

  /** Returns true if the status is up to date. */
  const tryWrite = async (provider: ClusterId): Promise<boolean> => {
    const name = { name: clusterAdvertisementName(provider), namespace };
    const there = await client.find(ADVERTISEMENTS, name);
    if (there === undefined || isCurrent(there, provider)) return true;
    const { resourceVersion } = there.metadata;
    const status = { holds: holdsOf(provider), epoch, commit: commitNumber() };
    const body = { metadata: { resourceVersion }, status };
    const options = { subresource: "status", fieldManager: FIELD_MANAGER } as const;
    try {
      await client.patch(ADVERTISEMENTS, { name, patch: { kind: "merge", body } }, options);
      return true;
    } catch (error) {
      if (isCode(error, "not-found")) return true;
      if (isCode(error, "conflict")) return false;
      throw error;
    }
  };

  /** A status written by a later leader is also correct. */
  const isCurrent = ({ status = {} }: ClusterAdvertisement, provider: ClusterId): boolean =>
    (status.epoch ?? 0) > epoch || JSON.stringify(status.holds ?? []) === JSON.stringify(holdsOf(provider));

  const holdsOf = (provider: ClusterId): Hold[] =>
    [...records.reservations.values()]
      .filter((each) => each.provider === provider && isLive(each.phase))
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .slice(0, MAX_RESERVATIONS_PER_PROVIDER)
      .map(holdFrom);

  const write = async (provider: ClusterId): Promise<void> => {
    try {
      for (let left = TRIES; left > 0; left--) if (await tryWrite(provider)) return;
    } catch (error) {
      // The API server rejects this content permanently; the next change is written again.
      if (!isCode(error, "invalid") && !isCode(error, "too-large")) throw error;
      onError(error);
    }
  };

  const writer = keyedWriter<ClusterId>({ write, pauseMs: WRITE_INTERVAL_MS, clock, onError });
  const providerOf = (event: LedgerEvent): ClusterId | undefined => {
    if ("reservation" in event) return event.reservation.provider;
    return "id" in event ? records.reservations.get(event.id)?.provider : undefined;
  };

  return {
    resync: async () => {
      for (const { provider } of records.reservations.values()) writer.add(provider);
      await client.list(ADVERTISEMENTS, { namespace }, ({ spec, status }) => {
        if ((status?.holds ?? []).length > 0) writer.add(spec.clusterID);
      });
    },
    onEvents: (events) => {
      for (const event of events) {
        const provider = providerOf(event);
        if (provider !== undefined) writer.add(provider);
      }
    },
    stop: writer.stop,
  };
}

function holdFrom({ id, requester, granted, expiresAt }: Reservation): Hold {
  return {
    id,
    requesterID: requester,
    granted: formatResources(granted),
    ...(expiresAt === undefined ? {} : { expiresAt: formatTime(expiresAt) }),
  };
}
