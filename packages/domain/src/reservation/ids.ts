/** A cluster's identity: the Common Name of its certificate. */
export type ClusterId = string;
export type ReservationId = string;
export type DecisionId = string;

/** Milliseconds since 1970 on the broker's clock. The domain never reads a clock: callers pass the time. */
export type Instant = number;

const LABEL = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?";
/** A DNS subdomain as Kubernetes takes it: labels with single dots between them. The one grammar, everywhere. */
export const DNS_SUBDOMAIN = `${LABEL}(?:\\.${LABEL})*`;
/** Objects and paths are named after a cluster, and labels hold its ID: a subdomain as short as a label's value. */
export const CLUSTER_ID_PATTERN = `^${DNS_SUBDOMAIN}$`;
export const CLUSTER_ID_MAX_LENGTH = 63;
/** The grammar in words, for error messages. */
export const CLUSTER_ID_FORM = "lower-case letters, digits, '-' and single '.', at most 63 of them";
const CLUSTER_ID = new RegExp(CLUSTER_ID_PATTERN, "u");
const REQUESTER_PART_MAX_LENGTH = 20;
const DIGEST_PART_LENGTH = 16;
const ID_MAX_LENGTH = 41;
const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";

export function isClusterId(text: string): text is ClusterId {
  return text.length <= CLUSTER_ID_MAX_LENGTH && CLUSTER_ID.test(text);
}

/**
 * `rsv-<requester>-<digest>`: a DNS label of at most 41 characters. The digest is SHA-256 of requester and key
 * (or of random bytes when there is no key), computed by the caller, so the same key gives the same id on every store.
 */
export function reservationId(requester: ClusterId, digest: Uint8Array): ReservationId {
  return prefixOf(requester) + base32(digest).slice(0, DIGEST_PART_LENGTH);
}

/** The same key of the same requester makes the same id: on every store, after every restart, and at the agent itself. */
export function reservationNameFor(
  requester: ClusterId,
  key: string,
  sha256: (text: string) => Uint8Array,
): ReservationId {
  return reservationId(requester, sha256(`${requester}\0${key}`));
}

/** True when the id may be one of this requester's: a DNS label that begins with its name. */
export function isReservationIdOf(id: string, requester: ClusterId): boolean {
  return id.length <= ID_MAX_LENGTH && id.startsWith(prefixOf(requester)) && /^[-a-z0-9]*[a-z0-9]$/.test(id);
}

function prefixOf(requester: ClusterId): string {
  const name = requester.slice(0, REQUESTER_PART_MAX_LENGTH).replaceAll(".", "-").replace(/-+$/, "");
  return `rsv-${name}-`;
}

function base32(bytes: Uint8Array): string {
  let text = "";
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = ((buffer << 8) | byte) & 0xffff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32.charAt((buffer >> bits) & 31);
    }
  }
  return text;
}
