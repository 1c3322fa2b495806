import type { Clock, Log } from "@resource-broker/base";
import { type CertificateSource, readCertificateSet, systemClock } from "@resource-broker/runtime";
import type { Credentials } from "@resource-broker/testkit";
import type { BrokerClient } from "../broker-client.ts";
import type { ClientHints } from "../endpoints.ts";
import { type BrokerClientDeps, createBrokerClient } from "../create-broker-client.ts";

type Files = Pick<Credentials, "cert" | "key" | "ca">;

export interface ClientSetup {
  readonly brokerUrls: readonly string[];
  readonly credentials: Files;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly log?: Log;
  readonly agentIdentity?: BrokerClientDeps["agentIdentity"];
}

/** A client whose certificates a test can replace. */
export interface ClientOf {
  readonly client: BrokerClient;
  readonly rotate: (credentials: Files) => void;
}

/** The agent's: the tests show its messages. */
export const HINTS: ClientHints = {
  program: "agent",
  url: "--broker-url",
  certificates: "the folder of --broker-cert-path",
};

const quiet: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

export async function clientOf(setup: ClientSetup): Promise<ClientOf> {
  const { brokerUrls, credentials, clock = systemClock(() => 0), random = () => 0, log = quiet } = setup;
  const listeners = new Set<Parameters<CertificateSource["onChange"]>[0]>();
  const setOf = ({ cert, key, ca }: Files) => readCertificateSet({ cert, key, ca, crl: undefined });
  const certificates: CertificateSource = {
    start: () => Promise.resolve(setOf(credentials)),
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop: () => listeners.clear(),
  };
  return {
    client: await createBrokerClient(
      { brokerUrls },
      {
        certificates,
        clock,
        random,
        log,
        hints: HINTS,
        ...(setup.agentIdentity === undefined ? {} : { agentIdentity: setup.agentIdentity }),
      },
    ),
    rotate: (files) => {
      for (const listener of listeners) listener(setOf(files));
    },
  };
}
