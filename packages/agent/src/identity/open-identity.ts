import { type Clock, Fault, type Log } from "@resource-broker/base";
import type { BrokerClient, ClientHints } from "@resource-broker/client";
import type { KubeClient } from "@resource-broker/kube";
import {
  type CertificateSet,
  type CertificateSource,
  fingerprintOf,
  observedCertificates,
  type Reloads,
} from "@resource-broker/runtime";
import { AGENT_HINTS, type AgentSettings } from "../settings/agent-settings.ts";
import { secretName } from "../settings/forms.ts";
import { agentCertificates } from "./agent-certificates.ts";
import { type AgentIdentity, createAgentIdentity, type IdentityInUse } from "./agent-identity.ts";
import { type AgentKeys, ensureKeys } from "./agent-keys.ts";
import { certificateRenewal } from "./certificate-renewal.ts";
import { type Enrollment, enrollment } from "./enrollment.ts";
import { invitedBrokerUrls } from "./join-secret.ts";
import { type NamedSecret, namedSecret } from "./named-secret.ts";
import type { Refusal } from "./refusal.ts";
import { secretCertificates } from "./secret-certificates.ts";

export interface OpenIdentityDeps {
  readonly client: Pick<KubeClient, "find" | "update">;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Log;
  readonly reloads: Pick<Reloads, "source">;
  readonly onRenewal: (result: "renewed" | "failed") => void;
}

/** How the agent reaches the broker, and shows it who it is. */
export interface BrokerCredentials {
  readonly certificates: CertificateSource;
  readonly brokerUrls: readonly string[];
  readonly hints: ClientHints;
  readonly agentIdentity?: (set: CertificateSet) => string | undefined;
}

/** What `--identity-secret` brings. */
export interface OpenedIdentity {
  readonly identity: AgentIdentity;
  /** Undefined: a certificate is there already. */
  readonly enrollment: Enrollment | undefined;
  /** To be called when a certificate is there. */
  readonly credentials: () => Promise<BrokerCredentials>;
  /** Renews the certificate until it is stopped. `refusal`: why agent and broker do not accept each other, while they do not. */
  readonly startRenewal: (
    broker: Pick<BrokerClient, "renewCertificate" | "onResponse" | "identity">,
    refusal: () => Refusal | undefined,
  ) => () => Promise<void>;
  /** Why this agent has no access to the broker, with the remedy; undefined: no reason is known. */
  readonly problem: () => string | undefined;
}

/** Reads or makes the keys in the Secret of `--identity-secret`; the certificate comes from there or from `--broker-cert-path`. */
export async function openIdentity(settings: AgentSettings, deps: OpenIdentityDeps): Promise<OpenedIdentity> {
  const secret = namedSecret(secretName(settings["identity-secret"]), deps.client);
  const keys = await ensureKeys(secret);
  const fingerprint = fingerprintOf(keys.identity.id);
  deps.log.info({ secret: secret.label, fingerprint }, "the identity key of this agent");
  const inUse = createAgentIdentity(keys.identity);
  return settings["broker-cert-path"] === ""
    ? withSecret({ settings, secret, keys, inUse }, deps)
    : withFolder(settings, inUse, deps);
}

function withFolder(settings: AgentSettings, inUse: IdentityInUse, deps: OpenIdentityDeps): OpenedIdentity {
  const report = deps.reloads.source("certificates");
  const folder = agentCertificates(settings["broker-cert-path"], { ...deps, report });
  return {
    identity: inUse.identity,
    enrollment: undefined,
    credentials: async () => ({
      certificates: observedCertificates(folder, inUse.use),
      brokerUrls: settings["broker-url"],
      hints: AGENT_HINTS,
      agentIdentity: inUse.header,
    }),
    startRenewal: () => async () => undefined,
    problem: () => undefined,
  };
}

interface SecretParts {
  readonly settings: AgentSettings;
  readonly secret: NamedSecret;
  readonly keys: AgentKeys;
  readonly inUse: IdentityInUse;
}

async function withSecret(parts: SecretParts, deps: OpenIdentityDeps): Promise<OpenedIdentity> {
  const { settings, secret, keys, inUse } = parts;
  const report = deps.reloads.source("certificates");
  const certificates = secretCertificates({ ...deps, secret, report });
  const joinSecret =
    settings["join-secret"] === ""
      ? undefined
      : namedSecret(secretName(settings["join-secret"]), deps.client);
  const hints: ClientHints = {
    ...AGENT_HINTS,
    url:
      joinSecret === undefined
        ? AGENT_HINTS.url
        : `--broker-url or brokerURLs in the Secret ${joinSecret.label}`,
    certificates: `the Secret ${secret.label}`,
    remedy: (clusterId) => `let an admin run: brokerctl invite ${clusterId} --replace | kubectl apply -f -`,
  };
  const given = { clusterId: settings["cluster-id"], brokerUrls: settings["broker-url"] };
  const join = joinSecret && enrollment({ ...deps, ...given, joinSecret, certificates, keys, hints });
  const isJoined = await certificates.refresh();
  if (!isJoined && join === undefined) {
    const remedy = "name the Secret of an invitation with --join-secret, or a folder with --broker-cert-path";
    throw new Fault("no-certificate", `the Secret ${secret.label} has no certificate: ${remedy}`);
  }
  let problem = (): string | undefined => (isJoined ? undefined : join?.problem());
  return {
    identity: inUse.identity,
    enrollment: isJoined ? undefined : join,
    credentials: async () => ({
      certificates: observedCertificates(certificates, inUse.use),
      brokerUrls:
        joinSecret && given.brokerUrls.length === 0 ? await invitedBrokerUrls(joinSecret) : given.brokerUrls,
      hints,
      agentIdentity: inUse.header,
    }),
    startRenewal: (broker, refusal) => {
      const renewal = certificateRenewal({ ...deps, broker, certificates, keys, enrollment: join, refusal });
      problem = renewal.problem;
      renewal.start();
      return renewal.stop;
    },
    problem: () => problem(),
  };
}
