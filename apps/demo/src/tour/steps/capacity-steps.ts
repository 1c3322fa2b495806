import { NODES } from "@resource-broker/kube";
import { until } from "@resource-broker/testkit";
import { WINNER } from "../../fleet/small-fleet.ts";
import { line, span } from "../../view/line.ts";
import { accountOf, accountRows, addsUp, type ClusterAccount } from "../cluster-account.ts";
import { isActive, SHOP } from "../requests.ts";
import { check, step, type TourStep } from "../step.ts";
import type { TourEnvironment } from "../tour-environment.ts";

const LOST_NODE = `${WINNER}-2`;

/** The reservation of the shop, as the broker has it. */
async function shopReservation({ reservations, untilRequest }: TourEnvironment) {
  const { status } = await untilRequest(SHOP.name, isActive);
  return (await reservations()).find(({ id }) => id === status?.reservationName);
}

async function checkedAccount({ account }: TourEnvironment): Promise<ClusterAccount> {
  const balance = accountOf(await account(WINNER));
  check(addsUp(balance), `the books of ${WINNER} do not add up: ${JSON.stringify(balance)}`);
  check(balance.reserved.cpuMillis === 4000, `${WINNER} should hold 4 CPU: ${JSON.stringify(balance)}`);
  return balance;
}

const lessCapacity = step({
  title: `${WINNER} has less to lend`,
  narration:
    "Reserved is the sum of all live reservations. It is computed each time, not counted. Reserved capacity is not offered to another cluster.",
  run: checkedAccount,
  render: accountRows,
});

const lostNode = step({
  title: `${WINNER} loses a node`,
  narration: `Somebody cordons ${LOST_NODE}: half of the cluster accepts no new pods. The agent advertises this at once. Existing reservations stay; there is less for new ones.`,
  run: async (environment) => {
    const { client } = environment.world.cluster(WINNER);
    const before = await checkedAccount(environment);
    const patch = { kind: "merge", body: { spec: { unschedulable: true } } } as const;
    await client.patch(NODES, { name: { name: LOST_NODE }, patch });
    const after = await until(`${WINNER} advertises one node less`, async () => {
      const balance = accountOf(await environment.account(WINNER));
      return balance.allocatable.cpuMillis < before.allocatable.cpuMillis ? balance : undefined;
    });
    check(addsUp(after), `the books of ${WINNER} do not add up: ${JSON.stringify(after)}`);
    const kept = await shopReservation(environment);
    check(kept?.status.phase === "Active", `the reservation should be Active: ${JSON.stringify(kept)}`);
    return { after, kept };
  },
  render: ({ after, kept }) => [
    ...accountRows(after),
    line(),
    line(`${kept.id} is `, span(kept.status.phase, "good"), " as before"),
  ],
});

/** How lending changes the provider. */
export const CAPACITY_STEPS: readonly TourStep[] = [lessCapacity, lostNode];
