import { describeResources, Fault, parseResources } from "@resource-broker/base";
import {
  type AdvertisementDTO,
  type DecisionDTO,
  decisionSchema,
  describeProblems,
  errorSchema,
  PATH,
  type ReservationDTO,
  type ReservationRequestDTO,
  reservationSchema,
  type Schema,
  validate,
} from "@resource-broker/contract";
import { type BrokerReply, type PeerCertificates, startBroker } from "@resource-broker/testkit";

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
  const decisionOf = async (id = ""): Promise<DecisionDTO> =>
    content(await broker.admin().request("GET", PATH.decision(id)), 200, decisionSchema);

  return {
    advertise: async (advertisement) => {
      const client = broker.clientFor(advertisement.clusterID);
      const reply = await client.request("POST", PATH.advertisements, { body: advertisement });
      if (reply.status !== 200) throw unexpected(reply);
    },
    reserve: async (requester, request) => {
      const reply = await broker.clientFor(requester).request("POST", PATH.reservations, { body: request });
      if (reply.status === 201) {
        const reservation = content(reply, 201, reservationSchema);
        const { explanation } = await decisionOf(reservation.decisionID);
        return { kind: "granted", reservation, explanation };
      }
      const { error, decisionID } = content(reply, reply.status, errorSchema);
      // A quota refuses the request before any candidate is considered.
      if (decisionID === undefined) return { kind: "refused", explanation: error, flip: undefined };
      const { explanation, flip } = await decisionOf(decisionID);
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

function content<T>(reply: BrokerReply, status: number, schema: Schema<T>): T {
  const checked = validate(schema, reply.body);
  if (reply.status !== status) throw unexpected(reply);
  if (checked.ok) return checked.value;
  throw new Fault(
    "internal",
    `the local broker's answer cannot be read: ${describeProblems(checked.problems)}`,
  );
}

function unexpected({ status, body }: BrokerReply): Fault {
  const parsed = validate(errorSchema, body);
  const text = parsed.ok ? parsed.value.error : JSON.stringify(body);
  return new Fault("internal", `the local broker answers ${status}: ${text}`);
}
