import type { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import { reservationPages } from "@resource-broker/client";
import { HEADER, PROTOCOL_VERSION } from "@resource-broker/contract";
import { certificateFacts, readCertificates } from "../certs/certificate-facts.ts";
import type { Host } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import { type ClusterView, clusterViews, listClusters, readCluster } from "../clusters/cluster-view.ts";
import { type Broker, withBroker } from "../connection/broker.ts";
import { connectionError } from "../connection/failures.ts";
import { type Credentials, readCredentials } from "../connection/credentials.ts";
import { type ConnectionOptions, findBroker } from "../connection/find-broker.ts";
import { age, when } from "../output/text.ts";
import { checked, failed, type Finding, type Found, ok, skipped, warning } from "./finding.ts";

/** Agents and the broker compare times in seconds; a larger difference means an unsynchronized clock. */
const SKEW_LIMIT_MS = 30_000;
const FEW = 8;
const NO_CONNECTION: Found = skipped("not checked: there is no connection");
const NOT_ASKED: Found = skipped("not checked: the broker did not answer");

/** Everything between here and the broker, in the order in which it is needed. */
export async function checkBroker(options: ConnectionOptions, host: Host): Promise<readonly Finding[]> {
  let credentials: Credentials | undefined;
  const certificate = await checked("certificate", async () => {
    const { certs } = await findBroker(options, host);
    credentials = await readCredentials(certs);
    return checkOwnCertificate(credentials, host.now());
  });
  const tls = await checked("broker TLS", async () =>
    credentials === undefined
      ? skipped("not checked: the certificate is missing")
      : checkPeers(options, credentials, host),
  );
  const [answer, ...others] = await checkAnswers(options, credentials, host);
  // One reason is one failed line.
  const isSameReason = tls.status === "failed" && tls.message === answer.message;
  return [certificate, tls, isSameReason ? { ...answer, ...NO_CONNECTION } : answer, ...others];
}

function checkOwnCertificate({ folder, cert, key, ca, name, isAdmin }: Credentials, now: number): Found {
  const file = `${folder}/tls.crt`;
  const [leaf, ...above] = readCertificates(cert, file);
  if (leaf === undefined) return failed(`${file} holds no certificate`);
  // Admins may have an authority of their own, which only the broker knows: it judges them.
  const authorities = isAdmin ? [] : readCertificates(ca, `${folder}/ca.crt`);
  const facts = certificateFacts([leaf, ...above], {
    name,
    file,
    now,
    authorities,
    revoked: new Map(),
    keyPem: key,
  });
  const who = `${name}${isAdmin ? " (admin)" : ""}, in ${folder}`;
  if (facts.status === "valid") return ok(`${who}: valid until ${when(leaf.validToDate.getTime(), now)}`);
  const remedy = `A new one: brokerctl certs renew ${name}`;
  const message = `${who}: ${facts.problems.join(", ")}`;
  return facts.status === "expiring" ? warning(message, remedy) : failed(message, remedy);
}

async function checkPeers(options: ConnectionOptions, credentials: Credentials, host: Host): Promise<Found> {
  const { urls, timeoutMs } = await findBroker(options, host);
  const found: Found[] = [];
  for (const url of urls) {
    const { certificate, protocol } = await peerCertificate({ url, credentials, timeoutMs });
    const { status, problems } = certificateFacts([certificate], {
      name: "broker",
      file: url.origin,
      now: host.now(),
      authorities: [],
      revoked: new Map(),
    });
    const end = when(certificate.validToDate.getTime(), host.now());
    found.push(
      status === "valid"
        ? ok(`${url.origin}: ${protocol}, certificate valid until ${end}`)
        : warning(
            `${url.origin}: its certificate ${problems.join(", ")}`,
            "Renew it there: brokerctl certs renew broker",
          ),
    );
  }
  return found.find(({ status }) => status !== "ok") ?? ok(found.map(({ message }) => message).join("; "));
}

/** The answer of the broker, and the checks that need one. */
async function checkAnswers(
  options: ConnectionOptions,
  credentials: Credentials | undefined,
  host: Host,
): Promise<readonly [answer: Finding, ...others: Finding[]]> {
  let others: readonly Finding[] = ["clock", "agents"].map((name) => ({ name, ...NOT_ASKED }));
  const answer = await checked("broker", async () => {
    if (credentials === undefined) return skipped("not checked: the certificate is missing");
    return withBroker(options, host, async (broker) => {
      const { headers, at } = await broker.request(reservationPages(undefined, 1));
      others = [
        await checked("clock", async () => checkClock(at - host.now())),
        await checked("agents", () => checkAgents(broker)),
      ];
      const protocol = String(headers[HEADER.brokerProtocol.toLowerCase()]);
      const ledger = String(headers[HEADER.ledgerId.toLowerCase()] ?? "unknown");
      const words = `answers to ${broker.credentials.name}: protocol ${protocol}, ledger ${ledger}`;
      return Number(protocol) > PROTOCOL_VERSION
        ? warning(words, "It is newer than this brokerctl: upgrade")
        : ok(words);
    });
  });
  return [answer, ...others];
}

/** The broker tells whole seconds. */
function checkClock(aheadMs: number): Found {
  const away = Math.max(0, Math.abs(aheadMs) - 1000);
  const words = `the broker's clock is ${age(away)} ${aheadMs > 0 ? "ahead of" : "behind"} the local clock`;
  if (away <= SKEW_LIMIT_MS)
    return ok(away < 1000 ? "the broker's clock agrees with the local clock" : words);
  return failed(words, "Synchronize both with NTP: certificates and expiry depend on them");
}

async function checkAgents(broker: Broker): Promise<Found> {
  const { name, isAdmin } = broker.credentials;
  const clusters = isAdmin ? await listClusters(broker) : await readCluster(broker, name);
  const views = clusterViews(clusters);
  if (views.length === 0)
    return warning(
      "no cluster has advertised yet",
      "Let one join: brokerctl invite <cluster-id> | brokerctl join (docs/install.md)",
    );
  const silent = views.filter(({ status }) => status === "Stale");
  if (silent.length === 0) return ok(`last advertisement: ${clustersText(views)}`);
  return isAdmin
    ? warning(
        `no recent advertisement: ${clustersText(silent)}`,
        "Look at their agents: brokerctl check --only cluster there",
      )
    : failed(
        `the broker receives no advertisement: ${clustersText(silent)}`,
        "Check that the agent runs: docs/agent.md",
      );
}

/** All of a few; of many, the one that was silent longest. */
function clustersText(views: readonly ClusterView[]): string {
  if (views.length <= FEW) return views.map(lastSeenText).join(", ");
  const [oldest] = views.toSorted((a, b) => b.ageMs - a.ageMs);
  return `${views.length} clusters${oldest === undefined ? "" : `, the last of them ${lastSeenText(oldest)}`}`;
}

function lastSeenText({ advertisement, ageMs }: ClusterView): string {
  return `${advertisement.clusterID} ${age(ageMs)} ago`;
}

interface Peer {
  readonly url: URL;
  readonly credentials: Credentials;
  readonly timeoutMs: number;
}

interface PeerCertificate {
  readonly certificate: X509Certificate;
  /** `TLSv1.3`. */
  readonly protocol: string;
}

/** Completes the TLS handshake with a broker and reads its certificate. Throws a CommandError with the reason when the handshake fails. */
async function peerCertificate(peer: Peer): Promise<PeerCertificate> {
  const { url, credentials, timeoutMs } = peer;
  const { cert, key, ca } = credentials;
  const host = url.hostname.replaceAll(/^\[|\]$/gu, "");
  const port = url.port === "" ? 443 : Number(url.port);
  let socket: TLSSocket | undefined;
  try {
    return await new Promise<PeerCertificate>((resolve, reject) => {
      const names = isIP(host) === 0 ? { servername: host } : {};
      const opened = connect({ host, port, cert, key, ca, ...names }, () => {
        const certificate = opened.getPeerX509Certificate();
        if (certificate === undefined)
          reject(new CommandError("error", `${url.origin} shows no certificate`));
        else resolve({ certificate, protocol: opened.getProtocol() ?? "TLS" });
      });
      socket = opened;
      opened.on("error", reject);
      opened.setTimeout(timeoutMs, () =>
        reject(new CommandError("timeout", `${url.origin} gave no answer within ${timeoutMs / 1000} s`)),
      );
    });
  } catch (error) {
    throw connectionError(error, peer);
  } finally {
    socket?.destroy();
  }
}
