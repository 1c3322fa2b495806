import { type Clock, type Log, toFault } from "@resource-broker/base";
import type { BrokerClient } from "@resource-broker/client";
import { failureReporter, type Loop, loop } from "@resource-broker/kube";
import type { CertificateSet } from "@resource-broker/runtime";
import { serverTime } from "../server-time.ts";
import { renewalMessage } from "../transport/certificate-mapping.ts";
import type { AgentKeys } from "./agent-keys.ts";
import type { Enrollment } from "./enrollment.ts";
import { describeRefusal, type Refusal, replaceCommand } from "./refusal.ts";
import type { SecretCertificates } from "./secret-certificates.ts";

/** How often the Secret is read: other replicas renew, too. */
const POLL_MS = 30_000;
const MAX_RETRY_MS = 3_600_000;
const RENEW_AT = 2 / 3;
/** Agents that joined together must not renew together. */
const JITTER = 0.05;

export interface RenewalDeps {
  readonly broker: Pick<BrokerClient, "renewCertificate" | "onResponse" | "identity">;
  readonly certificates: Pick<SecretCertificates, "current" | "refresh" | "store">;
  readonly keys: AgentKeys;
  /** Undefined: there is no Secret with invitations. */
  readonly enrollment: Pick<Enrollment, "attempt" | "problem"> | undefined;
  /** Undefined: nothing is known that another certificate could mend. */
  readonly refusal: () => Refusal | undefined;
  readonly onRenewal: (result: "renewed" | "failed") => void;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Log;
}

export interface CertificateRenewal extends Loop {
  /** Why the certificate is of no use, with the remedy; undefined: it is. */
  readonly problem: () => string | undefined;
}

/**
 * Follows the certificate in the Secret and renews it at two thirds of its lifetime, by the broker's time. Where it has
 * expired, or agent or broker refuse the other's, a new invitation is used as soon as there is one. Whoever pretends to be the
 * broker can bring about no more than that: the invitation says which authority gets its token.
 */
export function certificateRenewal(deps: RenewalDeps): CertificateRenewal {
  const { broker, certificates, keys, clock, random, log } = deps;
  const clusterId = broker.identity();
  const time = serverTime(clock);
  const what = "renewing the certificate";
  const reporter = failureReporter({ log, clock, fields: { clusterId }, what });
  const stopListening = broker.onResponse(({ brokerTimeMs }) => {
    if (brokerTimeMs === undefined) return;
    const isFirst = time.now() === undefined;
    time.observe(brokerTimeMs);
    if (isFirst) rounds.wake();
  });
  const rounds = loop({ clock, round: () => round() });
  let jitter = { of: "", share: 0 };
  let retryAt = 0;
  const startedAt = clock.monotonicMs();
  let logged: string | undefined;
  /** What the enrollment says is about the certificate as it is now. */
  let hasTried = false;

  const dueAt = (set: CertificateSet): number => {
    const { notBefore, lifetimeMs } = validityOf(set);
    const serial = set.own.serialNumber;
    if (jitter.of !== serial) jitter = { of: serial, share: random() * JITTER };
    return notBefore + lifetimeMs * (RENEW_AT + jitter.share);
  };

  /** The own clock, which may be wrong, counts only where the broker has had time to answer and has not. */
  const now = (): number =>
    time.now() ?? (clock.monotonicMs() - startedAt < POLL_MS ? Number.NEGATIVE_INFINITY : clock.wallMs());

  const certificateProblem = (): string | undefined => {
    const set = certificates.current();
    if (set !== undefined && now() >= set.own.validToDate.getTime())
      return `the certificate of ${clusterId} expired at ${set.own.validTo}; an admin runs: ${replaceCommand(clusterId)}`;
    const refusal = deps.refusal();
    return refusal && describeRefusal(refusal, { clusterId, key: keys.identity.id });
  };

  const problem = (): string | undefined => {
    const text = certificateProblem();
    const joining = hasTried ? deps.enrollment?.problem() : undefined;
    return text !== undefined && joining !== undefined
      ? `${text}; the invitation in its Secret: ${joining}`
      : text;
  };

  const renew = async (set: CertificateSet): Promise<void> => {
    retryAt = clock.monotonicMs() + retryMs(set);
    try {
      const reply = await broker.renewCertificate(renewalMessage(clusterId, keys));
      // The signer may need some seconds: the next round asks again.
      if (reply.state === "waiting") retryAt = 0;
      else {
        await certificates.store(clusterId, reply);
        deps.onRenewal("renewed");
        log.info({ clusterId, expires: reply.notAfter }, "the certificate is renewed");
      }
      reporter.recovered();
    } catch (error) {
      deps.onRenewal("failed");
      reporter.failed(toFault(error));
    }
  };

  const recover = async (text: string): Promise<number> => {
    if (text !== logged) log.error({ clusterId }, text);
    logged = text;
    const result = deps.enrollment === undefined ? POLL_MS : await deps.enrollment.attempt();
    hasTried = true;
    return result === "issued" ? POLL_MS : Math.max(result, 1000);
  };

  const round = async (): Promise<number> => {
    await certificates.refresh();
    const set = certificates.current();
    if (set === undefined) return POLL_MS;
    const text = certificateProblem();
    if (text !== undefined) return recover(text);
    logged = undefined;
    hasTried = false;
    const brokerNow = time.now();
    const isDue = brokerNow !== undefined && brokerNow >= dueAt(set);
    if (isDue && clock.monotonicMs() >= retryAt) await renew(set);
    return Math.min(POLL_MS, validityOf(set).lifetimeMs / 24);
  };

  return {
    ...rounds,
    stop: async () => {
      stopListening();
      await rounds.stop();
    },
    problem,
  };
}

function validityOf({ own }: CertificateSet): { readonly notBefore: number; readonly lifetimeMs: number } {
  const notBefore = own.validFromDate.getTime();
  return { notBefore, lifetimeMs: own.validToDate.getTime() - notBefore };
}

/** Hourly; more often only where a certificate does not live for a day. */
function retryMs(set: CertificateSet): number {
  return Math.min(MAX_RETRY_MS, validityOf(set).lifetimeMs / 24);
}
