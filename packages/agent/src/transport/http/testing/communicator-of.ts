import {
  type CertificateSource,
  type Clock,
  type Log,
  readCertificateSet,
  systemClock,
} from "@resource-broker/runtime";
import type { Credentials } from "@resource-broker/testkit";
import type { BrokerCommunicator } from "../../broker-communicator.ts";
import { httpCommunicator } from "../http-communicator.ts";

type Files = Pick<Credentials, "cert" | "key" | "ca">;

export interface CommunicatorSetup {
  readonly brokerUrls: readonly string[];
  readonly credentials: Files;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly log?: Log;
}

/** A communicator whose certificates a test can replace. */
export interface CommunicatorOf {
  readonly communicator: BrokerCommunicator;
  readonly rotate: (credentials: Files) => void;
}

const quiet: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

export async function communicatorOf(setup: CommunicatorSetup): Promise<CommunicatorOf> {
  const { brokerUrls, credentials, clock = systemClock(() => 0), random = () => 0, log = quiet } = setup;
  const { certificates, rotate } = certificatesInMemory(credentials);
  return {
    communicator: await httpCommunicator({ brokerUrls }, { certificates, clock, random, log }),
    rotate,
  };
}

function certificatesInMemory(first: Files): {
  certificates: CertificateSource;
  rotate: (files: Files) => void;
} {
  const listeners = new Set<Parameters<CertificateSource["onChange"]>[0]>();
  const setOf = ({ cert, key, ca }: Files) => readCertificateSet({ cert, key, ca, crl: undefined });
  return {
    certificates: {
      start: () => Promise.resolve(setOf(first)),
      onChange: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      stop: () => listeners.clear(),
    },
    rotate: (files) => {
      for (const listener of listeners) listener(setOf(files));
    },
  };
}
