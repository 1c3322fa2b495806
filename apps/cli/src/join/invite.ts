import type { X509Certificate } from "node:crypto";
import { formatDuration } from "@resource-broker/base";
import { inviteCall, membersCall, trustCall } from "@resource-broker/client";
import { formatToken, type MemberDTO } from "@resource-broker/contract";
import { MAX_INVITATION_MS } from "@resource-broker/domain";
import { publicKeyHash, tokenSecretHash } from "@resource-broker/runtime";
import { readCertificates } from "../certs/certificate-facts.ts";
import { checkClusterId } from "../cli/cluster-id.ts";
import type { Host, Run, Values } from "../cli/command.ts";
import { confirm } from "../cli/confirm.ts";
import { CommandError } from "../cli/exit-code.ts";
import type { INVITE_OPTIONS } from "../commands/join-options.ts";
import { type Broker, withBroker } from "../connection/broker.ts";
import { readUrls } from "../connection/find-broker.ts";
import { distance } from "../output/text.ts";
import { checkNamespace, type Invitation, newToken, secretManifest } from "./invitation.ts";

type Options = Values<typeof INVITE_OPTIONS>;

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/u;

export const invite: Run<typeof INVITE_OPTIONS> = async ({ options, words: [clusterId = ""] }, host) => {
  checkClusterId(clusterId);
  checkNamespace(options.namespace);
  checkLifetime(options.lifetime);
  const given = readUrls(options["broker-url"].join(","));
  return withBroker(options, host, async (broker) => {
    const caHashes = await authorityHashes(broker);
    const before = await memberOf(broker, clusterId);
    if (options.replace) await confirmEviction(before, clusterId, { options, host });
    const token = newToken();
    const { value: member, at } = await broker.request(
      inviteCall({
        clusterID: clusterId,
        tokenID: token.id,
        secretHash: tokenSecretHash(token.secret),
        ...(options.lifetime === undefined ? {} : { lifetime: formatDuration(options.lifetime) }),
        ...(options.confirm ? { confirm: true } : {}),
        ...(options.replace ? { replace: true } : {}),
      }),
    );
    const urls = given.length > 0 ? given : broker.urls;
    const brokerUrls = urls.map(({ origin }) => origin);
    const invitation = { clusterId, token, brokerUrls, caHashes, namespace: options.namespace };
    if (before !== undefined) noteReplaced(before, host);
    noteInvitation(invitation, { member, at, options, host });
    host.out(textOf(invitation, member, options));
    return undefined;
  });
};

function checkLifetime(lifetimeMs: number | undefined): void {
  if (lifetimeMs === undefined || (lifetimeMs > 0 && lifetimeMs <= MAX_INVITATION_MS)) return;
  throw new CommandError(
    "usage",
    `--lifetime: an invitation lasts more than 0s and at most ${formatDuration(MAX_INVITATION_MS)}`,
  );
}

async function memberOf({ request }: Broker, clusterId: string): Promise<MemberDTO | undefined> {
  const { value } = await request(membersCall());
  return value.find((member) => member.clusterID === clusterId);
}

/** States whose invitation a new one replaces. */
const OPEN: readonly MemberDTO["state"][] = ["invited", "unconfirmed"];

async function confirmEviction(
  member: MemberDTO | undefined,
  clusterId: string,
  { options, host }: { readonly options: Options; readonly host: Host },
): Promise<void> {
  // A cluster with a certificate that somebody brought may be at work and be no member.
  if (member !== undefined && member.state !== "joined") return;
  const question = `Evict ${named(member, clusterId)}? Every call of it is refused until it has used the new invitation.`;
  await confirm(question, options.yes, host);
}

function noteReplaced(before: MemberDTO, host: Host): void {
  const { clusterID, state, tokenID } = before;
  if (state === "joined") host.note(`Evicted ${named(before, clusterID)}\n`);
  if (tokenID !== undefined && OPEN.includes(state))
    host.note(`The invitation of ${clusterID} with token ${tokenID} is replaced: it is void now\n`);
}

function named(member: MemberDTO | undefined, clusterId: string): string {
  const { fingerprint } = member ?? {};
  return `the agent of ${clusterId}${fingerprint === undefined ? "" : ` (${fingerprint})`}`;
}

/** Of the authorities that the broker names, those by which this connection was verified. */
async function authorityHashes({ request, credentials }: Broker): Promise<readonly string[]> {
  const { value } = await request(trustCall());
  if (value.signer === "none") {
    throw new CommandError(
      "error",
      "this broker signs no certificates of new agents: start it with --enrollment-cert-path (brokerctl certs init makes the folder) or --enrollment-issuer, or issue one yourself: brokerctl certs issue <cluster-id>",
    );
  }
  const hashesIn = (text: string, source: string): readonly string[] =>
    readCertificates(text, source)
      .filter(({ ca }: X509Certificate) => ca)
      .map(({ publicKey }) => publicKeyHash(publicKey));
  const own = hashesIn(credentials.ca, `${credentials.folder}/ca.crt`);
  const hashes = [...new Set(hashesIn(value.authorities, "the broker's answer"))].filter((hash) =>
    own.includes(hash),
  );
  if (hashes.length > 0) return hashes;
  throw new CommandError(
    "auth",
    `the broker names no authority that is in ${credentials.folder}/ca.crt: put the broker's ca.crt there`,
  );
}

interface Noted {
  readonly member: MemberDTO;
  /** The broker's time. */
  readonly at: number;
  readonly options: Options;
  readonly host: Host;
}

function noteInvitation(invitation: Invitation, { member, at, options, host }: Noted): void {
  const { clusterId, token, brokerUrls } = invitation;
  const until =
    member.expiresAt === undefined ? "" : `, expires ${distance(Date.parse(member.expiresAt), at)}`;
  host.note(`Invited ${clusterId} (token ${token.id}${until})\n`);
  if (brokerUrls.some((url) => LOOPBACK.test(new URL(url).hostname))) {
    host.note(
      `Warning: ${brokerUrls.join(", ")} is this machine only. If the agent is elsewhere: --broker-url https://broker.example.org:8443\n`,
    );
  }
  if (options.confirm) {
    host.note(
      `When the agent's log shows its fingerprint: brokerctl accept ${clusterId} --fingerprint SHA256:…\n`,
    );
  }
  if (host.isTerminal !== true) return;
  host.note(
    [
      `Warning: what follows is a secret. Whoever has it can join as ${clusterId}. Rather pipe it:`,
      `  brokerctl invite ${clusterId} | brokerctl join --context <kubectl context of ${clusterId}>`,
      "",
    ].join("\n"),
  );
}

function textOf(invitation: Invitation, member: MemberDTO, { output }: Options): string {
  const { clusterId, token, brokerUrls, caHashes } = invitation;
  switch (output) {
    case "secret":
      return secretManifest(invitation);
    case "token":
      return `${formatToken(token)}\n`;
    case "json": {
      const { expiresAt = null } = member;
      const data = { clusterID: clusterId, tokenID: token.id, token: formatToken(token), expiresAt };
      return `${JSON.stringify({ ...data, brokerURLs: brokerUrls, caHashes }, null, 2)}\n`;
    }
  }
}
