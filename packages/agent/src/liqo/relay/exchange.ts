import { toFault } from "@resource-broker/base";
import { LIMIT, type Statement } from "@resource-broker/contract";
import { type ReconcileResult, reconcileLoop, type ReflectorDeps } from "@resource-broker/kube";
import { isFault } from "../../faults.ts";
import type { AgentIdentity } from "../../identity/agent-identity.ts";
import type { BrokerCommunicator } from "../../transport/broker-communicator.ts";
import type { Obstacle } from "../requester/steps.ts";
import type { PeerPins, Pin } from "./peer-pins.ts";
import { contentOf, isEmpty, isPinned, nextGeneration, peerTable, seenOf } from "./peer-table.ts";
import {
  judgeStatement,
  type Party,
  type ProviderShare,
  RESEND_MS,
  type RequesterShare,
  readStatement,
  type StatementVerdict,
  signStatement,
} from "./statement.ts";

export interface ExchangeOptions {
  readonly clusterId: string;
  /** `--peer-fingerprints`, by cluster ID. */
  readonly fingerprints: ReadonlyMap<string, string>;
  readonly warmPeers: ReadonlySet<string>;
}

export interface ExchangeDeps extends Pick<ReflectorDeps, "clock" | "random" | "log"> {
  readonly identity: AgentIdentity;
  readonly communicator: Pick<BrokerCommunicator, "putStatement">;
  readonly pins: PeerPins;
  /** This cluster's ID in Liqo; undefined: not known yet. */
  readonly ownLiqoId: () => string | undefined;
  /** The broker's time; undefined: it has not answered yet. */
  readonly now: () => number | undefined;
  /** True: the agent itself knows a reason to talk to this cluster. Statements of others are kept, and not read. */
  readonly isExpected: (clusterId: string) => boolean;
  /** True: there is a Tenant or an Identity of this cluster, or of this Liqo ID. Throws where the agent may not look. */
  readonly hasPeering: (peer: Party) => Promise<boolean>;
  /** Called when the peer says something new, or something is wrong with what it says. */
  readonly onHeard: (clusterId: string) => void;
  readonly onObstacle: (clusterId: string, obstacle: Obstacle) => void;
}

interface Judgement {
  readonly verdict: StatementVerdict;
  /** The pin that it was judged by. */
  readonly pin: Pin | undefined;
}

export type StatementExchange = ReturnType<typeof statementExchange>;

const NOT_READY_MS = 500;
/** The broker passes statements on while the two share a reservation. */
const REFUSED_RETRY_MS = 10_000;
const RIGHTS_REMEDY = "apply deploy/rbac/agent-relay.yaml";

/**
 * Sends this cluster's statements and checks those of others. One statement per peer and direction, replaced as a
 * whole: loss, repetition and reordering make no difference.
 */
