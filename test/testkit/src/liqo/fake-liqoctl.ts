import { readFile } from "node:fs/promises";
import { FOREIGN_CLUSTERS } from "@resource-broker/agent/liqo";
import { parseKubeconfig, resolveContext } from "@resource-broker/kube/testing";
import { parse } from "yaml";
import type { LiqoSite, LiqoState } from "./liqo-state.ts";
import { type LiqoctlCommand, readLiqoctlArguments } from "./liqoctl-arguments.ts";
import type { Pair } from "./peer-objects.ts";
import { forceUnpeer, type NextChange, peer, peerHalf, unauthenticate, unpeer } from "./peering.ts";

export interface LiqoctlResult {
  readonly code: number;
  readonly output: string;
}

/** What goes wrong when a command is run. */
export type LiqoctlFailure =
  /** It says so and does nothing, or only half of it. */
  | { readonly kind: "fails"; readonly end: LiqoctlResult; readonly does?: "nothing" | "half" }
  /** It ends with 0, as if all were well. */
  | { readonly kind: "pretends" }
  /** It does not end before it is ended. */
  | { readonly kind: "hangs" };

type Verb = Exclude<LiqoctlCommand["kind"], "refused">;

/** Stands in for the liqoctl program, in this process. */
export interface FakeLiqoctl {
  /** Every command line so far, also of commands that were refused. */
  readonly calls: readonly (readonly string[])[];
  readonly run: (
    args: readonly string[],
    options?: { readonly signal?: AbortSignal },
  ) => Promise<LiqoctlResult>;
  /** The next command of this kind goes wrong like this; undefined: no longer. `always`: every one. */
  readonly failNext: (verb: Verb, failure: LiqoctlFailure | undefined, always?: boolean) => void;
}

export interface FakeLiqoctlDeps {
  readonly liqo: LiqoState;
  readonly nextChange: (signal: AbortSignal) => Promise<void>;
  /** The pair has a network from now on, or none. */
  readonly onNetwork: (consumerId: string, providerId: string, isThere: boolean) => void;
}

const NEVER = new AbortController().signal;
const GONE: LiqoctlResult = {
  code: 1,
  output: "ERRO (remote) an error occurred while retrieving cluster id: connect: connection refused\n",
};

const IN_USE: LiqoctlResult = {
  code: 1,
  output: "ERRO (local) resourceslices are still present on consumer cluster\n",
};
const UNKNOWN: LiqoctlResult = {
  code: 1,
  output: "ERRO (local) an error occurred while checking bidirectional peering: not found\n",
};

export function fakeLiqoctl({ liqo, nextChange, onNetwork }: FakeLiqoctlDeps): FakeLiqoctl {
  const calls: (readonly string[])[] = [];
  const plannedFailures = new Map<Verb, { readonly mishap: LiqoctlFailure; readonly always: boolean }>();

  const run: FakeLiqoctl["run"] = async (args, { signal = NEVER } = {}) => {
    calls.push([...args]);
    const command = readLiqoctlArguments(args);
    if (command.kind === "refused") return { code: command.code, output: command.output };
    const failure = takeFailure(command.kind);
    if (failure === undefined) return perform(command, () => nextChange(signal));
    if (failure.kind === "pretends") return { code: 0, output: "INFO Operation completed\n" };
    if (failure.kind === "hangs") return untilEnded(signal);
    if (failure.does === "half") await half(command);
    return failure.end;
  };

  const takeFailure = (verb: Verb): LiqoctlFailure | undefined => {
    const found = plannedFailures.get(verb);
    if (found === undefined) return undefined;
    if (!found.always) plannedFailures.delete(verb);
    return found.mishap;
  };

  const half = async (command: LiqoctlCommand): Promise<void> => {
    if (command.kind !== "peer") return;
    const pair = await pairOf(command);
    if ("consumer" in pair) await peerHalf(pair);
  };

  const perform = async (
    command: Exclude<LiqoctlCommand, { kind: "refused" }>,
    next: NextChange,
  ): Promise<LiqoctlResult> => {
    if (command.kind === "version") return { code: 0, output: "Client version: v1.2.0\n" };
    if (command.kind === "force-unpeer") {
      const site = await siteBy(command.kubeconfig);
      if (site === undefined) return noSuchCluster(command.kubeconfig);
      await forceUnpeer(site, command.clusterId, next);
      return { code: 0, output: "INFO Force unpeer executed successfully\n" };
    }
    const pair = await pairOf(command);
    if (!("consumer" in pair)) return pair;
    const { consumer, provider } = pair;
    if (!liqo.isReachable(provider.id)) return GONE;
    if (command.kind === "unauthenticate") {
      const end = await unauthenticate(pair);
      return end === "done" ? { code: 0, output: "INFO (local) Tenant correctly deleted\n" } : IN_USE;
    }
    if (command.kind === "unpeer") return performUnpeer(pair, next);
    await peer(pair);
    onNetwork(consumer.id, provider.id, command.flags.get("networking-disabled") !== "true");
    return { code: 0, output: "INFO (local) Peering established\n" };
  };

  const performUnpeer = async (pair: Pair, next: NextChange): Promise<LiqoctlResult> => {
    const { consumer, provider } = pair;
    const known = await consumer.client.find(FOREIGN_CLUSTERS, { name: provider.id });
    if (known === undefined) return UNKNOWN;
    await unpeer(pair, next);
    // Both directions share it.
    if (known.status?.role !== "ConsumerAndProvider") onNetwork(consumer.id, provider.id, false);
    return { code: 0, output: "INFO (local) Peering disabled\n" };
  };

  const pairOf = async (
    command: Extract<LiqoctlCommand, { kind: "peer" | "unpeer" | "unauthenticate" }>,
  ): Promise<Pair | LiqoctlResult> => {
    const consumer = await siteBy(command.kubeconfig);
    if (consumer === undefined) return noSuchCluster(command.kubeconfig);
    const provider = await siteBy(command.remoteKubeconfig);
    if (provider === undefined) return noSuchCluster(command.remoteKubeconfig);
    if (consumer.id === provider.id)
      return { code: 1, output: "ERRO: error: local and remote clusters must be different\n" };
    return { consumer, provider };
  };

  /** The cluster whose API server a kubeconfig names. */
  const siteBy = async (file: string): Promise<LiqoSite | undefined> => {
    const text = await readFile(file, "utf8").catch(() => undefined);
    if (text === undefined) return undefined;
    const { server } = resolveContext(parseKubeconfig(parse(text), file));
    return liqo.sites.find(({ client }) => client.server === server);
  };

  return {
    calls,
    run,
    failNext: (verb, failure, always = false) => {
      if (failure === undefined) plannedFailures.delete(verb);
      else plannedFailures.set(verb, { mishap: failure, always });
    },
  };
}

function noSuchCluster(file: string): LiqoctlResult {
  return { code: 1, output: `ERRO: error: stat ${file}: no such file or directory\n` };
}

function untilEnded(signal: AbortSignal): Promise<LiqoctlResult> {
  return new Promise((resolve) => {
    const end = (): void => resolve({ code: 143, output: "" });
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}
