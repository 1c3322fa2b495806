import { hash } from "node:crypto";
import { auditPages } from "@resource-broker/client";
import type { AuditEntryDTO } from "@resource-broker/contract";
import type { Host, Run, Values, View } from "../cli/command.ts";
import { CommandError, didYouMean } from "../cli/exit-code.ts";
import { type Broker, pagesOf, withBroker } from "../connection/broker.ts";
import { printListing } from "../output/listing.ts";
import { type Column, properties, wide } from "../output/print.ts";
import { agoOf } from "../output/text.ts";
import type { AUDIT_OPTIONS } from "../commands/broker-options.ts";

type Options = Values<typeof AUDIT_OPTIONS>;

export const audit: Run<typeof AUDIT_OPTIONS> = async ({ options, words: [word] }, host) => {
  if (word === "verify") {
    const { verify } = await import("../ledger/ledger.ts");
    return verify(options.store);
  }
  if (word !== undefined) {
    const hint = didYouMean(word, ["verify"]);
    throw new CommandError("usage", `${JSON.stringify(word)} is an unexpected argument${hint}`);
  }
  return withBroker(options, host, (broker) =>
    options.verify ? verifyLog(broker) : showLog(broker, options, host),
  );
};

async function showLog(broker: Broker, options: Options, host: Host): Promise<undefined> {
  const { output, tail, all, follow } = options;
  let after = all ? 0 : Math.max(0, (await lastSequence(broker)) - tail);
  /** Only the lines that are new. */
  const read = async () => {
    const lines: AuditEntryDTO[] = [];
    let at = host.now();
    for await (const page of pagesOf(broker, auditPages(after))) {
      lines.push(...page.items);
      ({ at } = page);
    }
    after = lines.at(-1)?.sequence ?? after;
    return {
      items: lines,
      dataOf: (line: AuditEntryDTO) => line,
      nameOf: ({ sequence }: AuditEntryDTO) => String(sequence),
      fingerprintOf: (line: AuditEntryDTO) => line.hash,
      columns: columnsAt(at),
    };
  };
  return printListing(read, { output, watch: follow }, host);
}

function columnsAt(now: number): readonly Column<AuditEntryDTO>[] {
  return [
    { title: "LINE", value: ({ sequence }) => String(sequence) },
    { title: "AGE", value: ({ at }) => agoOf(at, now) },
    { title: "WHO", value: ({ actor }) => actor },
    { title: "ACTION", value: ({ action }) => action },
    { title: "SUBJECT", value: ({ subject = "" }) => subject || "-" },
    { title: "MESSAGE", value: ({ message }) => message },
    ...wide<AuditEntryDTO>({ title: "HASH", value: (entry) => entry.hash }),
  ];
}

async function verifyLog(broker: Broker): Promise<View> {
  let chain = NO_LINES;
  for await (const { items } of pagesOf(broker, auditPages())) {
    for (const entry of items) chain = addLine(chain, entry);
    if (chain.problem !== undefined) break;
  }
  const { lines, first, last, problem } = chain;
  return {
    data: chain,
    table: () =>
      properties([
        ["State", problem === undefined ? "sound" : "broken"],
        ["Lines", first === undefined ? "0" : `${lines}, from number ${first} on`],
        ["Last hash", last?.hash ?? "-"],
        ["Problem", problem],
      ]),
    names: [last?.hash ?? ""],
    problem:
      problem === undefined ? undefined : new CommandError("error", `the audit log is broken: ${problem}`),
  };
}

/** The number of the last line, 0 without any: found by halving, because the log can only be read forward. */
export async function lastSequence(broker: Broker): Promise<number> {
  const { value } = await broker.request(auditPages(0, 1));
  const [first] = value.items;
  if (first === undefined) return 0;
  let there = first.sequence;
  let step = 1;
  while (await hasLineAfter(broker, there + step - 1)) {
    there += step;
    step *= 2;
  }
  // The last line is one of `there` … `there + step - 1`.
  for (step = Math.floor(step / 2); step >= 1; step = Math.floor(step / 2)) {
    if (await hasLineAfter(broker, there + step - 1)) there += step;
  }
  return there;
}

async function hasLineAfter(broker: Broker, sequence: number): Promise<boolean> {
  const { value } = await broker.request(auditPages(sequence, 1));
  return value.items.length > 0;
}

/** How far a chain is sound. */
export interface ChainState {
  readonly lines: number;
  readonly first: number | undefined;
  readonly last: { readonly sequence: number; readonly hash: string } | undefined;
  /** What is wrong with the first line that does not fit; nothing after it is looked at. */
  readonly problem: string | undefined;
}

export const NO_LINES: ChainState = { lines: 0, first: undefined, last: undefined, problem: undefined };

/** The chain with one more line; once broken it stays so. */
export function addLine(chain: ChainState, entry: AuditEntryDTO): ChainState {
  if (chain.problem !== undefined) return chain;
  const problem = problemOf(chain, entry);
  if (problem !== undefined) return { ...chain, problem: `line ${entry.sequence}: ${problem}` };
  return {
    lines: chain.lines + 1,
    first: chain.first ?? entry.sequence,
    last: { sequence: entry.sequence, hash: entry.hash },
    problem: undefined,
  };
}

function problemOf({ last }: ChainState, entry: AuditEntryDTO): string | undefined {
  const { sequence, record, previousHash } = entry;
  if (last !== undefined && sequence !== last.sequence + 1)
    return `it follows line ${last.sequence}; lines are missing`;
  if (last !== undefined && previousHash !== last.hash)
    return "its previous hash is not the hash of the line before";
  // Older lines than this were trimmed: the first that is left has to be taken as it is.
  if (previousHash === undefined) return undefined;
  if (record === undefined) return "the broker does not return the hashed record";
  if (hash("sha256", `${previousHash}\n${sequence}\n${record}`, "hex") !== entry.hash)
    return "its hash is not that of its content";
  return isAsRecorded(entry, record) ? undefined : "it differs from the recorded text";
}

function isAsRecorded({ at, actor, action, subject, message }: AuditEntryDTO, record: string): boolean {
  const fields: unknown = JSON.parse(record);
  if (!Array.isArray(fields)) return false;
  const [instant, , ...words] = fields.map(String);
  const shown = [actor, action, subject ?? "", message];
  return Number(instant) === Date.parse(at) && shown.every((text, index) => text === words[index]);
}
