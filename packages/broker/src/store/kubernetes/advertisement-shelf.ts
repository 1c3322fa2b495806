import { crc32 } from "node:zlib";
import type { ClusterId, ReceivedAdvertisement } from "@resource-broker/domain";
import type { ConfigMap } from "@resource-broker/kube";
import type { MachineTime } from "@resource-broker/runtime";
import { parseStored } from "../sqlite/stored-json.ts";
import { type KeyedWriter, keyedWriter } from "./keyed-writer.ts";
import { LEDGER, linesIn, pageObject } from "./page.ts";
import type { LedgerShelf } from "./read-ledger.ts";
import { putObject, type SoftObjectDeps } from "./soft-object.ts";

/** Clusters share so many objects: the fleet may be large, and an object a megabyte. */
const SHARDS = 16;
/** A fleet that speaks all the time must not keep etcd busy: at most four objects a second. */
const PAUSE_MS = 250;

export interface AdvertisementShelfDeps extends SoftObjectDeps {
  readonly machine: MachineTime;
  readonly onTrouble: (error: unknown) => void;
}

/** The newest advertisement of each cluster, written behind. */
export interface AdvertisementShelf extends Pick<KeyedWriter<number>, "finish" | "stop"> {
  readonly all: () => ReceivedAdvertisement[];
  readonly put: (advertisements: readonly ReceivedAdvertisement[]) => void;
}

type Shard = ReadonlyMap<ClusterId, ReceivedAdvertisement>;

export function advertisementShelf(found: LedgerShelf, deps: AdvertisementShelfDeps): AdvertisementShelf {
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
    const next = (there: ConfigMap | undefined): Promise<ConfigMap> => {
      // Another replica's words may be newer: of each cluster the newest counts.
      if (there !== undefined && there !== known) merge(number, advertisementsIn(there).values());
      const lines = [...(shards.get(number)?.values() ?? [])].map((each) => JSON.stringify(each));
      return pageObject({ namespace: deps.namespace, name: shardName(number), role: "soft", lines });
    };
    objects.set(number, await putObject(known, next, deps));
  };

  const merge = (number: number, some: Iterable<ReceivedAdvertisement>): void => {
    const merged = new Map(shards.get(number));
    for (const each of some) {
      const { clusterId } = each.advertisement;
      const before = merged.get(clusterId);
      if (before === undefined || before.receivedAt <= each.receivedAt) merged.set(clusterId, each);
    }
    shards.set(number, merged);
  };

  const writer = keyedWriter<number>({ write, pauseMs: PAUSE_MS, ...deps });
  return {
    all: () => [...shards.values()].flatMap((shard) => [...shard.values()]),
    put: (advertisements) => {
      for (const each of advertisements) {
        const number = shardOf(each.advertisement.clusterId);
        merge(number, [each]);
        writer.mark(number);
      }
    },
    finish: writer.finish,
    stop: writer.stop,
  };
}

function shardName(number: number): string {
  return `${LEDGER}-advertisements-${number}`;
}

function shardOf(clusterId: ClusterId): number {
  return crc32(clusterId) % SHARDS;
}

/** Soft state: what cannot be read is heard again soon. */
function advertisementsIn(object: ConfigMap): Map<ClusterId, ReceivedAdvertisement> {
  try {
    const all = linesIn(object).map((line) => parseStored<ReceivedAdvertisement>(line));
    return new Map(all.map((each) => [each.advertisement.clusterId, each]));
  } catch {
    return new Map();
  }
}
