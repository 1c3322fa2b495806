import {
  type Der,
  element,
  explicit,
  integer,
  octetString,
  oid,
  sequence,
  time,
  unsignedInteger,
} from "./der.ts";
import { authorityKeyId, extension } from "./extensions.ts";
import {
  type Authority,
  keyIdOf,
  signatureAlgorithm,
  signed,
  toPem,
  VALID_FROM,
  VALID_UNTIL,
} from "./make-certificate.ts";
import { encodeSubject } from "./subject.ts";

export interface CrlOptions {
  readonly thisUpdate?: Date;
  /** In the past: TLS then refuses every certificate of this authority. */
  readonly nextUpdate?: Date;
  readonly number?: number;
  readonly brokenSignature?: boolean;
}

const REASON_KEY_COMPROMISE = element(0x0a, Uint8Array.of(1));

/** A revocation list as PEM; `serials` are hex, as `Certificate.serial` gives them. */
export function makeCrl(issuer: Authority, serials: readonly string[], options: CrlOptions = {}): string {
  const { thisUpdate = VALID_FROM, nextUpdate = VALID_UNTIL, number = 1 } = options;
  const algorithm = signatureAlgorithm(issuer.keys, "sha256");
  const revoked = serials.map((serial) => revokedEntry(serial, thisUpdate));
  const body = sequence(
    integer(1),
    algorithm.id,
    encodeSubject(issuer.subject),
    time(thisUpdate),
    time(nextUpdate),
    ...(revoked.length === 0 ? [] : [sequence(...revoked)]),
    explicit(0, sequence(authorityKeyId(keyIdOf(issuer.keys)), extension("2.5.29.20", integer(number)))),
  );
  return toPem("X509 CRL", signed(body, algorithm, options.brokenSignature ?? false));
}

function revokedEntry(serial: string, at: Date): Der {
  const reason = sequence(oid("2.5.29.21"), octetString(REASON_KEY_COMPROMISE));
  return sequence(unsignedInteger(Buffer.from(serial, "hex")), time(at), sequence(reason));
}
