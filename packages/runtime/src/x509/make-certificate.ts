import { type KeyObject, X509Certificate } from "node:crypto";
import {
  authorityConstraints,
  authorityKeyId,
  type ExtendedKeyUsage,
  extendedKeyUsage,
  keyUsage,
  leafConstraints,
  subjectAltName,
  subjectKeyId,
} from "./extensions.ts";
import { type Issuer, keyIdOf, SIGNATURE_ALGORITHM, signed, spkiOf } from "./sign.ts";
import { integer, objectId, sequence, set, smallInteger, tagged, time, utf8String } from "./write-der.ts";

export interface Validity {
  readonly notBefore: number;
  readonly notAfter: number;
}

export interface LeafRequest extends Validity {
  readonly commonName: string;
  /** Organizational units: `broker-admin` makes an admin. */
  readonly units?: readonly string[];
  readonly organizations?: readonly string[];
  /** At least one: a certificate that says nothing would be good for everything. */
  readonly usages: readonly ExtendedKeyUsage[];
  /** DNS names and addresses of a server. */
  readonly hosts?: readonly string[];
  readonly publicKey: KeyObject;
}

const COMMON_NAME = "2.5.4.3";
const ORGANIZATION = "2.5.4.10";
const ORGANIZATIONAL_UNIT = "2.5.4.11";
const VERSION_3 = tagged(0, smallInteger(2));
const SERIAL_BYTES = 16;

/** The subject of an authority, as its certificates and theirs below it will spell it. */
export function authorityName(commonName: string): Uint8Array {
  return encodeName([[COMMON_NAME, commonName]]);
}

/** A root certificate: the key's own signature on its name. One intermediate may stand below it. */
export function makeAuthorityCertificate(issuer: Issuer, validity: Validity): X509Certificate {
  const { name, publicKey } = issuer;
  return make({ subject: name, publicKey, validity, issuer }, [
    authorityConstraints(1),
    keyUsage("keyCertSign", "cRLSign"),
    subjectKeyId(keyIdOf(publicKey)),
  ]);
}

export interface IntermediateRequest extends Validity {
  readonly commonName: string;
  readonly publicKey: KeyObject;
}

/** An authority below another, for clients: it signs no further authority, and no server that OpenSSL or Go believe. */
export function makeIntermediateCertificate(request: IntermediateRequest, issuer: Issuer): X509Certificate {
  const { commonName, publicKey } = request;
  return make({ subject: authorityName(commonName), publicKey, validity: request, issuer }, [
    authorityConstraints(0),
    keyUsage("keyCertSign", "cRLSign"),
    extendedKeyUsage("clientAuth"),
    subjectKeyId(keyIdOf(publicKey)),
    authorityKeyId(issuer.keyId ?? keyIdOf(issuer.publicKey)),
  ]);
}

export function makeLeafCertificate(request: LeafRequest, issuer: Issuer): X509Certificate {
  const { commonName, units = [], organizations = [], hosts = [], publicKey, usages } = request;
  if (usages.length === 0)
    throw new RangeError(`the certificate of ${commonName} needs a use: server or client`);
  const subject = encodeName([
    ...organizations.map((name) => [ORGANIZATION, name] as const),
    ...units.map((unit) => [ORGANIZATIONAL_UNIT, unit] as const),
    [COMMON_NAME, commonName],
  ]);
  return make({ subject, publicKey, validity: request, issuer }, [
    leafConstraints(),
    keyUsage("digitalSignature"),
    extendedKeyUsage(...usages),
    subjectKeyId(keyIdOf(publicKey)),
    authorityKeyId(issuer.keyId ?? keyIdOf(issuer.publicKey)),
    ...(hosts.length === 0 ? [] : [subjectAltName(hosts)]),
  ]);
}

interface Parts {
  readonly subject: Uint8Array;
  readonly publicKey: KeyObject;
  readonly validity: Validity;
  readonly issuer: Issuer;
}

function make(
  { subject, publicKey, validity, issuer }: Parts,
  extensions: readonly Uint8Array[],
): X509Certificate {
  const body = sequence(
    VERSION_3,
    integer(issuer.randomBytes(SERIAL_BYTES)),
    SIGNATURE_ALGORITHM,
    issuer.name,
    sequence(time(validity.notBefore), time(validity.notAfter)),
    subject,
    spkiOf(publicKey),
    tagged(3, sequence(...extensions)),
  );
  return new X509Certificate(signed(body, issuer.privateKey));
}

function encodeName(attributes: readonly (readonly [id: string, value: string])[]): Buffer {
  return sequence(...attributes.map(([id, value]) => set(sequence(objectId(id), utf8String(value)))));
}