export function statementExchange(options: ExchangeOptions, deps: ExchangeDeps) {
  const { identity, communicator, pins, now, log } = deps;
  const peers = peerTable(deps.isExpected);
  const peerOf = peers.of;

  const send = async (clusterId: string): Promise<ReconcileResult> => {
    const peer = peerOf(clusterId);
    const [liqoId, at, { own }] = [deps.ownLiqoId(), now(), peer];
    if (own === undefined) return {};
    if (liqoId === undefined || at === undefined) return { requeueAfterMs: NOT_READY_MS };
    const pin = await pins.of(clusterId);
    const generation = nextGeneration(peer, at);
    const jws = signStatement({ clusterId: options.clusterId, liqoId }, identity, {
      to: own.to,
      toKey: pin?.key,
      generation,
      now: at,
      seen: seenOf(peer, pin),
      isWarm: options.warmPeers.has(clusterId),
      requester: own.requester,
      provider: own.provider,
    });
    peer.sentGeneration = generation;
    if (!isEmpty(own)) return await put(clusterId, jws);
    if (peer.own === own) delete peer.own;
    await put(clusterId, jws);
    return {};
  };
  const put = async (clusterId: string, jws: string): Promise<ReconcileResult> => {
    const peer = peerOf(clusterId);
    try {
      await communicator.putStatement(clusterId, jws);
      delete peer.refusal;
      return { requeueAfterMs: RESEND_MS };
    } catch (error) {
      const { message } = toFault(error);
      const isNew = peer.refusal !== message;
      peer.refusal = message;
      if (!isFault(error, "forbidden", "wrong-instance")) throw error;
      if (isNew) log.warn({ peer: clusterId, message }, "the broker does not pass a statement on");
      return { requeueAfterMs: REFUSED_RETRY_MS };
    }
  };

  const receive = async (clusterId: string): Promise<ReconcileResult> => {
    const [jws, liqoId, at] = [peers.find(clusterId)?.received, deps.ownLiqoId(), now()];
    if (jws === undefined || !deps.isExpected(clusterId)) return {};
    if (liqoId === undefined || at === undefined) return { requeueAfterMs: NOT_READY_MS };
    const statement = readStatement(jws, clusterId, options.clusterId);
    if (statement === undefined) {
      const message = `what the broker passes on as a statement of ${clusterId} is none that it has signed`;
      report(clusterId, { reason: "StatementForged", message });
      return {};
    }
    try {
      const judgement = await judge(statement, { clusterId: options.clusterId, liqoId }, at);
      await settle(statement, judgement);
      // A person may accept a key or a Liqo ID meanwhile.
      return judgement.verdict.kind === "refused" ? { requeueAfterMs: REFUSED_RETRY_MS } : {};
    } catch (error) {
      if (!isFault(error, "forbidden")) throw error;
      // What cannot be checked does not count: without the right, a lost pin would look like a first contact.
      const message = `the statement of ${clusterId} cannot be checked: ${error.message}; ${RIGHTS_REMEDY}`;
      report(clusterId, { reason: "Forbidden", message });
      return { requeueAfterMs: REFUSED_RETRY_MS };
    }
  };
  const settle = async (statement: Statement, { verdict, pin }: Judgement): Promise<void> => {
    if (verdict.kind === "refused") refuse(statement, verdict.obstacle);
    if (verdict.kind === "old" && verdict.isBehind) answerOld(statement);
    if (verdict.kind === "accepted") await accept(statement, pin);
  };
  /** It was started anew, or this agent was, and the broker's clock was ahead before: the two tell each other how far they were. */
  const answerOld = ({ from: clusterId, fromLiqoID: liqoId, seen }: Statement): void => {
    const peer = peerOf(clusterId);
    if (peer.own === undefined) sends.enqueue(clusterId);
    peer.own ??= { to: { clusterId, liqoId } };
    noteSeen(clusterId, seen);
  };
  const noteSeen = (clusterId: string, seen = 0): void => {
    const peer = peerOf(clusterId);
    if (seen <= Math.max(peer.seen ?? 0, peer.sentGeneration ?? 0)) return;
    peer.seen = seen;
    sends.enqueue(clusterId);
  };

  const judge = async (statement: Statement, own: Party, at: number): Promise<Judgement> => {
    const { from, fromLiqoID } = statement;
    const found = await pins.of(from);
    const isKnown = isPinned(statement, found);
    const hasPeering = !isKnown && (await deps.hasPeering({ clusterId: from, liqoId: fromLiqoID }));
    // What is missing is made, so that the command that accepts a key stays the same.
    const pin = found ?? (hasPeering ? await pins.change(from, {}) : undefined);
    const owners = isKnown ? new Map<string, string>() : await pins.owners();
    const verdict = judgeStatement(statement, {
      own: { ...own, key: identity.key.id },
      now: at,
      pin,
      fingerprint: options.fingerprints.get(from),
      authorities: identity.authorities(),
      ownerOf: (id) => owners.get(id),
      hasPeering,
      namespace: pins.namespace,
    });
    return { verdict, pin };
  };

  const refuse = ({ from: clusterId, fromLiqoID: liqoId }: Statement, obstacle: Obstacle): void => {
    report(clusterId, obstacle);
    // Its people learn of the new key by a statement that is signed with it.
    if (obstacle.reason === "PeerHasOtherKey" && peerOf(clusterId).own === undefined)
      state({ clusterId, liqoId }, { provider: { state: "none" } });
  };

  /** The pin is written before the statement has any effect: a replay after a restart must not undo it. */
  const accept = async (statement: Statement, pin: Pin | undefined): Promise<void> => {
    const { from: clusterId, fromKey: key, fromLiqoID, generation } = statement;
    const peer = peerOf(clusterId);
    if ((peer.heard?.generation ?? 0) >= generation) return tell(clusterId, false);
    const isNew = peer.heard === undefined || contentOf(peer.heard) !== contentOf(statement);
    if (!isPinned(statement, pin)) {
      await pins.pinKey(clusterId, pin, { key, liqoId: fromLiqoID, generation });
      log.info({ peer: clusterId, liqoId: fromLiqoID }, "the identity key of a peer is pinned");
      sends.enqueue(clusterId);
    } else if (isNew) await pins.change(clusterId, { generation });
    peer.heard = statement;
    noteSeen(clusterId, statement.seen);
    tell(clusterId, isNew);
  };
  /** What was wrong with other statements of this peer is over. */
  const tell = (clusterId: string, isNew: boolean): void => {
    const peer = peerOf(clusterId);
    const hadObstacle = peer.obstacle !== undefined;
    delete peer.obstacle;
    if (isNew || hadObstacle) deps.onHeard(clusterId);
  };

  const report = (clusterId: string, obstacle: Obstacle): void => {
    const peer = peerOf(clusterId);
    if (peer.obstacle?.message === obstacle.message) return;
    peer.obstacle = obstacle;
    log.warn({ peer: clusterId, ...obstacle }, "a statement of a peer is refused");
    deps.onObstacle(clusterId, obstacle);
    deps.onHeard(clusterId);
  };

  const sends = reconcileLoop({ name: "statements", concurrency: 4, reconcile: send }, deps);
  // One at a time: two clusters that claim one Liqo ID must not both find that nobody has it.
  const receipts = reconcileLoop({ name: "peers' statements", concurrency: 1, reconcile: receive }, deps);

  /** Replaces one half of what this cluster states to a peer. Undefined: nothing, any more. */
  const state = (
    to: Party,
    half:
      | { readonly requester: RequesterShare | undefined }
      | { readonly provider: ProviderShare | undefined },
  ): void => {
    const peer = peerOf(to.clusterId);
    const after = { ...peer.own, to, ...half };
    if (isEmpty(after)) {
      delete peer.own;
      return;
    }
    if (JSON.stringify(after) === JSON.stringify(peer.own)) return;
    peer.own = after;
    sends.enqueue(to.clusterId);
  };

  return {
    state,
    /** The peer's newest statement, while it counts. */
    heard: (clusterId: string): Statement | undefined => {
      const heard = peers.find(clusterId)?.heard;
      return heard === undefined || heard.expires <= (now() ?? 0) ? undefined : heard;
    },
    /** Why nothing of this peer counts, or ours does not reach it. */
    obstacle: (clusterId: string): Obstacle | undefined => {
      const { obstacle, refusal } = peers.find(clusterId) ?? {};
      if (obstacle !== undefined) return obstacle;
      return refusal === undefined ? undefined : { reason: "StatementRefused", message: refusal };
    },
    receive: (from: string, jws: string): void => {
      if (jws.length > LIMIT.statementBytes) return;
      if (!peers.hasRoomFor(from)) return;
      peerOf(from).received = jws;
      receipts.enqueue(from);
    },
    /** Something that was not expected may be now, or a person has changed a pin. */
    lookAgain: (clusterId: string): void => receipts.enqueue(clusterId),
    /** The broker keeps statements in memory: after an outage everything is sent again. */
    resend: (): void => {
      for (const [clusterId, { own }] of peers.all()) if (own !== undefined) sends.enqueue(clusterId);
    },
    stop: async (): Promise<void> => {
      await Promise.all([sends.stop(), receipts.stop()]);
    },
  };
}
