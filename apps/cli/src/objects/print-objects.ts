import { informer } from "@resource-broker/kube";
import type { Values } from "../cli/command.ts";
import type { Host } from "../cli/host.ts";
import { type Paint, paintFor } from "../output/colour.ts";
import { printListing } from "../output/listing.ts";
import type { Column } from "../output/table.ts";
import { type AnyObject, fullName, nameIn, type ObjectKind } from "./kinds.ts";
import { NO_LOG, type OpenCluster, withCluster } from "./open-cluster.ts";
import type { GET_OBJECTS_OPTIONS } from "./options.ts";
import { listObjects, unknownObject, type Wanted } from "./read-objects.ts";

/** An object as it was last seen. */
export interface Sighting<T extends AnyObject> {
  readonly object: T;
  /** True: it was deleted while somebody watched. */
  readonly isGone: boolean;
}

export interface ObjectLook {
  readonly now: number;
  readonly paint: Paint;
}

export interface ObjectTable<T extends AnyObject> {
  readonly kinds: readonly ObjectKind<T>[];
  readonly columns: (look: ObjectLook) => readonly Column<Sighting<T>>[];
  /** What `-o wide` shows beside. */
  readonly moreColumns: (look: ObjectLook) => readonly Column<Sighting<T>>[];
  /** What it is called in "There is no request in namespace x". */
  readonly noun: string;
}

interface Order {
  readonly options: Values<typeof GET_OBJECTS_OPTIONS>;
  readonly words: readonly string[];
}

/** Lists objects of a cluster; with `watch`, follows them as the API server tells of them. */
export async function printObjects<T extends AnyObject>(
  shown: ObjectTable<T>,
  { options, words }: Order,
  host: Host,
): Promise<void> {
  await withCluster(options, host, async (cluster) => {
    const wanted: Wanted = {
      namespace: options["all-namespaces"] ? undefined : cluster.namespace,
      selector: options.selector,
      name: words[0] === undefined ? undefined : nameIn(words[0], shown.kinds),
    };
    const sightings = new Map<string, Sighting<T>>();
    for (const object of await readAll(cluster, shown.kinds, wanted)) put(sightings, object);
    const news = options.watch ? await followed({ cluster, shown, wanted, sightings }) : undefined;
    await printListing(async () => listing(shown, wanted, { sightings, host }), { ...options, news }, host);
  });
}

async function readAll<T extends AnyObject>(
  cluster: OpenCluster,
  kinds: readonly ObjectKind<T>[],
  wanted: Wanted,
): Promise<readonly T[]> {
  const lists = await Promise.all(kinds.map((kind) => listObjects(cluster, kind, wanted)));
  const { name, namespace } = wanted;
  if (name === undefined) return lists.flat();
  const found = lists.flat().filter(({ metadata }) => metadata.name === name);
  if (found.length === 0) throw await unknownObject(cluster, kinds, { name, namespace });
  return found;
}

interface Followed<T extends AnyObject> {
  readonly cluster: OpenCluster;
  readonly shown: ObjectTable<T>;
  readonly wanted: Wanted;
  /** Kept up to date from now on. */
  readonly sightings: Map<string, Sighting<T>>;
}

/** What is returned resolves when something has changed since it was last asked. */
async function followed<T extends AnyObject>({ cluster, shown, wanted, sightings }: Followed<T>) {
  let isNew = false;
  let tell = (): void => undefined;
  const { client, clock } = cluster;
  const { namespace, selector, name } = wanted;
  for (const { resource } of shown.kinds) {
    const objects = informer<T, T>(
      {
        resource,
        ...(namespace === undefined ? {} : { namespace }),
        ...(selector === undefined ? {} : { labelSelector: selector }),
        transform: (object) => (name === undefined || object.metadata.name === name ? object : undefined),
      },
      // A single client needs no random backoff.
      { client, clock, log: NO_LOG, random: () => 0.5 },
    );
    objects.listen((_key, now, before) => {
      const object = now ?? before;
      if (object !== undefined) put(sightings, object, now === undefined);
      isNew = true;
      tell();
    });
    await objects.start();
  }
  return async (): Promise<void> => {
    if (!isNew) await new Promise<void>((resolve) => (tell = resolve));
    isNew = false;
  };
}

function put<T extends AnyObject>(sightings: Map<string, Sighting<T>>, object: T, isGone = false): void {
  sightings.set(keyOf(object), { object, isGone });
}

function keyOf({ kind, metadata }: AnyObject): string {
  return `${kind}/${metadata.namespace}/${metadata.name}`;
}

interface Scene<T extends AnyObject> {
  readonly sightings: ReadonlyMap<string, Sighting<T>>;
  readonly host: Host;
}

function listing<T extends AnyObject>(shown: ObjectTable<T>, wanted: Wanted, { sightings, host }: Scene<T>) {
  const look = { now: host.now(), paint: paintFor(host) };
  const isEverywhere = wanted.namespace === undefined;
  const columns = [...(isEverywhere ? [namespaceColumn<T>()] : []), ...shown.columns(look)];
  return {
    items: [...sightings.values()],
    dataOf: ({ object }: Sighting<T>) => object,
    nameOf: ({ object }: Sighting<T>) => fullName(object),
    keyOf: ({ object }: Sighting<T>) => keyOf(object),
    faceOf: ({ object: { metadata }, isGone }: Sighting<T>) => `${metadata.resourceVersion} ${isGone}`,
    columns,
    wideColumns: [...columns, ...shown.moreColumns(look)],
    whenEmpty: whenEmpty(shown.noun, wanted),
  };
}

function namespaceColumn<T extends AnyObject>(): Column<Sighting<T>> {
  return { title: "NAMESPACE", value: ({ object }) => object.metadata.namespace ?? "" };
}

function whenEmpty(noun: string, { namespace, selector }: Wanted): string {
  const what = selector === undefined ? `There is no ${noun}` : `No ${noun} has these labels`;
  return namespace === undefined ? `${what}.` : `${what} in namespace ${namespace}; -A looks everywhere.`;
}
