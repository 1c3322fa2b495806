import { Fault } from "@resource-broker/base";
import {
  type Named,
  type Reflector,
  type ReflectorDeps,
  type ReflectorOptions,
  reflector,
  type Sink,
} from "@resource-broker/kube";
import type { ApiCalls } from "./api-calls.ts";
import type { BrokerHealth } from "./broker-health.ts";

/** A broken watch recovers on its own; one more read meanwhile costs little. */
const POLL_MS = 2_500;

/** The observed state of an object. `object` undefined: it does not exist, and its last state is unknown. */
export interface ObjectState<T> {
  readonly object: T | undefined;
  readonly isGone: boolean;
}

/** Returns the awaited value, or undefined to keep waiting. An exception ends the wait. */
export type Evaluate<T, V> = (state: ObjectState<T>) => V | undefined;

export interface WaitOptions<T, V> {
  readonly name: string;
  /** Resolves when later changes will be seen; its result is evaluated too. */
  readonly begin: () => Promise<T | undefined>;
  readonly evaluate: Evaluate<T, V>;
  readonly signal: AbortSignal;
}

/** A watch on which callers can wait for a change of one object. Objects are not cached. */
export interface ObjectWatch<T> extends Reflector {
  readonly waitFor: <V>(waiting: WaitOptions<T, V>) => Promise<V>;
}

export interface ObjectWatchDeps<T> extends ReflectorDeps {
  readonly calls: ApiCalls;
  readonly brokerHealth: BrokerHealth;
  /** Receives all events as well. */
  readonly sink: Sink<T>;
}

type Listener<T> = (state: ObjectState<T>) => void;

export function objectWatch<T extends Named>(
  options: ReflectorOptions<T> & { readonly namespace: string },
  deps: ObjectWatchDeps<T>,
): ObjectWatch<T> {
  const { client, clock, brokerHealth, calls } = deps;
  const listeners = new Map<string, Set<Listener<T>>>();

  const notify = (object: T, isGone: boolean): void => {
    for (const look of listeners.get(nameOf(object)) ?? []) look({ object, isGone });
  };
  const follower = reflector(
    options,
    {
      beginList: deps.sink.beginList,
      endList: deps.sink.endList,
      put: (object) => {
        deps.sink.put(object);
        notify(object, false);
      },
      remove: (object) => {
        deps.sink.remove(object);
        notify(object, true);
      },
    },
    deps,
  );

  const listen = (name: string, look: Listener<T>): (() => void) => {
    const all = listeners.get(name) ?? new Set();
    listeners.set(name, all.add(look));
    return () => {
      all.delete(look);
      if (all.size === 0 && listeners.get(name) === all) listeners.delete(name);
    };
  };

  const waitFor = <V>({ name, begin, evaluate, signal }: WaitOptions<T, V>): Promise<V> =>
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
        if (hasBegun) fail(brokerHealth.unavailableFault());
      };
      const listener: Listener<T> = (state) => {
        if (isOver) return;
        try {
          const value = evaluate(state);
          if (value === undefined) return;
          end();
          resolve(value);
        } catch (error) {
          fail(error);
        }
      };
      const poll = async (): Promise<void> => {
        // The written object stays: a broker that returns finds it.
        if (brokerHealth.isSilent()) return giveUp();
        const object = await client.find(
          options.resource,
          { name, namespace: options.namespace },
          { signal },
        );
        listener({ object, isGone: object === undefined });
        pollLater();
      };
      const pollLater = (): void => {
        if (isOver) return;
        cancel = clock.after(POLL_MS, () => void poll().catch(pollLater));
      };
      const stopListening = listen(name, listener);
      signal.addEventListener("abort", giveUp);
      calls.retry(signal, begin).then((object) => {
        hasBegun = true;
        if (signal.aborted) giveUp();
        if (object !== undefined) listener({ object, isGone: false });
        if (!isOver && brokerHealth.isSilent()) giveUp();
        pollLater();
      }, fail);
    });

  return { ...follower, waitFor };
}

function nameOf({ metadata }: Named): string {
  return metadata?.name ?? "";
}
