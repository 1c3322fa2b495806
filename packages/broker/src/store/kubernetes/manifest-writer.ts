import { CONFIG_MAPS, type ConfigMap, wait } from "@resource-broker/kube";
import { mutex } from "../common/mutex.ts";
import { StoreFailure } from "../store.ts";
import { kubernetesFailure, type LedgerAccess, writeFailureKind, writeObject } from "./ledger-client.ts";
import {
  type Content,
  contentIn,
  type LedgerManifest,
  lastCommitOf,
  manifestConfigMap,
} from "./ledger-manifest.ts";
import { LEDGER } from "./segments.ts";

/** Retries if somebody who is not a leader, such as a person with kubectl, changes the object. */
const TRIES = 10;
const RETRY_DELAY_MS = 20;

export interface ManifestWriterDeps extends LedgerAccess {
  /** Called if another replica leads. */
  readonly markLost: (leader: string) => StoreFailure;
}

/** The new content of the manifest, and a callback for when it is written. */
export interface ManifestChange {
  readonly content: Content;
  /** Called as soon as the change is known to be written, even if that becomes known later. */
  readonly onWritten?: () => void;
}

/** Writes the manifest. Only the leader has one. */
export interface ManifestWriter {
  readonly content: () => Content;
  /** Changes the manifest, or throws a StoreFailure. Changes wait for each other. */
  readonly write: (change: (content: Content) => ManifestChange | Promise<ManifestChange>) => Promise<void>;
  /** The last commit that is really there, also if another replica leads by now. */
  readonly lastCommit: () => Promise<number>;
}

interface Known {
  /** As it was read or written last; without a resourceVersion: it is not there. */
  readonly object: ConfigMap;
  readonly content: Content;
}

/**
 * Every write is a PUT with the resourceVersion that this process knows. A new leader has changed the version, so the API
 * server refuses a late PUT of a deposed leader.
 */
export function manifestWriter(opened: Known, deps: ManifestWriterDeps): ManifestWriter {
  const { client, namespace, clock, markLost } = deps;
  const runExclusive = mutex();
  const { epoch, leader, ledgerId } = opened.content.manifest;
  let known = opened;
  let successor: LedgerManifest | undefined;
  /** Writes of unknown outcome since the last confirmed one. */
  let unsettled: ManifestChange[] = [];

  const setKnown = (object: ConfigMap, change: ManifestChange): void => {
    known = { object, content: change.content };
    change.onWritten?.();
  };

  /** Reads the object and continues from its version. One of the unsettled writes may have been stored. */
  const refresh = async (): Promise<void> => {
    const found = await client.find(CONFIG_MAPS, { name: LEDGER, namespace });
    if (found === undefined) {
      // Deleted by hand. Its content is known here; `create` fails if another process created it first.
      known = { ...known, object: { metadata: { name: LEDGER, namespace } } };
      return;
    }
    const { manifest } = contentIn(found);
    if (manifest.epoch !== epoch || manifest.leader.instance !== leader.instance) {
      succeededBy(manifest);
      throw markLost(manifest.leader.name);
    }
    if (manifest.turn === known.content.manifest.turn) {
      known = { ...known, object: found };
      return;
    }
    const arrived = unsettled.find(({ content }) => content.manifest.turn === manifest.turn);
    if (arrived === undefined) throw changedByOthers(manifest, known.content.manifest);
    setKnown(found, arrived);
    // Earlier writes used an older version and will always be refused.
    unsettled = unsettled.slice(unsettled.indexOf(arrived) + 1);
  };

  /** A commit that the successor found was stored, even if its reply was lost. */
  const succeededBy = (manifest: LedgerManifest): void => {
    successor = manifest;
    const last = lastOf(manifest, { epoch, ledgerId }) ?? 0;
    const arrived = unsettled.find(({ content }) => content.manifest.commitNumber === last);
    if (arrived !== undefined && last > known.content.manifest.commitNumber) setKnown(known.object, arrived);
  };

  /** One attempt; returns false if another writer changed the object and a retry is needed. */
  const tryOnce = async (change: ManifestChange): Promise<boolean> => {
    let refusal: unknown;
    try {
      const next = manifestConfigMap(known.object, namespace, change.content);
      const written = await writeObject(client, next);
      if (written !== undefined) {
        setKnown(written, change);
        unsettled = [];
        return true;
      }
    } catch (error) {
      if (writeFailureKind(error) === "unknown") throw kubernetesFailure(error, "unknown");
      refusal = error;
    }
    // Also after a refusal: the client repeats a PUT when its connection breaks, and the first PUT may have been stored.
    if (await isThere(change)) return true;
    if (refusal !== undefined) throw kubernetesFailure(refusal);
    return false;
  };

  const isThere = async (change: ManifestChange): Promise<boolean> => {
    try {
      await refresh();
    } catch (error) {
      if (known.content !== change.content) throw kubernetesFailure(error, "unknown");
    }
    return known.content === change.content;
  };

  const attempt = async (change: ManifestChange): Promise<void> => {
    unsettled.push(change);
    for (let left = TRIES; left > 0; left--) {
      if (await tryOnce(change)) return;
      await wait(RETRY_DELAY_MS, { clock, signal: undefined });
    }
    throw new StoreFailure("not-committed", `somebody keeps changing ConfigMap ${namespace}/${LEDGER}`);
  };

  /** Makes sure that no write of ours can still arrive. */
  const settle = async (): Promise<void> => {
    if (unsettled.length === 0) return;
    await refresh();
    // Reading is not enough: a write may still arrive. A new version makes the API server refuse it.
    if (unsettled.length > 0) await attempt({ content: withNextTurn(known.content) });
  };

  /** Sets a turn that no earlier write has used. */
  const withNextTurn = (content: Content): Content => {
    const turn =
      Math.max(known.content.manifest.turn, ...unsettled.map((each) => each.content.manifest.turn)) + 1;
    return { ...content, manifest: { ...content.manifest, turn } };
  };

  return {
    content: () => known.content,
    write: (change) =>
      runExclusive(async () => {
        await settle().catch((error: unknown) => {
          throw asNotCommitted(kubernetesFailure(error));
        });
        const { content, ...rest } = await change(known.content);
        await attempt({ ...rest, content: withNextTurn(content) });
      }),
    lastCommit: () =>
      runExclusive(async () => {
        try {
          if (unsettled.length === 0) await refresh();
          await settle();
        } catch (error) {
          if (successor === undefined) throw kubernetesFailure(error, "unknown");
          return lastOf(successor, { epoch, ledgerId }) ?? known.content.manifest.commitNumber;
        }
        return known.content.manifest.commitNumber;
      }),
  };
}

/** The outcome of an earlier write is unknown, but this write was not sent. */
function asNotCommitted(failure: StoreFailure): StoreFailure {
  return failure.kind === "unknown"
    ? new StoreFailure("not-committed", failure.message, { cause: failure })
    : failure;
}

function lastOf(
  successor: LedgerManifest,
  own: Pick<LedgerManifest, "epoch" | "ledgerId">,
): number | undefined {
  return successor.ledgerId === own.ledgerId ? lastCommitOf(own.epoch, successor) : undefined;
}

function changedByOthers(found: LedgerManifest, expected: LedgerManifest): StoreFailure {
  return new StoreFailure(
    "corrupt",
    `ConfigMap ${LEDGER} is at commit ${found.commitNumber}, turn ${found.turn}, and was at commit ` +
      `${expected.commitNumber}, turn ${expected.turn}: was a backup put back while the broker was running?`,
  );
}
