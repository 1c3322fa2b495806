import { informer } from "@resource-broker/kube";
import type { Host, Input } from "../cli/command.ts";
import { printListing } from "../output/listing.ts";
import { type Column, type Styler, stylerFor } from "../output/print.ts";
import type { GET_OBJECTS_OPTIONS } from "../commands/cluster-options.ts";
import {
  type AnyObject,
  fullName,
  NO_LOG,
  type ObjectKind,
  type OpenCluster,
  readWanted,
  type Wanted,
  wantedIn,
  withCluster,
} from "./open-cluster.ts";

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
  readonly kinds: readonly [ObjectKind<T>, ...ObjectKind<T>[]];
  readonly columns: (textOptions: ObjectTextOptions) => readonly Column<ObjectState<T>>[];
}

/** Lists objects of a cluster; with `watch`, prints each change. */
export function printObjects<T extends AnyObject>(
  shown: ObjectTable<T>,
  input: Input<typeof GET_OBJECTS_OPTIONS>,
  host: Host,
): Promise<undefined> {
  const { options } = input;
  return withCluster(options, host, async (cluster) => {
    const wanted = wantedIn(cluster, input, shown.kinds);
    const states = new Map<string, ObjectState<T>>();
    for (const object of await readWanted(cluster, shown.kinds, wanted))
      states.set(keyOf(object), { object, isDeleted: false });
    const untilChange = options.watch ? await watchObjects({ cluster, shown, wanted, states }) : undefined;
    const read = async () => listing(shown, wanted, { states, host });
    return printListing(read, { ...options, untilChange }, host);
  });
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
      if (object !== undefined) states.set(keyOf(object), { object, isDeleted: now === undefined });
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

function keyOf({ kind, metadata }: AnyObject): string {
  return `${kind}/${metadata.namespace}/${metadata.name}`;
}

interface ListingContext<T extends AnyObject> {
  readonly states: ReadonlyMap<string, ObjectState<T>>;
  readonly host: Host;
}

function listing<T extends AnyObject>(
  { kinds, columns }: ObjectTable<T>,
  { namespace, selector }: Wanted,
  { states, host }: ListingContext<T>,
) {
  const shown = columns({ now: host.now(), styled: stylerFor(host) });
  const what = `${selector === undefined ? "There is no" : "No"} ${kinds[0].noun}`;
  const whenEmpty = selector === undefined ? what : `${what} has these labels`;
  return {
    items: [...states.values()],
    dataOf: ({ object }: ObjectState<T>) => object,
    nameOf: ({ object }: ObjectState<T>) => fullName(object),
    keyOf: ({ object }: ObjectState<T>) => keyOf(object),
    fingerprintOf: ({ object: { metadata }, isDeleted }: ObjectState<T>) =>
      `${metadata.resourceVersion} ${isDeleted}`,
    columns: namespace === undefined ? [NAMESPACE, ...shown] : shown,
    whenEmpty:
      namespace === undefined
        ? `${whenEmpty}.`
        : `${whenEmpty} in namespace ${namespace}; -A looks everywhere.`,
  };
}

const NAMESPACE: Column<ObjectState<AnyObject>> = {
  title: "NAMESPACE",
  value: ({ object }) => object.metadata.namespace ?? "",
};
