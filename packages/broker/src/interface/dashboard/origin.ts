import type { X509Certificate } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { isIP, isIPv6 } from "node:net";
import { Fault } from "@resource-broker/base";
import type { ApiAddress } from "./ports.ts";

/** The header that no form and no foreign page can send. */
const OWN_HEADER = "x-broker-dashboard";
const SITE_HEADER = "sec-fetch-site";
/** Browsers do not name it. */
const HTTP_PORT = 80;

/** The scheme and host names under which the dashboard accepts requests. */
export interface AllowedOrigin {
  readonly scheme: "http" | "https";
  readonly isOwnHost: (host: string) => boolean;
}

/** Plain HTTP on this machine: only loopback names are accepted, which prevents DNS rebinding. */
export function loopbackOrigin(bound: { readonly host: string; readonly port: () => number }): AllowedOrigin {
  const names = ["127.0.0.1", "localhost", "[::1]", bound.host];
  const isOwnHost = (host: string): boolean => {
    const port = bound.port();
    const withPort = port === HTTP_PORT && !host.endsWith(`:${port}`) ? `${host}:${port}` : host;
    return names.some((name) => `${name}:${port}` === withPort.toLowerCase());
  };
  return { scheme: "http", isOwnHost };
}

/** Reached by others: by a name of the broker's certificate. The port may be another one in front of us. */
export function certificateOrigin(certificate: () => X509Certificate): AllowedOrigin {
  return { scheme: "https", isOwnHost: (host) => isNameOf(certificate(), nameIn(host)) };
}

function isNameOf(certificate: X509Certificate, name: string): boolean {
  if (name === "") return false;
  const matched = isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name);
  return matched !== undefined;
}

/** `broker.example.org:8090` → `broker.example.org`, `[::1]:8090` → `::1`. */
export function nameIn(host: string): string {
  const [, inBrackets, plain] = /^(?:\[([0-9a-fA-F:.]+)\]|([\w.-]+))(?::\d{1,5})?$/.exec(host) ?? [];
  return inBrackets ?? plain ?? "";
}

/**
 * Prevents DNS rebinding: requests for a foreign host name are refused, with or without a cookie. Requests with two Host
 * headers or an absolute URL are refused, because a proxy may have checked another name than Node reports.
 */
export function checkHost(
  { headers, rawHeaders, url = "" }: Pick<IncomingMessage, "headers" | "rawHeaders" | "url">,
  allowed: AllowedOrigin,
): string {
  const names = rawHeaders.filter((word, at) => at % 2 === 0 && word.toLowerCase() === "host");
  if (names.length > 1 || !url.startsWith("/"))
    throw new Fault("malformed", "a request names the dashboard once, in its Host header");
  const { host } = headers;
  if (host !== undefined && allowed.isOwnHost(host)) return host;
  throw new Fault(
    "forbidden",
    "the dashboard is not available under this name: open the address that brokerctl dashboard prints",
  );
}

/** Values of Sec-Fetch-Site for calls of the own pages or of a user; older browsers send none. */
const ALLOWED_FETCH_SITES: ReadonlySet<unknown> = new Set([undefined, "same-origin", "none"]);

/** Throws a Fault if the call does not come from the dashboard's own pages. */
export function checkOrigin(
  {
    method,
    headers,
    host,
  }: { readonly method: string; readonly headers: IncomingHttpHeaders; readonly host: string },
  { scheme }: AllowedOrigin,
): void {
  const site = headers[SITE_HEADER];
  const { origin } = headers;
  const isOwnOrigin = origin === `${scheme}://${host}`;
  if (!ALLOWED_FETCH_SITES.has(site) || (origin !== undefined && !isOwnOrigin))
    throw new Fault("forbidden", "another site's page may not call the dashboard");
  if (method === "GET" || method === "HEAD") return;
  if (headers[OWN_HEADER] !== "1")
    throw new Fault("forbidden", "this call needs the header X-Broker-Dashboard: 1");
  if (!isOwnOrigin && site !== "same-origin")
    throw new Fault("forbidden", "this call must come from the dashboard's own pages");
}

/** The URL of a sign-in link: the bound address, or a name of the certificate. */
export function pageUrl(address: {
  readonly host: string | undefined;
  readonly port: number;
  /** Absent: plain HTTP on this machine. */
  readonly certificate?: X509Certificate;
}): string {
  const { host, port, certificate } = address;
  if (certificate === undefined) return `http://${inUrl(host ?? "localhost")}:${port}/`;
  const names = [...(host === undefined ? [] : [host]), ...certifiedNames(certificate)];
  const name = names.find((each) => isNameOf(certificate, each)) ?? host ?? "localhost";
  return `https://${inUrl(name)}:${port}/`;
}

/** The URL of the API for a user who reached the dashboard by this host name. */
export function apiUrl(api: ApiAddress | undefined, host: string): string | null {
  if (api === undefined) return null;
  const isEverywhere = api.host === "" || api.host === "0.0.0.0" || api.host === "::";
  return `https://${inUrl(isEverywhere ? nameIn(host) : api.host)}:${api.port}`;
}

function inUrl(name: string): string {
  return isIPv6(name) ? `[${name}]` : name;
}

/** Names, then addresses; wildcards are omitted. */
function certifiedNames({ subjectAltName = "" }: X509Certificate): string[] {
  const stated = subjectAltName.split(", ");
  const all = (prefix: string): string[] =>
    stated.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  return [...all("DNS:"), ...all("IP Address:")].filter((name) => !name.includes("*"));
}
