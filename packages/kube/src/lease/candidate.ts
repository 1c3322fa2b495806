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

/** A candidate for a lease: each method is one attempt. */
export interface Candidate {
  /** Acquires or renews the lease, unless another candidate holds it. */
  readonly hold: (signal: AbortSignal) => Promise<Holding>;
  /** Does nothing when another candidate holds it. */
  readonly release: (signal: AbortSignal) => Promise<void>;
}

export type Holding =
  /** `heldSince` is monotonic and taken before the request was sent, because the reply may be delayed. */
  { readonly isMine: true; readonly heldSince: number } | { readonly isMine: false; readonly holder: string };

export function candidate(
  options: CandidateOptions,
  { client, machine }: { readonly client: KubeClient; readonly machine: MachineTime },
): Candidate {
  const { name, namespace, identity, durationMs } = options;
  /**
   * The last observed lease, and when this version was first observed by the local clock. Times in the lease come from other
   * clocks and are not compared: the lease has expired when it did not change for its stated duration.
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
      // The holder writes without a read; all others read first.
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
      throw new Fault("conflict", `another client keeps changing the lease ${namespace}/${name}`);
    },
    release: async (signal) => {
      if (seen === undefined || holderOf(seen.lease) !== identity) return;
      const lease = released(seen.lease, machine.wallMs());
      see(await unlessOvertaken(client.update(LEASES, lease, { signal })));
    },
  };
}

const OVERTAKEN: ReadonlySet<string> = new Set(["conflict", "already-exists", "not-found"]);

/** Error of the server for an update of a deleted lease. */
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
