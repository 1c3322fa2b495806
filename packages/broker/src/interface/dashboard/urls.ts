import type { X509Certificate } from "node:crypto";
import { isIPv6 } from "node:net";
import { isNameOf, nameIn } from "./origin.ts";
import type { ApiAddress } from "./ports.ts";

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
