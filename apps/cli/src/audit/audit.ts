import { parseTime } from "@resource-broker/base";
import { auditPages } from "@resource-broker/client";
import type { AuditEntryDTO } from "@resource-broker/contract";
import type { Run, Values } from "../cli/command.ts";
import { didYouMean } from "../cli/did-you-mean.ts";
import { CommandError } from "../cli/exit-code.ts";
import type { Host } from "../cli/host.ts";
import { type Broker, type Listed, pagesOf, withBroker } from "../connection/broker.ts";
import { age } from "../output/age.ts";
import type { OutputFormat } from "../output/output-option.ts";
import { print } from "../output/print.ts";
import { type Column, properties, table } from "../output/table.ts";
import type { AUDIT_OPTIONS } from "./options.ts";
import { lastSequence } from "./read-audit.ts";
import { addLine, NO_LINES } from "./verify-chain.ts";

type Options = Values<typeof AUDIT_OPTIONS>;

const POLL_MS = 1000;

export const audit: Run<typeof AUDIT_OPTIONS> = async ({ options, words }, host) => {
  const [word] = words;
  if (word === "verify") return verifyFiles(options, host);
  if (word !== undefined) {
    throw new CommandError(
      "usage",
      `${JSON.stringify(word)} is an unexpected argument${await didYouMean(word, ["verify"])}`,
    );
  }
  await withBroker(options, host, (broker) =>
    options.verify ? verifyLog(broker, options.output, host) : showLog(broker, options, host),
  );
};

async function verifyFiles({ store, output }: Options, host: Host): Promise<void> {
  const { verify } = await import("../ledger/verify.ts");
  await verify({ options: { store, output }, words: [] }, host);
}

async function showLog(broker: Broker, options: Options, host: Host): Promise<void> {
  const { output, tail, all, follow } = options;
  let after = all ? 0 : Math.max(0, (await lastSequence(broker)) - tail);
  const show = async (): Promise<Listed<AuditEntryDTO>> => {
    const lines: AuditEntryDTO[] = [];
    let at = host.now();
    for await (const page of pagesOf(broker, auditPages(after))) {
      lines.push(...page.items);
      ({ at } = page);
    }
    after = lines.at(-1)?.sequence ?? after;
    return { items: lines, at };
  };
  printLines(await show(), { output, hasTitles: true }, host);
  while (follow) {
    await host.pause(POLL_MS);
    const lines = await show();
    if (lines.items.length > 0) printLines(lines, { output, hasTitles: false }, host);
  }
}

interface PrintOptions {
  readonly output: OutputFormat;
  readonly hasTitles: boolean;
}

function printLines(
  { items, at }: Listed<AuditEntryDTO>,
  { output, hasTitles }: PrintOptions,
  host: Host,
): void {
  const text = (columns: readonly Column<AuditEntryDTO>[]): string => {
    const whole = table(columns, items);
    return hasTitles ? whole : whole.slice(whole.indexOf("\n") + 1);
  };
  print(
    {
      data: items,
      table: () => text(columnsAt(at)),
      wide: () => text([...columnsAt(at), { title: "HASH", value: (entry) => entry.hash }]),
      names: () => items.map(({ sequence }) => String(sequence)),
    },
    output,
    host,
  );
}

function columnsAt(now: number): readonly Column<AuditEntryDTO>[] {
  return [
    { title: "LINE", value: ({ sequence }) => String(sequence) },
    { title: "AGE", value: ({ at }) => age(now - (parseTime(at) ?? now)) },
    { title: "WHO", value: ({ actor }) => actor },
    { title: "ACTION", value: ({ action }) => action },
    { title: "SUBJECT", value: ({ subject = "" }) => subject || "-" },
    { title: "MESSAGE", value: ({ message }) => message },
  ];
}

async function verifyLog(broker: Broker, output: OutputFormat, host: Host): Promise<void> {
  let chain = NO_LINES;
  for await (const { items } of pagesOf(broker, auditPages())) {
    for (const entry of items) chain = addLine(chain, entry);
    if (chain.problem !== undefined) break;
  }
  const { lines, first, last, problem } = chain;
  const rows = [
    ["State", problem === undefined ? "sound" : "broken"],
    ["Lines", first === undefined ? "0" : `${lines}, from number ${first} on`],
    ["Last hash", last?.hash ?? "-"],
    ...(problem === undefined ? [] : [["Problem", problem]]),
  ].map(([title = "", value = ""]) => [title, value] as const);
  print({ data: chain, table: () => properties(rows), names: () => [last?.hash ?? ""] }, output, host);
  if (problem !== undefined) throw new CommandError("error", `the audit log is broken: ${problem}`);
}
