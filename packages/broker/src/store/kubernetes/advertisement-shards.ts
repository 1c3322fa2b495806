import { crc32 } from "node:zlib";
import type { ClusterId, ReceivedAdvertisement } from "@resource-broker/domain";
import type { ConfigMap } from "@resource-broker/kube";
import { parseStored } from "../common/seals.ts";
import { type KeyedWriter, keyedWriter } from "./keyed-writer.ts";
import { type LedgerAccess, putObject } from "./ledger-client.ts";
import type { LedgerConfigMaps } from "./read-ledger.ts";
import type { Records, StoredAdvertisement } from "./records.ts";
import { LEDGER, linesIn, segmentConfigMap } from "./segments.ts";

/** Number of ConfigMaps that share the clusters: an object is limited to about a megabyte. */
const SHARDS = 16;
/** Limits writes to etcd: at most four objects per second. */
const WRITE_INTERVAL_MS = 250;

interface AdvertisementShardsDeps extends LedgerAccess {
  /** Committed advertisements. They are dropped here once they are in a shard, so that the next snapshot omits them. */
  readonly committed: Records["advertisements"];
  readonly onError: (error: unknown) => void;
}

/** The newest advertisement of each cluster, written behind. */
export interface AdvertisementShards extends Pick<KeyedWriter<number>, "drain" | "stop"> {
  readonly all: () => ReceivedAdvertisement[];
  readonly put: (advertisements: readonly StoredAdvertisement[]) => void;
}

type Shard = ReadonlyMap<ClusterId, StoredAdvertisement>;

export function advertisementShards(
  found: LedgerConfigMaps,
  deps: AdvertisementShardsDeps,
): AdvertisementShards {
  const objects = new Map<number, ConfigMap>();
  const shards = new Map<number, Shard>();
  for (let number = 0; number < SHARDS; number++) {
    const object = found.get(shardName(number));
    if (object === undefined) continue;
    objects.set(number, object);
    shards.set(number, advertisementsIn(object));
  }

  const write = async (number: number): Promise<void> => {
    const known = objects.get(number);
    let written: Shard = new Map();
    const next = (current: ConfigMap | undefined): Promise<ConfigMap> => {
      // Another replica may have written the shard: the newest advertisement of each cluster is kept.
      if (current !== undefined && current !== known) merge(number, advertisementsIn(current).values());
      written = shards.get(number) ?? written;
      const lines = [...written.values()].map((each) => JSON.stringify(each));
      return segmentConfigMap({ namespace: deps.namespace, name: shardName(number), role: "soft", lines });
    };
    objects.set(number, await putObject(known, next, deps));
    dropCommitted(written);
  };

  const dropCommitted = (written: Shard): void => {
    for (const [clusterId, { commit }] of deps.committed)
      if (commit <= (written.get(clusterId)?.commit ?? Number.NEGATIVE_INFINITY))
        deps.committed.delete(clusterId);
  };

  const merge = (number: number, some: Iterable<StoredAdvertisement>): void => {
    const merged = new Map(shards.get(number));
    for (const each of some) {
      const { clusterId } = each.advertisement;
      const before = merged.get(clusterId);
      if (before === undefined || isNoOlder(each, before)) merged.set(clusterId, each);
    }
    shards.set(number, merged);
  };

  const writer = keyedWriter<number>({ write, pauseMs: WRITE_INTERVAL_MS, ...deps });
  const put = (advertisements: Iterable<StoredAdvertisement>): void => {
    for (const each of advertisements) {
      const number = shardOf(each.advertisement.clusterId);
      merge(number, [each]);
      writer.add(number);
    }
  };
  put(deps.committed.values());

  return {
    all: () => [...shards.values()].flatMap((shard) => [...shard.values()].map(receivedFrom)),
    put,
    drain: writer.drain,
    stop: writer.stop,
  };
}

function shardName(number: number): string {
  return `${LEDGER}-advertisements-${number}`;
}

function shardOf(clusterId: ClusterId): number {
  return crc32(clusterId) % SHARDS;
}

/** Compares commit numbers first: they are ordered across leaders, clocks are not. */
function isNoOlder(a: StoredAdvertisement, b: StoredAdvertisement): boolean {
  return a.commit === b.commit ? a.receivedAt >= b.receivedAt : a.commit > b.commit;
}

function receivedFrom({
  advertisement,
  receivedAt,
  replacedInstances,
}: StoredAdvertisement): ReceivedAdvertisement {
  return { advertisement, receivedAt, replacedInstances };
}

/** An unreadable shard is ignored: agents advertise again. Older versions did not store a commit number. */
function advertisementsIn(object: ConfigMap): Map<ClusterId, StoredAdvertisement> {
  try {
    const all = linesIn(object).map((line): StoredAdvertisement => {
      const { commit = 0, ...received } = parseStored<ReceivedAdvertisement & { readonly commit?: number }>(
        line,
      );
      return { ...received, commit };
    });
    return new Map(all.map((each) => [each.advertisement.clusterId, each]));
  } catch {
    return new Map();
  }
}
