import { informer } from "@resource-broker/kube";
import type { Values } from "../cli/command.ts";
import type { Host } from "../cli/host.ts";
import { type Styler, stylerFor } from "../output/colour.ts";
import { printListing } from "../output/listing.ts";
import type { Column } from "../output/table.ts";
import { type AnyObject, fullName, nameIn, type ObjectKind } from "./kinds.ts";
import { NO_LOG, type OpenCluster, withCluster } from "./open-cluster.ts";
import type { GET_OBJECTS_OPTIONS } from "./options.ts";
import { listObjects, unknownObject, type Wanted } from "./read-objects.ts";

/** An object as it was last seen. */
export interface ObjectState<T extends AnyObject> {
  readonly object: T;
  /** True: it was deleted while somebody watched. */
  readonly isDeleted: boolean;
}

export interface ObjectTextOptions {
  readonly now: number;
  readonly styled: Styler;
}

export interface ObjectTable<T extends AnyObject> {
  readonly kinds: readonly ObjectKind<T>[];
  readonly columns: (textOptions: ObjectTextOptions) => readonly Column<ObjectState<T>>[];
  /** What `-o wide` shows beside. */
  readonly moreColumns: (textOptions: ObjectTextOptions) => readonly Column<ObjectState<T>>[];
  /** What it is called in "There is no request in namespace x". */
  readonly noun: string;
}

interface ListInput {
  readonly options: Values<typeof GET_OBJECTS_OPTIONS>;
  readonly words: readonly string[];
}

/** Lists objects of a cluster; with `watch`, prints each change. */
export async function printObjects<T extends AnyObject>(
  shown: ObjectTable<T>,
  { options, words }: ListInput,
  host: Host,
): Promise<void> {
  await withCluster(options, host, async (cluster) => {
    const wanted: Wanted = {
      namespace: options["all-namespaces"] ? undefined : cluster.namespace,
      selector: options.selector,
      name: words[0] === undefined ? undefined : nameIn(words[0], shown.kinds),
    };
    const states = new Map<string, ObjectState<T>>();
    for (const object of await readAll(cluster, shown.kinds, wanted)) put(states, object);
    const untilChange = options.watch ? await watchObjects({ cluster, shown, wanted, states }) : undefined;
    await printListing(
      async () => listing(shown, wanted, { states, host }),
      { ...options, untilChange },
      host,
    );
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

interface WatchContext<T extends AnyObject> {
  readonly cluster: OpenCluster;
  readonly shown: ObjectTable<T>;
  readonly wanted: Wanted;
  /** Kept up to date from now on. */
  readonly states: Map<string, ObjectState<T>>;
}

/** What is returned resolves when something has changed since it was last asked. */
async function watchObjects<T extends AnyObject>({ cluster, shown, wanted, states }: WatchContext<T>) {
  let isNew = false;
  let notify = (): void => undefined;
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
      if (object !== undefined) put(states, object, now === undefined);
      isNew = true;
      notify();
    });
    await objects.start();
  }
  return async (): Promise<void> => {
    if (!isNew) await new Promise<void>((resolve) => (notify = resolve));
    isNew = false;
  };
}

function put<T extends AnyObject>(
  sightings: Map<string, ObjectState<T>>,
  object: T,
  isDeleted = false,
): void {
  sightings.set(keyOf(object), { object, isDeleted });
}

function keyOf({ kind, metadata }: AnyObject): string {
  return `${kind}/${metadata.namespace}/${metadata.name}`;
}

interface ListingContext<T extends AnyObject> {
  readonly states: ReadonlyMap<string, ObjectState<T>>;
  readonly host: Host;
}

function listing<T extends AnyObject>(
  shown: ObjectTable<T>,
  wanted: Wanted,
  { states, host }: ListingContext<T>,
) {
  const textOptions = { now: host.now(), styled: stylerFor(host) };
  const isEverywhere = wanted.namespace === undefined;
  const columns = [...(isEverywhere ? [namespaceColumn<T>()] : []), ...shown.columns(textOptions)];
  return {
    items: [...states.values()],
    dataOf: ({ object }: ObjectState<T>) => object,
    nameOf: ({ object }: ObjectState<T>) => fullName(object),
    keyOf: ({ object }: ObjectState<T>) => keyOf(object),
    fingerprintOf: ({ object: { metadata }, isDeleted }: ObjectState<T>) =>
      `${metadata.resourceVersion} ${isDeleted}`,
    columns,
    wideColumns: [...columns, ...shown.moreColumns(textOptions)],
    whenEmpty: whenEmpty(shown.noun, wanted),
  };
}

function namespaceColumn<T extends AnyObject>(): Column<ObjectState<T>> {
  return { title: "NAMESPACE", value: ({ object }) => object.metadata.namespace ?? "" };
}

function whenEmpty(noun: string, { namespace, selector }: Wanted): string {
  const what = selector === undefined ? `There is no ${noun}` : `No ${noun} has these labels`;
  return namespace === undefined ? `${what}.` : `${what} in namespace ${namespace}; -A looks everywhere.`;
}
