import { HEADER, PATH, PROTOCOL_VERSION } from "@resource-broker/contract";
import { DEFAULT_POLICY } from "@resource-broker/domain";
import { advertisementBody } from "./bodies.ts";

const RESERVATION = JSON.stringify({ requestedResources: { cpu: "500m", memory: "1Gi" } });

/** Which clusters there are: all different in size and price, as in life, or all the same, which is harder to decide. */
export type ClusterVariety = "different" | "alike";

/** What the agent of an empty cluster posts: its size and prices follow from its number. */
export function advertisementRequest(clusterId: string, variety: ClusterVariety = "different"): string {
  const number = variety === "alike" ? 0 : Number(clusterId.slice(clusterId.lastIndexOf("-") + 1));
  const size = { cpu: 512 + 5 * (number % 97), memoryGi: 2048 + 20 * (number % 89) };
  const cost = {
    cpuCost: (0.02 + (number % 101) / 5000).toFixed(4),
    memoryCost: "0.005",
    currency: DEFAULT_POLICY.prices.currency,
  };
  return post(PATH.advertisements, JSON.stringify({ ...advertisementBody(clusterId, size), cost }));
}

/** A small reservation with a key of its own. */
export function reservationRequest(key: string): string {
  return post(PATH.reservations, RESERVATION, `${HEADER.idempotencyKey}: ${key}\r\n`);
}

function post(path: string, body: string, more = ""): string {
  const about = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  return `POST ${path} HTTP/1.1\r\n${common()}${more}${about}\r\n${body}`;
}

function common(): string {
  return `Host: 127.0.0.1\r\n${HEADER.agentProtocol}: ${PROTOCOL_VERSION}\r\n`;
}
