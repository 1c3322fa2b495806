import { createPrivateKey, type KeyObject, type X509Certificate } from "node:crypto";
import { Fault } from "@resource-broker/base";
import { commonNameOf } from "@resource-broker/client";
import type { CertificateSet, IdentityKey } from "@resource-broker/runtime";
import { identityHeader } from "./agent-keys.ts";

/** Who this agent is: to the broker, and to the agents of other clusters. */
export interface AgentIdentity {
  /** Long-lived; peers pin it. It never leaves this cluster. */
  readonly key: IdentityKey;
  /** The client certificate in use, in PEM with its intermediates, and its key. */
  readonly certificate: () => { readonly pem: string; readonly privateKey: KeyObject };
  /** The authorities of the fleet, as this agent trusts them. */
  readonly authorities: () => readonly X509Certificate[];
}

/** An identity with the certificates that are in use. */
export interface IdentityInUse {
  readonly identity: AgentIdentity;
  /** Called with the first certificates and all later ones. */
  readonly use: (set: CertificateSet) => void;
  /** The header Agent-Identity for calls with these certificates. */
  readonly header: (set: CertificateSet) => string | undefined;
}

export function createAgentIdentity(key: IdentityKey): IdentityInUse {
  let inUse: { readonly set: CertificateSet; readonly privateKey: KeyObject } | undefined;
  const current = () => {
    if (inUse === undefined) throw new Fault("no-certificate", "no certificate is in use yet");
    return inUse;
  };
  return {
    identity: {
      key,
      certificate: () => ({ pem: current().set.files.cert, privateKey: current().privateKey }),
      authorities: () => current().set.authorities,
    },
    use: (set) => {
      inUse = { set, privateKey: createPrivateKey(set.files.key) };
    },
    header: (set) => {
      const clusterId = commonNameOf(set);
      return clusterId === undefined ? undefined : identityHeader(clusterId, set, key);
    },
  };
}
