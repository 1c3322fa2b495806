import { setTimeout as sleep } from "node:timers/promises";
import {
  type BenchRow,
  type BrokerProcess,
  startBroker,
  type TestCertificates,
} from "@resource-broker/testkit";
import { programsNamed } from "../../../scripts/bundle/programs.ts";

/** What every section is given. */
export interface BenchEnvironment {
  readonly certificates: TestCertificates;
  /** The bundled broker. */
  readonly program: string;
  /** The core of the broker; undefined where there is only one. */
  readonly cpu: number | undefined;
  /** Flags of Node to try on the broker. */
  readonly nodeFlags: readonly string[];
  readonly isQuick: boolean;
  /** Says what is going on. */
  readonly report: (line: string) => void;
}

export interface Section {
  readonly name: string;
  readonly run: (environment: BenchEnvironment) => Promise<BenchRow[]>;
}

/** As the broker's launcher and its image set it. */
const { environment = {} } = programsNamed(["broker"])[0] ?? {};

/** A broker of its own for a section, gone afterwards. */
export async function withBroker<T>(
  { certificates, program, cpu, nodeFlags }: BenchEnvironment,
  use: (broker: BrokerProcess, pid: number) => Promise<T>,
  moreNodeFlags: readonly string[] = [],
): Promise<T> {
  const broker = await startBroker({
    certificates,
    program,
    environment,
    nodeFlags: [...nodeFlags, ...moreNodeFlags],
    readyWithinMs: 120_000,
    // Few clients stand for many.
    policy: { defaultQuota: { reservations: 100_000 } },
    ...(cpu === undefined ? {} : { cpu }),
  });
  try {
    return await use(broker, broker.pid ?? 0);
  } finally {
    await broker.dispose();
  }
}

/** Lets garbage be collected and timers settle before memory is read. */
export function settle(isQuick: boolean): Promise<void> {
  return sleep(isQuick ? 1000 : 4000);
}
