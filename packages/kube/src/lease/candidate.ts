import { Fault } from "@resource-broker/contract";
import type { MachineTime } from "@resource-broker/runtime";
import type { KubeClient } from "../client/client.ts";
import type { Lease } from "../resource/object-types.ts";
import { LEASES } from "../resource/resources.ts";
import { durationOf, held, holderOf, released } from "./lease-record.ts";

export interface CandidateOptions {
  readonly name: string;
  readonly namespace: string;
  readonly identity: string;
  readonly durationMs: number;
}

/** One who wants a lease: each method is one try. */
export interface Candidate {
  /** Takes or renews the lease, unless somebody else holds it. */
  readonly hold: (signal: AbortSignal) => Promise<Holding>;
  /** Does nothing where somebody else holds it. */
  readonly release: (signal: AbortSignal) => Promise<void>;
}

export type Holding =
  /** Counted, by the monotonic clock, from before the request was sent: the answer may have been long under way. */
  { readonly isMine: true; readonly heldSince: number } | { readonly isMine: false; readonly holder: string };

export function candidate(
  options: CandidateOptions,
  { client, machine }: { readonly client: KubeClient; readonly machine: MachineTime },
): Candidate {
  const { name, namespace, identity, durationMs } = options;
  /**
   * The lease as last seen, and when it was first seen so, by our own clock. Times in the lease are other machines'
   * and are never compared: a holder counts as gone when its lease did not change for as long as it said.
   */
  let seen: { readonly lease: Lease; readonly at: number } | undefined;

  const see = (lease: Lease | undefined): void => {
    if (lease === undefined) seen = undefined;
    else if (versionOf(lease) !== versionOf(seen?.lease)) seen = { lease, at: machine.monotonicMs() };
  };
  const isFree = (lease: Lease): boolean => {
    const holder = holderOf(lease);
    if (holder === "" || holder === identity) return true;
    return seen !== undefined && machine.monotonicMs() - seen.at > durationOf(lease, durationMs);
  };
  const write = async (known: Lease | undefined, signal: AbortSignal): Promise<Holding> => {
    const heldSince = machine.monotonicMs();
    const lease = held(known, { ...options, wallMs: machine.wallMs() });
    const written =
      known === undefined
        ? client.create(LEASES, lease, { signal })
        : client.update(LEASES, lease, { signal });
    see(await written);
    return { isMine: true, heldSince };
  };

  return {
    hold: async (signal) => {
      // A holder writes at once; everybody else, and whoever was overtaken, reads first.
      if (seen !== undefined && holderOf(seen.lease) === identity) {
        const holding = await unlessOvertaken(write(seen.lease, signal));
        if (holding !== undefined) return holding;
      }
      see(await client.find(LEASES, { name, namespace }, { signal }));
      if (seen === undefined || isFree(seen.lease)) {
        const holding = await unlessOvertaken(write(seen?.lease, signal));
        if (holding !== undefined) return holding;
        see(await client.find(LEASES, { name, namespace }, { signal }));
      }
      const holder = seen === undefined ? "" : holderOf(seen.lease);
      if (holder !== identity) return { isMine: false, holder };
      throw new Fault("conflict", `somebody else keeps changing the lease ${namespace}/${name}`);
    },
    release: async (signal) => {
      if (seen === undefined || holderOf(seen.lease) !== identity) return;
      const lease = released(seen.lease, machine.wallMs());
      see(await unlessOvertaken(client.update(LEASES, lease, { signal })));
    },
  };
}

const OVERTAKEN: ReadonlySet<string> = new Set(["conflict", "already-exists", "not-found"]);

/** Of a lease that was deleted, the server takes an update for a creation, and fails over its resourceVersion. */
const WAS_DELETED = /resourceVersion should not be set on objects to be created/;

async function unlessOvertaken<R>(writing: Promise<R>): Promise<R | undefined> {
  try {
    return await writing;
  } catch (error) {
    const isOvertaken =
      error instanceof Fault && (OVERTAKEN.has(error.code) || WAS_DELETED.test(error.message));
    if (isOvertaken) return undefined;
    throw error;
  }
}

function versionOf(lease: Lease | undefined): string | undefined {
  return lease?.metadata.resourceVersion;
}
