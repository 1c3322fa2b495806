import { NODES } from "@resource-broker/kube";
import { until } from "@resource-broker/testkit";
import { WINNER } from "../../fleet/small-fleet.ts";
import { line, span } from "../../view/line.ts";
import { addsUp, type Balance, balanceOf, balanceRows } from "../balance.ts";
import { isActive, SHOP } from "../requests.ts";
import type { Stage } from "../stage.ts";
import { claim, step, type TourStep } from "../step.ts";

const LOST_NODE = `${WINNER}-2`;

/** What the shop has borrowed, as the broker still has it in its books. */
async function loan({ reservations, untilRequest }: Stage) {
  const { status } = await untilRequest(SHOP.name, isActive);
  return (await reservations()).find(({ id }) => id === status?.reservationName);
}

async function checkedBalance({ account }: Stage): Promise<Balance> {
  const balance = balanceOf(await account(WINNER));
  claim(addsUp(balance), `the books of ${WINNER} do not add up: ${JSON.stringify(balance)}`);
  claim(balance.reserved.cpuMillis === 4000, `${WINNER} should hold 4 CPU: ${JSON.stringify(balance)}`);
  return balance;
}

const drop = step({
  title: `${WINNER} has less to lend`,
  says: "Reserved is the sum of all live reservations. It is computed each time, not counted. Reserved capacity is not offered to another cluster.",
  act: checkedBalance,
  shows: balanceRows,
});

const lostNode = step({
  title: `${WINNER} loses a node`,
  says: `Somebody cordons ${LOST_NODE}: half of the cluster accepts no new pods. The agent advertises this at once. Existing reservations stay; there is less for new ones.`,
  act: async (stage) => {
    const { client } = stage.world.cluster(WINNER);
    const before = await checkedBalance(stage);
    const patch = { kind: "merge", body: { spec: { unschedulable: true } } } as const;
    await client.patch(NODES, { name: { name: LOST_NODE }, patch });
    const after = await until(`${WINNER} advertises one node less`, async () => {
      const balance = balanceOf(await stage.account(WINNER));
      return balance.allocatable.cpuMillis < before.allocatable.cpuMillis ? balance : undefined;
    });
    claim(addsUp(after), `the books of ${WINNER} do not add up: ${JSON.stringify(after)}`);
    const kept = await loan(stage);
    claim(kept?.status.phase === "Active", `the reservation should be Active: ${JSON.stringify(kept)}`);
    return { after, kept };
  },
  shows: ({ after, kept }) => [
    ...balanceRows(after),
    line(),
    line(`${kept.id} is `, span(kept.status.phase, "good"), " as before"),
  ],
});

/** What lending does to the lender. */
export const CAPACITY: readonly TourStep[] = [drop, lostNode];
