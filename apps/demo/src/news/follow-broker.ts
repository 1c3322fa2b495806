import {
  advertisementPageSchema,
  type AdvertisementDTO,
  type AuditEntryDTO,
  auditPageSchema,
  decisionSchema,
  describeProblems,
  HEADER,
  LIMIT,
  PATH,
  type Schema,
  validate,
} from "@resource-broker/contract";
import type { BrokerClient, BrokerReply } from "@resource-broker/testkit";
import { auditEvent, decisionIn } from "./audit-news.ts";
import { clusterState } from "./cluster-state.ts";
import { decisionNews } from "./decision-news.ts";
import type { ClusterState, Tell } from "./news.ts";

export interface FollowBrokerDeps {
  readonly admin: Pick<BrokerClient, "request">;
  /** False: the agent of that cluster has ended. */
  readonly hasAgent: (cluster: string) => boolean;
  readonly tell: Tell;
}

/** Looks at everything the broker knows, and tells what is new since the last look. Rejects when it does not answer. */
export function followBroker({ admin, hasAgent, tell }: FollowBrokerDeps): () => Promise<void> {
  const told = new Map<string, string>();
  const cordoned = new Set<string>();
  let ledger: string | undefined;
  let seen = 0;

  const ask = async <T>(path: string, schema: Schema<T>): Promise<T> => {
    const reply = await admin.request("GET", path);
    const checked = validate(schema, reply.body);
    if (reply.status === 200 && checked.ok) {
      noticeLedger(reply);
      return checked.value;
    }
    throw new Error(problemIn(reply) ?? (checked.ok ? `status ${reply.status}` : describeProblems(checked.problems)));
  };

  /** A broker with another ledger counts its entries from the beginning. */
  const noticeLedger = ({ headers }: BrokerReply): void => {
    const current = String(headers[HEADER.ledgerId.toLowerCase()]);
    if (ledger !== undefined && current !== ledger) seen = 0;
    ledger = current;
  };

  const tellOnce = (cluster: ClusterState): void => {
    const text = JSON.stringify(cluster);
    if (told.get(cluster.name) === text) return;
    told.set(cluster.name, text);
    tell({ kind: "cluster", cluster });
  };

  const stateOf = (name: string): ClusterState["state"] => {
    if (!hasAgent(name)) return "down";
    return cordoned.has(name) ? "cordoned" : "ready";
  };

  const clusters = async (): Promise<void> => {
    for await (const advertisement of pagesOf<AdvertisementDTO>(
      (after) => ask(pageOf(PATH.advertisements, after), advertisementPageSchema),
      "",
    )) {
      tellOnce(clusterState(advertisement, stateOf(advertisement.clusterID)));
    }
  };

  const entry = async (line: AuditEntryDTO): Promise<void> => {
    const { action, subject = "" } = line;
    if (action === "cordon") cordoned.add(subject);
    if (action === "uncordon") cordoned.delete(subject);
    const decision = decisionIn(line);
    // Old decisions are forgotten in time; the line stays.
    const found = decision === undefined ? undefined : await ask(PATH.decision(decision), decisionSchema).catch(() => undefined);
    if (found !== undefined) tell({ kind: "decision", decision: decisionNews(found) });
    tell({ kind: "event", event: auditEvent(line) });
  };

  return async () => {
    const lines = pagesOf<AuditEntryDTO>((after) => ask(pageOf(PATH.audit, after), auditPageSchema), String(seen));
    for await (const line of lines) {
      await entry(line);
      seen = line.sequence;
    }
    await clusters();
  };
}

interface PageOf<T> {
  readonly items: readonly T[];
  readonly next?: string;
}

async function* pagesOf<T>(read: (after: string) => Promise<PageOf<T>>, first: string): AsyncGenerator<T> {
  let after: string | undefined = first;
  while (after !== undefined) {
    const page: PageOf<T> = await read(after);
    yield* page.items;
    after = page.next;
  }
}

function pageOf(path: string, after: string): string {
  return `${path}?${new URLSearchParams({ limit: String(LIMIT.pageMax), after }).toString()}`;
}

function problemIn({ body }: BrokerReply): string | undefined {
  return typeof body === "object" && body !== null && "error" in body ? String(body.error) : undefined;
}
