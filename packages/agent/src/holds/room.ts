import type { ReservationDTO } from "@resource-broker/contract";
import { amountOf, describeAmount, fits, resourceNames } from "@resource-broker/domain";
import type { Observation } from "../observe/cluster-observer.ts";
import { availableOf, grantedOf } from "../publish/advertisement.ts";
import type { CapacityCheck } from "./plan-hold.ts";

/**
 * Whether a reservation fits beside what the cluster uses and has reserved. The broker decided on the last
 * advertisement; pods may have started since.
 */
export function checkCapacity(
  reservation: ReservationDTO,
  observation: Observation,
  reservations: readonly ReservationDTO[],
): CapacityCheck {
  const wanted = grantedOf(reservation);
  if (wanted === undefined) return { kind: "short", reason: "the amounts of the reservation cannot be read" };
  const others = reservations.filter(({ id }) => id !== reservation.id);
  const available = availableOf(observation, others);
  if (fits(wanted, available)) return { kind: "fits" };
  const missing = resourceNames(wanted)
    .map((name) => ({ name, amount: amountOf(wanted, name) - amountOf(available, name) }))
    .filter(({ amount }) => amount > 0)
    .map(({ name, amount }) => describeAmount(name, amount));
  return {
    kind: "short",
    reason: `${missing.join(" / ")} is missing: capacity was used since the last advertisement`,
  };
}
