import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { errorText, Fault } from "@resource-broker/base";
import { IDENTITY_SECRET, SIGNED_TEXT } from "@resource-broker/contract";
import {
  type CertificateSet,
  generateIdentityKey,
  generateKeys,
  type IdentityKey,
  publicKeyHash,
  readIdentityKey,
  signText,
  toKeyPem,
} from "@resource-broker/runtime";
import type { NamedSecret, SecretValues } from "./named-secret.ts";

/** The keys of this agent. They are made once and never leave its Secret. */
export interface AgentKeys {
  readonly identity: IdentityKey;
  /** Of the certificates that the broker issues. */
  readonly tls: { readonly privateKey: KeyObject; readonly publicKey: KeyObject };
}

/** Reads the keys; makes those that are missing, and writes them before anybody uses them. */
export async function ensureKeys(secret: NamedSecret): Promise<AgentKeys> {
  const found = await secret.find();
  if (found !== undefined && hasKeys(found)) return readKeys(found, secret.label);
  const fresh = {
    [IDENTITY_SECRET.identityKey]: toKeyPem(generateIdentityKey().privateKey),
    [IDENTITY_SECRET.tlsKey]: toKeyPem((await generateKeys()).privateKey),
  };
  // Another replica may have written its own meanwhile: those count.
  const values = await secret.change((now) =>
    hasKeys(now) ? undefined : { ...now, ...fresh, ...kept(now) },
  );
  return readKeys(values, secret.label);
}

function hasKeys(values: SecretValues): boolean {
  const names = [IDENTITY_SECRET.identityKey, IDENTITY_SECRET.tlsKey];
  return names.every((name) => (values[name] ?? "") !== "");
}

/** What the Secret has already; an empty value is none. */
function kept(values: SecretValues): SecretValues {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
}

function readKeys(values: SecretValues, label: string): AgentKeys {
  const read = <T>(name: string, parse: (pem: string) => T): T => {
    try {
      return parse(values[name] ?? "");
    } catch (cause) {
      const remedy = `restore the Secret from a backup, or remove ${name} and let an admin run brokerctl invite <cluster-id> --replace`;
      throw new Fault(
        "invalid",
        `${name} in the Secret ${label} is no key (${errorText(cause)}): ${remedy}`,
        {
          cause,
        },
      );
    }
  };
  const privateKey = read(IDENTITY_SECRET.tlsKey, (pem) => createPrivateKey(pem));
  return {
    identity: read(IDENTITY_SECRET.identityKey, readIdentityKey),
    tls: { privateKey, publicKey: createPublicKey(privateKey) },
  };
}

/** The header Agent-Identity: the identity key vouches for the key of the certificate in use. */
export function identityHeader(clusterId: string, { own }: CertificateSet, key: IdentityKey): string {
  return `${key.id}.${vouchFor(own.publicKey, clusterId, key)}`;
}

/** By the identity key, for the key of a certificate. */
export function vouchFor(publicKey: KeyObject, clusterId: string, key: IdentityKey): string {
  return signText(SIGNED_TEXT.certificateKey(clusterId, publicKeyHash(publicKey)), key);
}
