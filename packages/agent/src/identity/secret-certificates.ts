import { type Clock, errorText, Fault, type Log } from "@resource-broker/base";
import { commonNameOf } from "@resource-broker/client";
import { IDENTITY_SECRET } from "@resource-broker/contract";
import {
  type CertificateSet,
  type CertificateSource,
  isSameSet,
  readCertificateSet,
  type ReportReload,
} from "@resource-broker/runtime";
import type { IssuedCertificate } from "../transport/certificate-mapping.ts";
import type { NamedSecret, SecretValues } from "./named-secret.ts";

export interface SecretCertificatesDeps {
  readonly secret: NamedSecret;
  readonly clock: Pick<Clock, "wallMs">;
  readonly log: Log;
  readonly report: ReportReload;
}

/** The certificates in the agent's own Secret. Other replicas of the agent may replace them. */
export interface SecretCertificates extends CertificateSource {
  /** Undefined: none has been issued or read yet. */
  readonly current: () => CertificateSet | undefined;
  /** Reads the Secret, and uses what it has. True: it has certificates. A problem is reported; the old ones stay in use. */
  readonly refresh: () => Promise<boolean>;
  /** Writes an issued certificate into the Secret, then uses it. Throws a Fault if it is not for this agent. */
  readonly store: (clusterId: string, issued: IssuedCertificate, tokenId?: string) => Promise<void>;
  /** The id of the token that the certificate in use came from, or the one that it renews. Undefined: not known. */
  readonly joinedWith: () => string | undefined;
}

export function secretCertificates(deps: SecretCertificatesDeps): SecretCertificates {
  const { secret, log, report } = deps;
  const listeners = new Set<(set: CertificateSet) => void>();
  let current: CertificateSet | undefined;
  let joinedWith: string | undefined;
  let lastProblem: string | undefined;

  const use = (values: SecretValues): boolean => {
    const files = filesIn(values);
    if (files === undefined) return false;
    joinedWith = values[IDENTITY_SECRET.tokenId];
    if (current !== undefined && isSameSet(files, current.files)) return true;
    const next = readCertificateSet(files);
    const [name, before] = [commonNameOf(next), current && commonNameOf(current)];
    if (before !== undefined && name !== before) {
      throw new Error(
        `tls.crt belongs to ${JSON.stringify(name)}, and this agent is ${JSON.stringify(before)}`,
      );
    }
    const isFirst = current === undefined;
    current = next;
    log.info({ secret: secret.label, expires: next.own.validTo }, "certificate in use");
    if (!isFirst) for (const listener of listeners) listener(next);
    return true;
  };

  const refresh = async (): Promise<boolean> => {
    try {
      const isThere = use((await secret.find()) ?? {});
      reportProblem(isThere || current === undefined ? undefined : "it has no certificate any more");
      return isThere;
    } catch (error) {
      reportProblem(errorText(error));
      return current !== undefined;
    }
  };

  const reportProblem = (problem: string | undefined): void => {
    report(problem && `the Secret ${secret.label}: ${problem}`);
    if (problem !== undefined && problem !== lastProblem) {
      log.warn({ secret: secret.label, problem }, "the certificate in the Secret cannot be used");
    }
    lastProblem = problem;
  };

  const store: SecretCertificates["store"] = async (clusterId, { certificate, authorities }, tokenId) => {
    if (certificate === undefined)
      throw new Fault("unreachable", "the broker's answer has no certificate; it is asked again");
    const values = await secret.change((now) => {
      const issued = {
        [IDENTITY_SECRET.certificate]: certificate,
        [IDENTITY_SECRET.authorities]: authorities ?? now[IDENTITY_SECRET.authorities] ?? "",
        ...(tokenId === undefined ? {} : { [IDENTITY_SECRET.tokenId]: tokenId }),
      };
      const next = { ...now, ...issued };
      checkIssued(next, clusterId);
      return next;
    });
    use(values);
  };

  return {
    start: async () => {
      if (current === undefined) await refresh();
      if (current !== undefined) return current;
      throw new Fault("no-certificate", lastProblem ?? `the Secret ${secret.label} has no certificate`);
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop: () => undefined,
    current: () => current,
    joinedWith: () => joinedWith,
    refresh,
    store,
  };
}

function filesIn(values: SecretValues): CertificateSet["files"] | undefined {
  const cert = values[IDENTITY_SECRET.certificate] ?? "";
  if (cert === "") return undefined;
  const key = values[IDENTITY_SECRET.tlsKey] ?? "";
  return { cert, key, ca: values[IDENTITY_SECRET.authorities] ?? "", crl: undefined };
}

/** The broker is trusted with names, but a certificate of another cluster or key would be of no use here. */
function checkIssued(values: SecretValues, clusterId: string): void {
  const problem = issuedProblem(values, clusterId);
  if (problem !== undefined)
    throw new Fault("unreachable", `the broker issued a certificate that is of no use here: ${problem}`);
}

function issuedProblem(values: SecretValues, clusterId: string): string | undefined {
  try {
    const files = filesIn(values);
    const name = files && commonNameOf(readCertificateSet(files));
    return name === clusterId ? undefined : `it belongs to ${JSON.stringify(name)} instead of "${clusterId}"`;
  } catch (error) {
    return errorText(error);
  }
}
