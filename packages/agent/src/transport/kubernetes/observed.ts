import { Fault } from "@resource-broker/contract";
import {
  type Named,
  type Reflector,
  reflector,
  type ReflectorDeps,
  type ReflectorOptions,
  type Sink,
} from "@resource-broker/kube";
import type { ApiCalls } from "./api-calls.ts";
import type { Pulse } from "./pulse.ts";

/** A broken watch recovers on its own; one more read meanwhile costs little. */
const LOOK_AGAIN_MS = 2_500;

/** The observed state of an object. `object` undefined: it does not exist, and its last state is unknown. */
export interface Sighting<T> {
  readonly object: T | undefined;
  readonly isGone: boolean;
}

/** Returns the awaited value, or undefined to keep waiting. An exception ends the wait. */
export type Judge<T, V> = (sighting: Sighting<T>) => V | undefined;

export interface Waiting<T, V> {
  readonly name: string;
  /** Resolves when later changes will be seen; its result is evaluated too. */
  readonly begin: () => Promise<T | undefined>;
  readonly judge: Judge<T, V>;
  readonly signal: AbortSignal;
}

/** A watch on which callers can wait for a change of one object. Objects are not cached. */
export interface Observed<T> extends Reflector {
  readonly waitFor: <V>(waiting: Waiting<T, V>) => Promise<V>;
}

export interface ObservedDeps<T> extends ReflectorDeps {
  readonly calls: ApiCalls;
  readonly pulse: Pulse;
  /** Receives all events as well. */
  readonly sink: Sink<T>;
}

type Look<T> = (sighting: Sighting<T>) => void;

export function observed<T extends Named>(
  options: ReflectorOptions<T> & { readonly namespace: string },
  deps: ObservedDeps<T>,
): Observed<T> {
  const { client, clock, pulse, calls } = deps;
  const looks = new Map<string, Set<Look<T>>>();

  const see = (object: T, isGone: boolean): void => {
    for (const look of looks.get(nameOf(object)) ?? []) look({ object, isGone });
  };
  const follower = reflector(
    options,
    {
      beginList: deps.sink.beginList,
      endList: deps.sink.endList,
      put: (object) => {
        deps.sink.put(object);
        see(object, false);
      },
      remove: (object) => {
        deps.sink.remove(object);
        see(object, true);
      },
    },
    deps,
  );

  const listen = (name: string, look: Look<T>): (() => void) => {
    const all = looks.get(name) ?? new Set();
    looks.set(name, all.add(look));
    return () => {
      all.delete(look);
      if (all.size === 0 && looks.get(name) === all) looks.delete(name);
    };
  };

  const waitFor = <V>({ name, begin, judge, signal }: Waiting<T, V>): Promise<V> =>
    new Promise<V>((resolve, reject) => {
      let cancel = (): void => undefined;
      let isOver = false;
      let hasBegun = false;
      const end = (): void => {
        isOver = true;
        cancel();
        stopListening();
        signal.removeEventListener("abort", giveUp);
      };
      const fail = (error: unknown): void => {
        if (isOver) return;
        end();
        reject(error instanceof Error ? error : new Fault("internal", String(error)));
      };
      // Before `begin` has finished, the API server is the cause: `begin` reports it.
      const giveUp = (): void => {
        if (hasBegun) fail(pulse.silence());
      };
      const look: Look<T> = (sighting) => {
        if (isOver) return;
        try {
          const verdict = judge(sighting);
          if (verdict === undefined) return;
          end();
          resolve(verdict);
        } catch (error) {
          fail(error);
        }
      };
      const lookAgain = async (): Promise<void> => {
        // The written object stays: a broker that returns finds it.
        if (pulse.isSilent()) return giveUp();
        const object = await client.find(
          options.resource,
          { name, namespace: options.namespace },
          { signal },
        );
        look({ object, isGone: object === undefined });
        wakeLater();
      };
      const wakeLater = (): void => {
        if (isOver) return;
        cancel = clock.after(LOOK_AGAIN_MS, () => void lookAgain().catch(wakeLater));
      };
      const stopListening = listen(name, look);
      signal.addEventListener("abort", giveUp);
      calls.persist(signal, begin).then((object) => {
        hasBegun = true;
        if (signal.aborted) giveUp();
        if (object !== undefined) look({ object, isGone: false });
        if (!isOver && pulse.isSilent()) giveUp();
        wakeLater();
      }, fail);
    });

  return { ...follower, waitFor };
}

function nameOf({ metadata }: Named): string {
  return metadata?.name ?? "";
}
