import { type Clock, Fault, type Log, toFault } from "@resource-broker/base";
import { type ClientHints, commonNameOf, enrollAtBroker } from "@resource-broker/client";
import type { JoinToken } from "@resource-broker/contract";
import { backoff, failureReporter, wait } from "@resource-broker/kube";
import { fingerprintOf } from "@resource-broker/runtime";
import { enrollmentMessage, type IssuedCertificate } from "../transport/certificate-mapping.ts";
import type { AgentKeys } from "./agent-keys.ts";
import { type Invitation, readInvitation, removeToken } from "./join-secret.ts";
import type { NamedSecret } from "./named-secret.ts";
import type { SecretCertificates } from "./secret-certificates.ts";

/** How often the Secret is read again, and the broker asked while it waits for an admin. */
const WAIT_MS = 15_000;
const MAX_BACKOFF_MS = 60_000;
/** A refused token is hardly ever accepted later. */
const REFUSED_AGAIN_MS = 5 * 60_000;

export interface EnrollmentDeps {
  readonly joinSecret: NamedSecret;
  readonly certificates: Pick<SecretCertificates, "store" | "refresh" | "current" | "joinedWith">;
  readonly keys: AgentKeys;
  /** `--cluster-id`; empty: the one in the Secret. */
  readonly clusterId: string;
  /** `--broker-url`; empty: the addresses in the Secret. */
  readonly brokerUrls: readonly string[];
  readonly hints: ClientHints;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Log;
}

/** Joins the fleet with the invitation in a Secret; again, with another token, where the certificate is of no use any more. */
export interface Enrollment {
  /** One try. "issued": a certificate is in use; else the pause before the next try, in milliseconds. Never rejects. */
  readonly attempt: () => Promise<"issued" | number>;
  /** Tries until there is a certificate, or until the signal. */
  readonly complete: (signal: AbortSignal) => Promise<void>;
  /** What it waits for; undefined: nothing. */
  readonly problem: () => string | undefined;
}

export function enrollment(deps: EnrollmentDeps): Enrollment {
  const { joinSecret, certificates, keys, clock, log } = deps;
  const fingerprint = fingerprintOf(keys.identity.id);
  const reporter = failureReporter({ log, clock, fields: { fingerprint }, what: "joining the broker" });
  const retries = backoff({ minMs: 1000, maxMs: MAX_BACKOFF_MS }, { ...clock, random: deps.random });
  let problem: string | undefined = "the agent has not joined yet";
  let shown: string | undefined;
  let tried: string | undefined;
  let refused: { readonly tokenId: string; readonly at: number } | undefined;

  const waitFor = (what: string): number => {
    if (what !== shown) log.info({ fingerprint }, `joining waits: ${what}`);
    problem = what;
    shown = what;
    return WAIT_MS;
  };

  /** What to do about the certificate, others say. */
  const nothingToTry = (): number => {
    problem = undefined;
    shown = undefined;
    return WAIT_MS;
  };

  const isRefused = ({ id }: JoinToken): boolean =>
    refused?.tokenId === id && clock.monotonicMs() - refused.at < REFUSED_AGAIN_MS;

  const failed = (fault: Fault, token: JoinToken | undefined): number => {
    problem = `joining fails: ${fault.message}`;
    if (fault.retry) {
      reporter.failed(fault);
      return Math.max(retries.failed(), fault.details.retryAfterMs ?? 0);
    }
    const what = `${token?.id} ${problem}`;
    if (what !== shown) log.warn({ fingerprint, code: fault.code, token: token?.id }, problem);
    shown = what;
    if (token !== undefined) refused = { tokenId: token.id, at: clock.monotonicMs() };
    return WAIT_MS;
  };

  const use = async (invitation: Invitation, token: JoinToken): Promise<"issued" | number> => {
    const { clusterId } = invitation;
    checkOwner(clusterId);
    if (isRefused(token)) return WAIT_MS;
    const reply = await send(invitation, token);
    reporter.recovered();
    if (reply.state === "waiting") {
      return waitFor(
        `${reply.message ?? "the broker has not issued the certificate yet"} (this agent's fingerprint is ${fingerprint})`,
      );
    }
    await certificates.store(clusterId, reply, token.id);
    problem = undefined;
    log.info({ clusterId, token: token.id, fingerprint, expires: reply.notAfter }, "joined the broker");
    await removeToken(joinSecret, token.id).catch((error: unknown) =>
      log.warn(
        { secret: joinSecret.label, token: token.id, error: toFault(error).message },
        "the used token could not be removed from its Secret; it is worth nothing to others",
      ),
    );
    return "issued";
  };

  /** Before anything is sent: a token is used up by it. */
  const checkOwner = (clusterId: string): void => {
    const refuse = (owner: string): never => {
      throw new Fault(
        "invalid",
        `the invitation in the Secret ${joinSecret.label} is for ${clusterId}, and ${owner}`,
      );
    };
    const flag = deps.clusterId;
    if (flag !== "" && flag !== clusterId)
      refuse(`--cluster-id is ${flag}: leave --cluster-id out, or apply an invitation for ${flag}`);
    const set = certificates.current();
    const name = set && commonNameOf(set);
    if (name !== undefined && name !== clusterId)
      refuse(`this agent is ${name}: all its reservations are. Apply an invitation for ${name}`);
  };

  const send = (invitation: Invitation, token: JoinToken): Promise<IssuedCertificate> => {
    const { clusterId, caHashes } = invitation;
    const brokerUrls = deps.brokerUrls.length > 0 ? deps.brokerUrls : invitation.brokerUrls;
    if (token.id !== tried)
      log.info({ clusterId, token: token.id, fingerprint, brokers: brokerUrls }, "joining the broker");
    tried = token.id;
    return enrollAtBroker(
      { brokerUrls, caHashes },
      (broker) => enrollmentMessage({ clusterId, token, ...broker }, keys),
      { clock, hints: deps.hints },
    );
  };

  const attempt = async (): Promise<"issued" | number> => {
    let token: JoinToken | undefined;
    try {
      const invitation = await readInvitation(joinSecret);
      ({ token } = invitation);
      const isJoined = certificates.current() !== undefined;
      // The certificate that this token was good for is the one that is of no use now.
      const isNew = token !== undefined && !(isJoined && token.id === certificates.joinedWith());
      if (token !== undefined && isNew) return await use(invitation, token);
      if (isJoined) return nothingToTry();
      const remedy = `brokerctl invite ${invitation.clusterId} --replace | kubectl apply -f -`;
      return waitFor(
        `the token in the Secret ${joinSecret.label} was used, and its certificate is gone: ${remedy}`,
      );
    } catch (error) {
      return failed(toFault(error), token);
    }
  };

  return {
    attempt,
    complete: async (signal) => {
      while (!signal.aborted) {
        // Another replica may have joined meanwhile.
        if (await certificates.refresh()) return;
        const pauseMs = await attempt();
        if (pauseMs === "issued") return;
        await wait(pauseMs, { clock, signal });
      }
    },
    problem: () => problem,
  };
}
