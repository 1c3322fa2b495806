import { randomUUID } from "node:crypto";
import { describeResources, Fault, parseResources } from "@resource-broker/base";
import { advertiseCall, decisionCall, reserveCall, type TypedCall } from "@resource-broker/client";
import type { AdvertisementDTO, ReservationDTO, ReservationRequestDTO } from "@resource-broker/contract";
import { type PeerCertificates, startBroker } from "@resource-broker/testkit";

export type Answer =
  | { readonly kind: "granted"; readonly reservation: ReservationDTO; readonly explanation: string }
  | { readonly kind: "refused"; readonly explanation: string; readonly flip: string | undefined };

/** A broker that runs as long as this program; its reservations are lost at the end. */
export interface LocalBroker {
  readonly advertise: (advertisement: AdvertisementDTO) => Promise<void>;
  /** Books it, so that the next one who asks is offered what is left. */
  readonly reserve: (requester: string, request: ReservationRequestDTO) => Promise<Answer>;
  readonly dispose: () => Promise<void>;
}

export interface LocalBrokerOptions {
  readonly certificates: PeerCertificates;
  /** A policy file; undefined: the defaults. */
  readonly policy: string | undefined;
}

export async function startLocalBroker({ certificates, policy }: LocalBrokerOptions): Promise<LocalBroker> {
  const broker = await startBroker({
    certificates,
    flags: policy === undefined ? [] : [`--policy=${policy}`],
  });
  const send = async <T>(call: TypedCall<T>, clusterId?: string): Promise<T> => {
    try {
      return (await broker.api(clusterId).request(call)).value;
    } catch (error) {
      throw error instanceof Fault ? unexpected(error) : error;
    }
  };

  return {
    advertise: async (advertisement) => {
      await send(advertiseCall(advertisement), advertisement.clusterID);
    },
    reserve: async (requester, request) => {
      const call = reserveCall(request, randomUUID());
      const reply = await broker.api(requester).request(call).catch(refusal);
      if (!(reply instanceof Fault)) {
        const { explanation } = await send(decisionCall(reply.value.decisionID ?? ""));
        return { kind: "granted", reservation: reply.value, explanation };
      }
      const { message, details } = reply;
      // A quota refuses the request before any candidate is considered.
      if (details.decisionID === undefined) return { kind: "refused", explanation: message, flip: undefined };
      const { explanation, flip } = await send(decisionCall(details.decisionID));
      return { kind: "refused", explanation, flip: flip ?? fallbackFlip(request) };
    },
    dispose: broker.dispose,
  };
}

/** Where no single change would do: mostly a pod that is larger than every node there is. */
function fallbackFlip({ requestedResources }: ReservationRequestDTO): string | undefined {
  const parsed = parseResources(requestedResources, "up");
  if (!parsed.ok) return undefined;
  return `Would fit another cluster that has ${describeResources(parsed.resources)} free on one node.`;
}

/** An answer of the broker; everything else is thrown. */
function refusal(error: unknown): Fault {
  if (error instanceof Fault && error.code !== "unreachable") return error;
  throw error;
}

function unexpected(fault: Fault): Fault {
  return new Fault("internal", `the local broker answers ${fault.status}: ${fault.message}`, {
    cause: fault,
  });
}
