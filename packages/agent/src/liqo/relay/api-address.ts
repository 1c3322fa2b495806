import net, { isIP } from "node:net";
import { endpointProblem } from "../../settings/forms.ts";

export interface AddressCheck {
  /** Hosts that lead to this cluster itself. */
  readonly ownHosts: readonly string[];
  readonly allowsLoopback: boolean;
}

const NOWHERE = new net.BlockList();
for (const [address, bits] of [
  ["0.0.0.0", 8],
  ["169.254.0.0", 16],
  ["168.63.129.16", 32],
  ["100.100.100.200", 32],
  ["192.0.0.192", 32],
  ["224.0.0.0", 3],
] as const)
  NOWHERE.addSubnet(address, bits, "ipv4");
for (const [address, bits] of [
  // IPv4 addresses inside, which would escape the ranges above.
  ["::", 96],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["fe80::", 10],
  ["ff00::", 8],
  // Whole, as the admission rule has it: more than metadata is served there (EKS' credentials of pods: fd00:ec2::23).
  ["fd00:ec2::", 32],
  ["fd20:ce::", 32],
] as const)
  NOWHERE.addSubnet(address, bits, "ipv6");
const LOOPBACK = new net.BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");
/** Names that mean something else in each cluster. */
const LOCAL_NAME =
  /^(?:[^.]*|kubernetes\.default|(?:metadata|instance-data)\..*|.*\.(?:localhost|localdomain|svc|local|(?:ec2|google)\.internal|internal\.cloudapp\.net))$/;

/** Why Liqo must not go to the API server at this address; undefined: it may. Names are not resolved. */
export function addressProblem(apiServer: string, check: AddressCheck): string | undefined {
  const problem = endpointProblem(apiServer);
  if (problem !== undefined) return problem;
  const shown = JSON.stringify(apiServer.slice(0, 100));
  const { origin } = new URL(apiServer);
  // Go reads what is written in another way as another address.
  if (lowered(apiServer).replace(/(?::443)?\/?$/u, "") !== origin)
    return `${shown} is not written as an address of an API server: it would be ${origin}`;
  const kind = kindOf(hostOf(origin), check);
  return kind === undefined ? undefined : `${shown} is ${kind}`;
}

/** What the host is, if Liqo must not go there. */
function kindOf(host: string, { ownHosts, allowsLoopback }: AddressCheck): string | undefined {
  const family = FAMILIES[isIP(host)];
  // In tests all clusters are on one machine.
  if (family !== undefined && LOOPBACK.check(host, family))
    return allowsLoopback ? undefined : "a loopback address";
  if (ownHosts.some((own) => hostOf(urlOf(own)) === host)) return "this cluster itself";
  if (family === undefined) return LOCAL_NAME.test(host) ? "a name of this cluster or machine" : undefined;
  return NOWHERE.check(host, family) ? "a link-local, metadata or multicast address" : undefined;
}

const FAMILIES: Readonly<Record<number, "ipv4" | "ipv6">> = { 4: "ipv4", 6: "ipv6" };

function urlOf(host: string): string {
  return `https://${isIP(host) === 6 ? `[${host}]` : host}`;
}

/** Of ASCII only: other letters would become others on the way. */
function lowered(text: string): string {
  return text.replaceAll(/[A-Z]/gu, (letter) => letter.toLowerCase());
}

const MAPPED = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/u;

/** The host without port, brackets and final dot; an IPv4 address in IPv6 as what it is. */
function hostOf(url: string): string {
  const host = new URL(url).hostname.replace(/^\[|\]$|\.$/gu, "");
  const [, high, low] = MAPPED.exec(host) ?? [];
  if (high === undefined || low === undefined) return host;
  const bytes = [high, low]
    .map((word) => Number.parseInt(word, 16))
    .flatMap((word) => [word >> 8, word & 255]);
  return bytes.join(".");
}
