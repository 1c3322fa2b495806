import { choice, count, flag, listOf, shape, text, texts } from "./json-schema.ts";

/** A certificate as `certs show` prints it. */
export const CERTIFICATE = shape("A certificate.", {
  name: text("ca, admin-ca, enrollment, broker, a cluster ID, or the file's path."),
  file: text("Where it is."),
  use: text("What it is good for, in words."),
  subject: text("To whom it was given."),
  issuer: text("Who signed it."),
  serial: text("Its number, in hexadecimal."),
  notBefore: text("When it begins (RFC 3339)."),
  notAfter: text("When it ends (RFC 3339)."),
  subjectAltNames: texts("The names of the server it stands for."),
  extendedKeyUsages: texts("clientAuth, serverAuth."),
  isAuthority: flag("True: it may sign others."),
  isAdmin: flag("True: its owner is an admin."),
  fingerprint256: text("SHA-256 of it."),
  status: choice(
    "The worst thing about it.",
    "valid",
    "expiring",
    "expired",
    "not yet valid",
    "revoked",
    "untrusted",
    "key mismatch",
  ),
  problems: texts("What is wrong, in words; empty when nothing is."),
});

/** A line of the authority's register. */
export const SIGNED = shape("A certificate that the authority signed.", {
  serial: text("Its number, in hexadecimal."),
  name: text("A cluster ID, broker, or enrollment."),
  use: choice("What it is good for.", "client", "server", "authority"),
  admin: flag("True: its owner is an admin."),
  hosts: texts("The names of the server it stands for."),
  days: count("How long it was to last."),
  notBefore: text("When it begins (RFC 3339)."),
  notAfter: text("When it ends (RFC 3339)."),
  "fromRequest?": flag("True: signed from a request; the key is elsewhere."),
  "revoked?": shape("That it was revoked.", { at: text("When (RFC 3339)."), reason: text("Why.") }),
});

/** A revocation list. */
export const CRL = shape("A revocation list.", {
  file: text("Where it is."),
  thisUpdate: text("When it was signed (RFC 3339)."),
  nextUpdate: text("Until when it is good (RFC 3339)."),
  revoked: listOf(
    shape("One certificate.", { serial: text("Its number."), at: text("When (RFC 3339).") }),
    "Revoked.",
  ),
});
