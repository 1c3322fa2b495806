import type { Run } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import { type Styler, stylerFor, type TextStyle } from "../output/print.ts";
import { checkBroker } from "./check-broker.ts";
import { checkCluster } from "./check-cluster.ts";
import type { Finding, FindingStatus } from "./finding.ts";
import type { CHECK_OPTIONS } from "../commands/broker-options.ts";

const STATUS_SYMBOLS: Readonly<Record<FindingStatus, { readonly mark: string; readonly mood: TextStyle }>> = {
  ok: { mark: "✓", mood: "good" },
  warning: { mark: "!", mood: "careful" },
  failed: { mark: "✗", mood: "bad" },
  skipped: { mark: "-", mood: "quiet" },
};

export const check: Run<typeof CHECK_OPTIONS> = async ({ options }, host) => {
  const findings = [
    ...(options.only === "cluster" ? [] : await checkBroker(options, host)),
    ...(options.only === "broker" ? [] : await checkCluster(options, host)),
  ];
  const styled = stylerFor(host);
  const wrong = findings.filter(({ status }) => status === "failed");
  const count = `${wrong.length} of ${findings.length} checks failed`;
  return {
    data: findings,
    table: () => findings.map((finding) => lineOf(finding, findings, styled)).join(""),
    names: wrong.map(({ name }) => name),
    problem: wrong.length === 0 ? undefined : new CommandError("error", count),
  };
};

function lineOf({ name, status, message, remedy }: Finding, all: readonly Finding[], styled: Styler): string {
  const width = Math.max(...all.map((each) => each.name.length));
  const { mark, mood: style } = STATUS_SYMBOLS[status];
  const advice = remedy === undefined ? "" : `. ${remedy}`;
  return `${styled(mark, style)} ${name.padEnd(width)}   ${message}${advice}\n`;
}
