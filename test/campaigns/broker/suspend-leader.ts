import { rm, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { PATH, type ReservationDTO, reservationListSchema, validate } from "@resource-broker/contract";
import {
  type BrokerClient,
  type BrokerProcess,
  type BrokerReply,
  brokerClient,
  type Replicas,
  type TestCertificates,
} from "@resource-broker/testkit";

/** Enough for what was sent to lie in the sockets of a process that does not read. */
const SENT_WITHIN_MS = 100;
const FIRST = `${PATH.reservations}?limit=1`;

export interface Suspension {
  readonly replicas: Replicas;
  readonly certificates: TestCertificates;
  /** While this file is there, the clocks of stopped replicas stand still (suspended-clock.ts). */
  readonly switchFile: string;
}

/** Something that a leader answers from memory. */
interface Question {
  readonly name: string;
  readonly ask: () => Promise<BrokerReply>;
}

/**
 * Stops a leader with its monotonic clock until another one leads, and asks it over connections that it has: the answers are
 * the first thing it does when it goes on. A process that was replaced never leads again, so whatever it tells of the
 * ledger is of the past.
 */
export async function suspendLeader(
  { replicas, certificates, switchFile }: Suspension,
  leader: BrokerProcess,
): Promise<{ readonly what: string; readonly problems: readonly string[] }> {
  const { pid } = leader;
  if (pid === undefined) return { what: "leader gone before it could be suspended", problems: [] };
  const clients: BrokerClient[] = [];
  const connect = (clusterId: string, credentials: ReturnType<TestCertificates["cluster"]>): BrokerClient => {
    const client = brokerClient({ clusterId, credentials, port: leader.port });
    clients.push(client);
    return client;
  };
  try {
    const admin = connect("admin", certificates.admin("admin"));
    // One that does not answer any more is about to be replaced, and is not asked.
    const questions = await questionsTo(admin, (id) => connect(id, certificates.cluster(id))).catch(() => []);
    await writeFile(switchFile, "");
    process.kill(pid, "SIGSTOP");
    let replies: Promise<PromiseSettledResult<string[]>[]>;
    try {
      await replicas.leader();
      replies = Promise.allSettled(questions.map(wrongReply));
      await sleep(SENT_WITHIN_MS);
    } finally {
      if (leader.pid === pid) process.kill(pid, "SIGCONT");
    }
    // Whoever did not answer has told nothing wrong.
    const problems = (await replies).flatMap((each) => (each.status === "fulfilled" ? each.value : []));
    return { what: `leader suspended until it was replaced, asked for ${namesOf(questions)}`, problems };
  } finally {
    await rm(switchFile, { force: true });
    for (const client of clients) client.close();
  }
}

/** Each is asked once, so that its connection is open. */
async function questionsTo(
  admin: BrokerClient,
  connect: (clusterId: string) => BrokerClient,
): Promise<Question[]> {
  const list: Question = { name: "a list", ask: () => admin.request("GET", FIRST) };
  const anybodys = firstIn(await list.ask());
  if (anybodys === undefined) return [list];
  const requester = connect(anybodys.requesterID);
  // Only whoever has chosen a key is told it.
  const own = firstIn(await requester.request("GET", `${FIRST}&role=requester`));
  if (own?.key === undefined) return [list];
  const { key, requestedResources } = own;
  const replay: Question = {
    name: "a replay",
    ask: () => requester.request("POST", PATH.reservations, { key, body: { requestedResources } }),
  };
  await replay.ask();
  return [list, replay];
}

function firstIn({ body }: BrokerReply): ReservationDTO | undefined {
  const read = validate(reservationListSchema, body);
  return read.ok ? read.value[0] : undefined;
}

async function wrongReply({ name, ask }: Question): Promise<string[]> {
  const { status, body } = await ask();
  const isTurnedAway = status === 503 || status === 429;
  if (isTurnedAway) return [];
  return [`a leader that was suspended and replaced answers ${name}: ${status} ${JSON.stringify(body)}`];
}

function namesOf(questions: readonly Question[]): string {
  return questions.map(({ name }) => name).join(" and ") || "nothing";
}
