import { acceptCall, evictCall, membersCall } from "@resource-broker/client";
import { evictionSchema, type MemberDTO } from "@resource-broker/contract";
import { checkClusterId } from "../cli/cluster-id.ts";
import { checkReason } from "../cli/reason.ts";
import type { Host, Run, View } from "../cli/command.ts";
import { confirm } from "../cli/confirm.ts";
import { CommandError, didYouMean } from "../cli/exit-code.ts";
import type { ACCEPT_OPTIONS, EVICT_OPTIONS, GET_MEMBERS_OPTIONS } from "../commands/join-options.ts";
import { withBroker } from "../connection/broker.ts";
import { printListing } from "../output/listing.ts";
import { type Column, properties, stylerFor, type TextStyle, wide } from "../output/print.ts";
import { agoOf, distance } from "../output/text.ts";

type State = MemberDTO["state"];

/** States in which the invitation still matters. */
const PENDING: readonly State[] = ["invited", "unconfirmed", "expired"];

const STYLES: Readonly<Record<State, TextStyle>> = {
  invited: "careful",
  unconfirmed: "careful",
  expired: "quiet",
  joined: "good",
  evicted: "bad",
};

const FINGERPRINT = /^SHA256:[A-Za-z0-9+/]{43}$/u;

export const getMembers: Run<typeof GET_MEMBERS_OPTIONS> = (input, host) =>
  listMembers(input, host, {
    isWanted: () => true,
    noun: "member",
    whenEmpty: "No cluster has joined or is invited. Invite one: brokerctl invite <cluster-id>",
  });

export const getInvitations: Run<typeof GET_MEMBERS_OPTIONS> = (input, host) =>
  listMembers(input, host, {
    isWanted: ({ state }) => PENDING.includes(state),
    noun: "invitation of",
    whenEmpty: "No invitation is open. Invite a cluster: brokerctl invite <cluster-id>",
  });

interface Wanted {
  readonly isWanted: (member: MemberDTO) => boolean;
  readonly noun: string;
  readonly whenEmpty: string;
}

function listMembers(
  { options, words: [id] }: Parameters<Run<typeof GET_MEMBERS_OPTIONS>>[0],
  host: Host,
  { isWanted, noun, whenEmpty }: Wanted,
): Promise<undefined> {
  return withBroker(options, host, async (broker) => {
    const read = async () => {
      const { value, at } = await broker.request(membersCall());
      const items = value.filter(isWanted).filter(({ clusterID }) => id === undefined || clusterID === id);
      if (id !== undefined && items.length === 0) throw unknown(id, noun, value);
      return {
        items,
        dataOf: (member: MemberDTO) => member,
        nameOf: ({ clusterID }: MemberDTO) => clusterID,
        fingerprintOf: (member: MemberDTO) => JSON.stringify(member),
        columns: columnsAt(at, host),
        whenEmpty,
      };
    };
    return printListing(read, options, host);
  });
}

function unknown(id: string, noun: string, members: readonly MemberDTO[]): CommandError {
  const found = members.find(({ clusterID }) => clusterID === id);
  const none = `there is no ${noun} ${JSON.stringify(id)}`;
  if (found !== undefined)
    return new CommandError("error", `${none}: its state is ${found.state}, see brokerctl get members ${id}`);
  checkClusterId(id);
  const hint = didYouMean(
    id,
    members.map(({ clusterID }) => clusterID),
  );
  return new CommandError(
    "error",
    `${none}${hint || ":"} brokerctl get members lists all; to invite it: brokerctl invite ${id}`,
  );
}

function columnsAt(now: number, host: Host): readonly Column<MemberDTO>[] {
  const styled = stylerFor(host);
  return [
    { title: "CLUSTER", value: ({ clusterID }) => clusterID },
    { title: "STATE", value: ({ state }) => styled(state, STYLES[state]) },
    { title: "FINGERPRINT", value: ({ fingerprint }) => fingerprint ?? "-" },
    { title: "TOKEN", value: ({ tokenID }) => tokenID ?? "-" },
    { title: "EXPIRES", value: (member) => expiryOf(member, now) },
    { title: "AGE", value: ({ since }) => agoOf(since, now) },
    ...wide<MemberDTO>({ title: "INVITED BY", value: ({ invitedBy }) => invitedBy ?? "-" }),
  ];
}

function expiryOf({ state, expiresAt }: MemberDTO, now: number): string {
  return expiresAt === undefined || !PENDING.includes(state) ? "-" : distance(Date.parse(expiresAt), now);
}

export const accept: Run<typeof ACCEPT_OPTIONS> = async ({ options, words: [id = ""] }, host) => {
  checkClusterId(id);
  const { fingerprint } = options;
  if (fingerprint === undefined || !FINGERPRINT.test(fingerprint)) {
    throw new CommandError(
      "usage",
      `--fingerprint must be that of the agent, as its own log shows it (SHA256: and 43 characters): kubectl -n rear-agent logs deployment/resource-broker-agent | grep fingerprint`,
    );
  }
  return withBroker(options, host, async (broker) =>
    viewOf((await broker.request(acceptCall(id, fingerprint))).value),
  );
};

export const evict: Run<typeof EVICT_OPTIONS> = async ({ options, words: [id = ""] }, host) => {
  checkClusterId(id);
  checkReason(options.reason, evictionSchema);
  return withBroker(options, host, async (broker) => {
    await confirm(
      `Evict ${id}? Every call of its agent is refused until it is invited again.`,
      options.yes,
      host,
    );
    const { value } = await broker.request(evictCall(id, options.reason));
    host.note(`To let it join again: brokerctl invite ${id}\n`);
    return viewOf(value);
  });
};

function viewOf(member: MemberDTO): View {
  const table = (): string =>
    properties([
      ["Cluster", member.clusterID],
      ["State", member.state],
      ["Fingerprint", member.fingerprint],
      ["Token", member.tokenID],
      ["Since", member.since],
    ]);
  return { data: member, table, names: [member.clusterID] };
}
