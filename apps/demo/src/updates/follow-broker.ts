import { parseAmount } from "@resource-broker/base";
import {
  type Answer,
  advertisementPages,
  auditPages,
  type CallSender,
  decisionCall,
  readAll,
} from "@resource-broker/client";
import {
  type AdvertisementDTO,
  type AuditEntryDTO,
  type DecisionDTO,
  HEADER,
  type SomeQuantitiesDTO,
} from "@resource-broker/contract";
import { REGION_LABEL } from "@resource-broker/domain";
import { priceText } from "../text.ts";
import {
  type ClusterState,
  type DecisionUpdate,
  type EventUpdate,
  type OnUpdate,
  type ResourceShare,
  startingCluster,
} from "./update.ts";

type Candidate = DecisionDTO["candidates"][number];

/** What each scorer's lead means to a person. */
const ADVANTAGES: Readonly<Record<string, string>> = { resources: "more room left", cost: "cheaper" };

/** What was decided and why, in two sentences. */
export function decisionUpdate(decision: DecisionDTO): DecisionUpdate {
  const { id, at, requesterID, winner, currency, candidates } = decision;
  const [headline = ""] = decision.explanation.split("\n");
  const price = candidates.find(({ clusterID }) => clusterID === winner)?.price;
  return {
    id,
    at,
    requester: requesterID,
    winner,
    headline,
    why: winner === undefined ? whyRefused(decision) : whyGranted(decision, winner),
    price: price === undefined ? undefined : priceText({ perHour: price, currency }),
  };
}

function whyGranted({ candidates, fitted, considered }: DecisionDTO, winner: string): string {
  const best = candidates.find(({ clusterID }) => clusterID === winner);
  const second = candidates.find(({ clusterID, score }) => clusterID !== winner && score !== undefined);
  const others = passedOver(candidates);
  if (best === undefined || second === undefined)
    return `the only one of ${considered} that fits${others === "" ? "" : `: ${others}`}`;
  const names = advantages(best, second);
  const lead = names.length === 0 ? "ranks higher" : names.join(" and ");
  return `${lead} than ${second.clusterID} (${shown(best.score)} to ${shown(second.score)}); ${fitted} of ${considered} fit`;
}

/** What would turn the refusal is what a person wants to know first; then who lacked what. */
function whyRefused({ candidates, flip }: DecisionDTO): string {
  const others = passedOver(candidates);
  return [...(flip === undefined ? [] : [flip]), others].filter((part) => part !== "").join(" ");
}

function passedOver(candidates: readonly Candidate[]): string {
  return candidates
    .filter(({ reason }) => reason !== undefined && reason !== "self")
    .map(({ clusterID, message }) => `${clusterID} ${message ?? ""}`.trimEnd())
    .join(", ");
}

function advantages({ parts: best = {} }: Candidate, { parts: second = {} }: Candidate): string[] {
  return Object.keys(best)
    .filter((name) => (best[name] ?? 0) > (second[name] ?? 0))
    .map((name) => ADVANTAGES[name] ?? `better ${name}`);
}

function shown(score: number | undefined): string {
  return (score ?? 0).toFixed(2);
}

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
    if (action === "cordon" || action === "drain") cordoned.add(subject);
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

type Resource = "cpu" | "memory" | "gpu";

/** A cluster as the broker sees it. */
function clusterState(
  { clusterID, resources, labels, cost }: AdvertisementDTO,
  state: ClusterState["state"],
): ClusterState {
  const share = (name: Resource): ResourceShare => {
    const amount = (part: "allocatable" | "allocated" | "reserved" | "available"): number =>
      amountIn(resources[part], name);
    return {
      all: amount("allocatable"),
      inUse: amount("allocated"),
      lent: amount("reserved"),
      // An overcommitted cluster has nothing free; the value is not negative.
      free: Math.max(0, amount("available")),
    };
  };
  return {
    name: clusterID,
    state,
    region: labels?.[REGION_LABEL],
    cpuMillis: share("cpu"),
    memoryBytes: share("memory"),
    gpus: share("gpu"),
    cpuPrice: cost?.cpuCost,
    currency: cost?.currency,
  };
}

function amountIn(quantities: SomeQuantitiesDTO | undefined, name: Resource): number {
  const text = quantities?.[name];
  if (text === undefined) return 0;
  const parsed = parseAmount(text, { unit: name === "cpu" ? "milli" : "one", rounding: "down" });
  return parsed.ok ? parsed.amount : 0;
}
