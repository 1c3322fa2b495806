import { type DecisionDTO, Fault, type Reservation, type ReservationDTO } from "@resource-broker/contract";
import { isLive } from "@resource-broker/domain";
import type { Role } from "../broker-communicator.ts";
import { currentReservation, type ObjectCalls } from "./object-calls.ts";
import { decisionIn, partiesOf } from "./read-reservation.ts";

/** Reads from the API server. */
export function reads(objects: ObjectCalls) {
  const { scope, brokerHealth, calls } = objects;
  const { clusterId } = scope;

  const fetchReservations = (role: Role): Promise<readonly ReservationDTO[]> =>
    objects.answered(async (signal) => {
      await brokerHealth.whenAlive(signal);
      return objects.list(role, signal, (object) => currentReservation(objects, object, role));
    });

  const fetchReservation = (id: string): Promise<ReservationDTO | undefined> =>
    objects.answered(async (signal) => {
      await brokerHealth.whenAlive(signal);
      const name = objects.nameOf(id) ?? id;
      const object = await calls.retry(signal, () => objects.find(name, signal));
      const role = object && roleOf(object);
      return object && role && currentReservation(objects, object, role);
    });

  const roleOf = (object: Reservation): Role | undefined => {
    const { requesterID, targetClusterID } = partiesOf(object);
    if (requesterID === clusterId) return "requester";
    return targetClusterID === clusterId ? "provider" : undefined;
  };

  const explain = (decisionId: string): Promise<DecisionDTO> =>
    objects.answered(async (signal) => {
      await brokerHealth.whenAlive(signal);
      const [text] = await objects.list("requester", signal, ({ status }) =>
        status?.decisionID === decisionId ? status.decision : undefined,
      );
      const decision = decisionIn(text);
      if (decision !== undefined) return decision;
      throw new Fault("not-found", `no decision ${decisionId} on a request of ${clusterId}`);
    });

  return {
    fetchReservations,
    fetchReservation,
    fetchInstructions: async (): Promise<readonly ReservationDTO[]> =>
      (await fetchReservations("provider")).filter(({ status }) => isLive(status.phase)),
    explain,
  };
}
