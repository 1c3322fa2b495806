import type { BrokerClient, ClientHints } from "@resource-broker/client";
import type { BrokerTransport } from "./broker-communicator.ts";

/** How the client's messages name the agent's flags. */
export const AGENT_HINTS: ClientHints = {
  program: "agent",
  url: "--broker-url",
  certificates: "the folder of --broker-cert-path",
};

/** The broker over HTTPS with client certificates. */
export function httpTransport(client: BrokerClient): BrokerTransport {
  return {
    identity: client.identity,
    publishAdvertisement: client.publish,
    requestReservation: client.reserve,
    fetchReservations: client.listReservations,
    fetchReservation: client.getReservation,
    fetchInstructions: client.listInstructions,
    watchInstructions: client.watch,
    activate: client.activate,
    renew: client.renew,
    release: client.release,
    releaseByKey: client.releaseByKey,
    acknowledge: client.acknowledge,
    refuse: client.refuse,
    quote: client.quote,
    explain: client.getDecision,
    adopt: client.adopt,
    ping: client.ping,
    onResponse: client.onResponse,
    close: client.close,
  };
}
