import { X509Certificate } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Fault } from "@resource-broker/base";
import { PATH } from "@resource-broker/contract";
import type { PolicyDTO } from "@resource-broker/contract/testing";
import {
  type AgentProcess,
  type BrokerProcess,
  commonName,
  type Credentials,
  makeKeys,
  type TestCertificates,
  testCertificates,
} from "@resource-broker/testkit";
import type { Context } from "../../evaluation-test.ts";
import { inParallel } from "../../measure/async.ts";
import { type Connection, getText, openConnection } from "../../measure/load/connection.ts";
import { startMeasuredAgent, startMeasuredBroker } from "../../measure/start-programs.ts";

/** One to ask and one to lend. */
const LEAST = 2;

/**
 * The clusters that a broker of somebody else knows: one folder each, with tls.crt, tls.key and ca.crt as cert-manager writes
 * them. The Common Name is the cluster's ID, whatever the folder is called.
 */
export async function readBaselineCertificates(folder: string): Promise<Identity[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    throw new Fault("invalid", `--baseline-certs ${folder}: there is no such folder`, { cause });
  });
  const names = entries.filter((entry) => !entry.isFile()).map(({ name }) => name);
  const identities = await Promise.all(names.toSorted().map((name) => readIdentity(join(folder, name))));
  if (identities.length < LEAST) {
    throw new Fault(
      "invalid",
      `--baseline-certs ${folder}: needs a folder with tls.crt, tls.key and ca.crt for each of at least ${LEAST} clusters; found ${identities.length}`,
    );
  }
  return identities;
}

async function readIdentity(folder: string): Promise<Identity> {
  const read = (name: string): Promise<string> =>
    readFile(join(folder, name), "utf8").catch((cause: unknown) => {
      throw new Fault("invalid", `--baseline-certs: ${join(folder, name)} cannot be read`, { cause });
    });
  const [cert, key, ca] = await Promise.all([read("tls.crt"), read("tls.key"), read("ca.crt")]);
  const clusterId = /^CN=(.+)$/m.exec(new X509Certificate(cert).subject)?.[1];
  if (clusterId === undefined)
    throw new Fault("invalid", `--baseline-certs: the certificate in ${folder} has no Common Name`);
  return { clusterId, credentials: { cert, key, ca } };
}

const HTTPS_PORT = 443;
const BASELINE_SETTLES_MS = 10_000;
/** Handshakes under way: enough to keep the broker busy, few enough that none waits until it is given up. */
const AT_ONCE = 16;

/** The broker that is driven: ours, or one that somebody else runs. */
export interface Subject {
  /** How its series are labelled. */
  readonly label: string;
  readonly host: string;
  readonly port: number;
  /** Ours alone: what only the newer calls and our own process can tell. */
  readonly broker?: BrokerProcess;
  /** So many clusters, always the same ones. Somebody else's broker may know fewer: then they come again. */
  readonly identities: (count: number) => readonly Identity[];
  /**
   * How long clusters that have just advertised are left alone before they are asked. Somebody else's broker may count a
   * cluster only seconds after its first advertisement, and nothing tells when.
   */
  readonly settleMs: number;
}

export interface OwnSubject extends Subject {
  readonly broker: BrokerProcess;
  readonly identity: (clusterId: string) => Identity;
}

export function openSubject(context: Context): Promise<Subject> {
  return context.baseline === undefined ? openOwn(context) : baselineSubject(context.baseline);
}

/** Clients of a test advertise once, on a slow machine minutes before they are asked; and few clusters stand for many. */
const LENIENT: PolicyDTO = {
  version: "patient",
  staleness: "24h",
  defaultQuota: { reservations: 100_000 },
};

interface OwnOptions {
  /** Of its folder: one for each, where a test has several. */
  readonly name?: string;
  /** Absent: the built-in one, but for the age of advertisements and the number of reservations of one requester. */
  readonly policy?: PolicyDTO;
}

