import {
  type Answer,
  advertisementPages,
  auditPages,
  type CallSender,
  decisionCall,
  readAll,
} from "@resource-broker/client";
import { type AuditEntryDTO, HEADER } from "@resource-broker/contract";
import { clusterState } from "./cluster-state.ts";
import { decisionUpdate } from "./decision-update.ts";
import { type ClusterState, type EventUpdate, type OnUpdate, startingCluster } from "./update.ts";

const DECISION = /^(?<text>.*) Decision (?<id>dec-[a-z0-9-]+)\.$/s;

/** Of a kept ledger only the last entries are shown. */
const MOST_HISTORY = 30;

export interface FollowBrokerDeps {
  readonly names: readonly string[];
  readonly admin: CallSender;
  /** What is known of a cluster's agent, whatever it once advertised. */
  readonly agentOf: (cluster: string) => "starting" | "ready" | "down";
  readonly onUpdate: OnUpdate;
}

/**
 * Reads the broker's state and publishes what has changed since the last poll. Resolves with true when every cluster
 * is ready or has failed. Rejects when the broker does not answer.
 */
export function followBroker({ names, admin, agentOf, onUpdate }: FollowBrokerDeps): () => Promise<boolean> {
  const published = new Map<string, string>();
  const awaited = new Set(names);
  const cordoned = new Set<string>();
  let ledger: string | undefined;
  let seen = 0;
  let isFirstLook = true;

  const request: CallSender["request"] = async (call) => {
    const answer = await admin.request(call);
    checkLedger(answer);
    return answer;
  };

  /** A broker with another ledger counts its entries from the beginning. */
  const checkLedger = ({ headers }: Answer<unknown>): void => {
    const current = String(headers[HEADER.ledgerId.toLowerCase()]);
    if (ledger !== undefined && current !== ledger) seen = 0;
    ledger = current;
  };

  const publishCluster = (cluster: ClusterState): void => {
    const text = JSON.stringify(cluster);
    if (published.get(cluster.name) === text) return;
    published.set(cluster.name, text);
    if (cluster.state !== "starting") awaited.delete(cluster.name);
    onUpdate({ kind: "cluster", cluster });
  };

  const stateOf = (name: string): ClusterState["state"] => {
    const agent = agentOf(name);
    return agent === "ready" && cordoned.has(name) ? "cordoned" : agent;
  };

  const clusters = async (): Promise<void> => {
    const advertised = new Set<string>();
    for (const advertisement of await readAll({ request }, advertisementPages())) {
      publishCluster(clusterState(advertisement, stateOf(advertisement.clusterID)));
      advertised.add(advertisement.clusterID);
    }
    for (const name of names) {
      if (!advertised.has(name) && agentOf(name) === "down")
        publishCluster({ ...startingCluster(name), state: "down" });
    }
  };

  const publishDecision = async (id: string): Promise<void> => {
    // Old decisions are forgotten in time; the line about them stays.
    const found = await request(decisionCall(id)).catch(() => undefined);
    if (found !== undefined) onUpdate({ kind: "decision", decision: decisionUpdate(found.value) });
  };

  const trackCordon = ({ action, subject = "" }: AuditEntryDTO): void => {
    if (action === "cordon") cordoned.add(subject);
    if (action === "uncordon") cordoned.delete(subject);
  };

  const history = async (): Promise<void> => {
    const lines = await readAll({ request }, auditPages(seen));
    for (const line of lines) trackCordon(line);
    for (const line of isFirstLook ? lines.slice(-MOST_HISTORY) : lines) {
      const decision = decisionIdOf(line);
      if (decision !== undefined) await publishDecision(decision);
      onUpdate({ kind: "event", event: auditEvent(line) });
    }
    seen = lines.at(-1)?.sequence ?? seen;
    isFirstLook = false;
  };

  return async () => {
    await history();
    await clusters();
    return awaited.size === 0;
  };
}

/** The decision that an entry is about, if it is about one. */
function decisionIdOf({ subject = "", message }: AuditEntryDTO): string | undefined {
  return subject.startsWith("dec-") ? subject : DECISION.exec(message)?.groups?.["id"];
}

/** The update for a line of the audit log. */
function auditEvent({ at, actor, action, subject = "", message }: AuditEntryDTO): EventUpdate {
  const decided = DECISION.exec(message)?.groups?.["text"];
  const isRefusal = subject.startsWith("dec-");
  const about = subject === "" || isRefusal ? "" : `${subject}: `;
  return {
    at,
    source: actor,
    level: isRefusal ? "warn" : "info",
    text: decided ?? `${about}${message === "" ? action : message}`,
  };
}
