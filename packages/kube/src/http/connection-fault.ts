import { Fault } from "@resource-broker/base";

/** What to check, by the code of the error. Codes of TLS and of the system do not overlap. */
const REMEDIES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused: is the API server running, and are address and port correct?",
  ENOTFOUND: "its name is not known: check the spelling, and DNS",
  EAI_AGAIN: "its name could not be looked up: check DNS",
  EHOSTUNREACH: "there is no way to it: check the network, a VPN, or a firewall",
  ENETUNREACH: "there is no way to it: check the network, a VPN, or a firewall",
  EADDRNOTAVAIL: "there is no way to it: check the network, or IPv6",
  ETIMEDOUT: "it does not answer: check the network, a VPN, or a firewall",
  ECONNRESET: "the connection was cut: is the API server being restarted, or a proxy in between?",
  ERR_STREAM_PREMATURE_CLOSE:
    "the connection was cut: is the API server being restarted, or a proxy in between?",
  EPIPE: "the connection was cut: is the API server being restarted, or a proxy in between?",
  CERT_HAS_EXPIRED: "its certificate has expired: renew it there, and check the clock here",
  CERT_NOT_YET_VALID: "its certificate is not valid yet: check the clocks",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is of no authority we trust: check certificate-authority",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate is of no authority we trust: check certificate-authority",
  UNABLE_TO_GET_ISSUER_CERT: "its certificate is of no authority we trust: check certificate-authority",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    "its certificate is of no authority we trust: check certificate-authority",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate is of no authority we trust: check certificate-authority",
  CERT_SIGNATURE_FAILURE:
    "its certificate is of another authority with the name of ours: check certificate-authority",
  INVALID_PURPOSE: "its certificate is not for servers: check the address, or issue it anew",
  CERT_REVOKED: "its certificate was revoked: issue it anew",
  EPROTO: "TLS handshake failed: is it plain http, or another service on that port?",
  ERR_SSL_WRONG_VERSION_NUMBER: "it does not speak TLS: is it plain http, or another service on that port?",
  ERR_SSL_PACKET_LENGTH_TOO_LONG: "it does not speak TLS: is it plain http, or another service on that port?",
};

const WRONG_NAME =
  "its certificate is for another name: use an address that is in it, or set tls-server-name";
const NOT_HTTP = "what it says is not HTTP: is it https, or another service on that port?";
const CLIENT_CERTIFICATE = "it does not accept our client certificate: renew it, and check its authority";
const OTHER = "check address, network and certificates";

/** Nobody could be asked: says what to check. `origin` is where the address comes from. */
export function connectionFault(
  error: unknown,
  { server, origin }: { server: string; origin: string },
): Fault {
  if (error instanceof Fault) return error;
  const { code, message } = partsOf(error);
  const reason = code === "" ? message : `${message} [${code}]`;
  return new Fault("unreachable", `${server} (${origin}) cannot be reached, ${remedyOf(code)} (${reason})`, {
    cause: error,
  });
}

function remedyOf(code: string): string {
  const known = REMEDIES[code];
  if (known !== undefined) return known;
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID" || code === "HOSTNAME_MISMATCH") return WRONG_NAME;
  if (code.startsWith("HPE_")) return NOT_HTTP;
  if (/ALERT_(?:BAD_|UNKNOWN_CA|CERTIFICATE|ACCESS)|CERTIFICATE_REQUIRED|UNKNOWN_CA/u.test(code))
    return CLIENT_CERTIFICATE;
  return OTHER;
}

function partsOf(error: unknown): { readonly code: string; readonly message: string } {
  if (!(error instanceof Error)) return { code: "", message: String(error) };
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  // Several addresses were tried: each has a message of its own.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  const message = first instanceof Error ? first.message : error.message;
  return { code, message: message.split("\n", 1)[0] ?? "" };
}
