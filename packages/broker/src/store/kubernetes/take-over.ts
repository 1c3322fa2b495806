import type { Clock } from "@resource-broker/base";
import { CONFIG_MAPS, type ConfigMap, type KubeClient, wait } from "@resource-broker/kube";
import type { Candidate } from "../common/leader-elector.ts";
import { StoreFailure } from "../store.ts";
import { isCode, kubernetesFailure, writeFailureKind } from "./failure.ts";
import { type Content, contentIn, manifestConfigMap, withLeader } from "./ledger-manifest.ts";
import { LEDGER, LEDGER_LABEL } from "./segment.ts";
import type { WithTimeout } from "./soft-object.ts";

/** A leader that still commits, or another candidate, may be faster a few times. */
const TRIES = 50;
const RETRY_DELAY_MS = 20;

export interface TakeOverDeps {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly clock: Clock;
  readonly withTimeout: WithTimeout;
  readonly candidate: Candidate;
  /** What a ledger begins with that was never there. */
  readonly firstContent: () => Content;
}

export interface TakenLedger {
  readonly object: ConfigMap;
  readonly content: Content;
}

/**
 * Makes this process the leader by writing the manifest. From then on the API server refuses writes of the previous
 * leader. The ledger is read afterwards, so it is complete.
 */
export async function takeOver(deps: TakeOverDeps): Promise<TakenLedger> {
  const { client, namespace, clock, withTimeout, candidate } = deps;
  for (let left = TRIES; left > 0; left--) {
    const found = await withTimeout((signal) =>
      client.find(CONFIG_MAPS, { name: LEDGER, namespace }, { signal }),
    );
    const content = withLeader(
      found === undefined ? await initialContent(deps) : contentIn(found),
      candidate,
    );
    const next = manifestConfigMap(found, namespace, content);
    try {
      const object = await withTimeout((signal) =>
        found === undefined
          ? client.create(CONFIG_MAPS, next, { signal })
          : client.update(CONFIG_MAPS, next, { signal }),
      );
      return { object, content };
    } catch (error) {
      const hasNoNamespace = found === undefined && isCode(error, "not-found");
      if (writeFailureKind(error) !== "conflict" || hasNoNamespace) throw kubernetesFailure(error);
    }
    await wait(RETRY_DELAY_MS, { clock, signal: undefined });
  }
  throw new StoreFailure("not-committed", `somebody keeps changing ConfigMap ${namespace}/${LEDGER}`);
}

/** If segments exist without a manifest, a new ledger must not start: it would grant reserved capacity again. */
async function initialContent({ client, namespace, firstContent }: TakeOverDeps): Promise<Content> {
  let segments = 0;
  await client.list(CONFIG_MAPS, { namespace, labelSelector: `${LEDGER_LABEL}=page`, pageSize: 50 }, () => {
    segments++;
  });
  if (segments === 0) return firstContent();
  const selector = `-l ${LEDGER_LABEL}`;
  throw new StoreFailure(
    "corrupt",
    `ConfigMap ${namespace}/${LEDGER} is missing, but ${segments} segments of its ledger exist; restore it from a backup, ` +
      `or give the ledger up: kubectl -n ${namespace} delete configmaps ${selector}`,
  );
}