/** Ours, started for the test. */
export async function openOwn(context: Context, options: OwnOptions = {}): Promise<OwnSubject> {
  const { name = "broker", policy = LENIENT } = options;
  const certificates = await testCertificates();
  const directory = join(context.folder, name);
  const broker = await startMeasuredBroker(context, { certificates, policy, directory });
  const identity = identitiesFrom(certificates);
  const made: Identity[] = [];
  return {
    label: "this system",
    settleMs: 0,
    host: "127.0.0.1",
    port: broker.port,
    broker,
    identity,
    identities: (count) => {
      while (made.length < count) made.push(identity(`cluster-${made.length}`));
      return made.slice(0, count);
    },
  };
}

/** One pair of keys for all: making them would take longer than the handshakes. */
export function identitiesFrom(certificates: TestCertificates): (clusterId: string) => Identity {
  const keys = makeKeys();
  return (clusterId) => ({
    clusterId,
    credentials: certificates.leaf({ subject: [commonName(clusterId)], keys }),
  });
}

/** A real agent that works with this broker. */
export function startAgentOf(
  context: Context,
  { host, port }: Subject,
  { clusterId, credentials, kubeconfig }: Identity & { readonly kubeconfig: string },
): Promise<AgentProcess> {
  return startMeasuredAgent(context, {
    clusterId,
    broker: { port },
    certificates: { cluster: () => credentials },
    kubeconfig,
    flags: [`--broker-url=https://${host}:${port}`],
  });
}

interface Connecting {
  readonly subject: Subject;
  readonly identities: readonly Identity[];
  /** What each says as soon as it is connected. Absent: it asks for its instructions, which changes nothing. */
  readonly begin?: (connection: Connection) => Promise<unknown>;
}

/**
 * One connection for each, in the same order, until the context ends. Each says something at once: brokers close those
 * that stay silent.
 */
export async function connectAll(
  { onCleanup }: Pick<Context, "onCleanup">,
  { subject, identities, begin = (connection) => connection.send(getText(PATH.instructions)) }: Connecting,
): Promise<Connection[]> {
  const { host, port } = subject;
  const connections: Connection[] = [];
  await inParallel({ count: identities.length, atOnce: AT_ONCE }, async (at) => {
    const connection = await openConnection({ ...itemAt(identities, at), host, port });
    connections[at] = connection;
    onCleanup(connection.close);
    await begin(connection);
  });
  return connections;
}

const KEEP_ALIVE_MS = 2000;

/** Waits until the broker counts clusters that have just advertised. Brokers close connections that stay silent. */
export async function settle(
  { settleMs }: Pick<Subject, "settleMs">,
  connections: readonly Connection[],
  signal: AbortSignal,
): Promise<void> {
  for (let leftMs = settleMs; leftMs > 0; leftMs -= KEEP_ALIVE_MS) {
    await sleep(Math.min(KEEP_ALIVE_MS, leftMs), undefined, { signal });
    await Promise.all(connections.map((each) => each.send(getText(PATH.instructions))));
  }
}

async function baselineSubject({ url, certificates }: NonNullable<Context["baseline"]>): Promise<Subject> {
  const known = await readBaselineCertificates(certificates);
  const { hostname, port } = new URL(url);
  return {
    label: "baseline",
    settleMs: BASELINE_SETTLES_MS,
    host: hostname,
    port: port === "" ? HTTPS_PORT : Number(port),
    identities: (count) => Array.from({ length: count }, (_, at) => itemAt(known, at % known.length)),
  };
}

function itemAt<T>(list: readonly T[], at: number): T {
  const item = list[at];
  if (item === undefined) throw new RangeError(`there is no item ${at}`);
  return item;
}

/** A cluster as a broker knows it. */
export interface Identity {
  readonly clusterId: string;
  readonly credentials: Pick<Credentials, "cert" | "key" | "ca">;
}
