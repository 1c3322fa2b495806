import { type Clock, type Fault, type Log, toFault } from "@resource-broker/base";
import { failureReporter, type KubeClient, wait } from "@resource-broker/kube";
import type { DataPlaneIdentity } from "../../data-plane/data-plane.ts";
import { type IdentityReading, listInstallation, readIdentity } from "./read-identity.ts";

/** People install and upgrade Liqo: polling once a minute is enough, and cheaper than two watches. */
const POLL_MS = 60_000;
/** Missing rights are rarely granted within moments. */
const FORBIDDEN_PAUSE_MS = 10 * 60_000;
/** An API server that does not answer must not keep a cluster from being advertised. */
const START_TIMEOUT_MS = 5000;
const REMEDY = "where it is installed, apply deploy/rbac/agent-liqo.yaml";

export interface IdentityOptions {
  /** Where Liqo is installed. */
  readonly namespace: string;
}

export interface IdentityDeps {
  readonly client: Pick<KubeClient, "list">;
  readonly clock: Clock;
  readonly log: Log;
}

/** The identity of this cluster in Liqo, while Liqo is installed. */
export interface IdentitySource {
  /** Resolves after the first read, or after a timeout. */
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  /** Undefined: Liqo is not installed, or its identity is not clear. */
  readonly current: () => DataPlaneIdentity | undefined;
  readonly onChange: (listener: () => void) => () => void;
}

export function liqoIdentity({ namespace }: IdentityOptions, deps: IdentityDeps): IdentitySource {
  const { client, clock, log } = deps;
  const reporter = failureReporter({ log, clock, fields: { namespace }, what: "looking for Liqo" });
  const listeners = new Set<() => void>();
  const ending = new AbortController();
  const { signal } = ending;
  let known: DataPlaneIdentity | undefined;
  let lastReported = "";
  let isForbidden = false;
  let running: Promise<void> = Promise.resolve();

  const read = async (): Promise<IdentityReading> =>
    readIdentity(await listInstallation(client, { namespace, signal }));
  const update = (reading: IdentityReading): void => {
    const text = JSON.stringify(reading);
    if (text === lastReported) return;
    lastReported = text;
    known = reading.kind === "found" ? reading.identity : undefined;
    if (reading.kind === "unclear") log.warn({ namespace }, `Liqo is not used: ${reading.problem}`);
    else
      log.info(
        { namespace, liqo: known },
        known === undefined ? "Liqo is not installed" : "Liqo is installed",
      );
    for (const listener of listeners) listener();
  };
  /** The last known identity stays: a failed read says nothing about Liqo. */
  const pauseAfter = (fault: Fault): number => {
    if (fault.code !== "forbidden") {
      reporter.failed(fault);
      return POLL_MS;
    }
    if (!isForbidden) log.info({ namespace }, `Liqo is not detected: ${fault.message}; ${REMEDY}`);
    isForbidden = true;
    return FORBIDDEN_PAUSE_MS;
  };
  const readOnce = async (): Promise<number> => {
    try {
      update(await read());
      reporter.recovered();
      isForbidden = false;
      return POLL_MS;
    } catch (error) {
      return signal.aborted ? 0 : pauseAfter(toFault(error));
    }
  };
  const run = async (onLooked: () => void): Promise<void> => {
    while (!signal.aborted) {
      const pauseMs = await readOnce();
      onLooked();
      await wait(pauseMs, { clock, signal });
    }
  };

  return {
    start: () =>
      new Promise((resolve) => {
        const cancel = clock.after(START_TIMEOUT_MS, resolve);
        running = run(() => {
          cancel();
          resolve();
        });
      }),
    stop: async () => {
      ending.abort();
      await running;
    },
    current: () => known,
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
