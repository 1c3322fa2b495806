import type { Reservation } from "@resource-broker/domain";
import type { SeededRandom } from "@resource-broker/testkit";
import { Borrower } from "./cast/borrower.ts";
import { Lender } from "./cast/lender.ts";
import { drawPlan } from "./stage/plan.ts";
import { Setting } from "./stage/setting.ts";

/** How long a healed world is given to come to rest, and then to serve one more request of everybody. */
const REST_MS = 75_000;
const SERVE_MS = 45_000;

/** A random scenario: clusters provide and request capacity while faults are injected. */
export async function runMarket(random: SeededRandom, operations: number): Promise<Setting> {
  const plan = drawPlan(random.fork(1));
  const names = plan.clusters.map(({ name }) => name);
  const setting = new Setting({
    ...plan,
    random: random.fork(2),
    parties: names,
    longestJumpMs: Number.POSITIVE_INFINITY,
    tell: (reservation) => tell(reservation),
  });
  const { network, scheduler, findings, broker } = setting;
  const lenders = plan.clusters.map(
    ({ name, habits }, each) =>
      new Lender({ name, habits, network, scheduler, random: random.fork(10 + each) }),
  );
  const borrowers = names.map(
    (name, each) =>
      new Borrower({ name, others: names, network, scheduler, findings, random: random.fork(30 + each) }),
  );
  const tell = (reservation: Reservation): void => {
    const lender = lenders.find(({ name }) => name === reservation.provider);
    const borrower = borrowers.find(({ name }) => name === reservation.requester);
    if (lender !== undefined) network.push(lender.name, () => lender.told(reservation));
    if (borrower !== undefined) network.push(borrower.name, () => borrower.told(reservation));
  };

  const chance = setting.random;
  const operate = (): void => {
    const lot = chance.below(100);
    if (lot < 90) chance.pick(borrowers)?.act();
    else if (lot < 93) chance.pick(lenders)?.restart();
    else if (lot < 96) chance.pick(lenders)?.resize();
    else administer(setting, names);
  };
  let left = operations;
  const operateAgain = (): void => {
    if (left === 0) return;
    left--;
    operate();
    scheduler.after((chance.below(1000) / 1000) * plan.haste, "the next operation", operateAgain);
  };

  broker.launch();
  for (const lender of lenders) lender.start();
  operateAgain();
  await setting.runUntil(() => left === 0);
  setting.heal();
  await setting.pass(REST_MS);
  for (const borrower of borrowers) borrower.askForLittle();
  await setting.pass(SERVE_MS);
  const open = borrowers.reduce((sum, borrower) => sum + borrower.open, 0);
  findings.expect(open === 0, () => `${open} calls are never answered`);
  const state = broker.engine?.health.state;
  findings.expect(state === "ready", () => `the broker does not recover: it is ${state}`);
  for (const lender of lenders) compareHolds(setting, lender);
  return setting;
}

/** What the ledger lends must be held; what it knows to have ended must not. A hold it has forgotten stays. */
function compareHolds({ broker, findings }: Setting, { name, held }: Lender): void {
  const ledger = broker.engine?.ledger;
  const lending = [...(ledger?.accounts.get(name)?.asProvider.keys() ?? [])];
  const isKnown = (id: string): boolean => ledger?.reservations.get(id)?.provider === name;
  const missing = lending.filter((id) => !held.includes(id));
  const tooLong = held.filter((id) => !lending.includes(id) && isKnown(id));
  findings.expect(missing.length === 0, () => `${name} does not hold ${missing.join(", ")}`);
  findings.expect(tooLong.length === 0, () => `${name} still holds ${tooLong.join(", ")}`);
}

function administer({ random, network, witness }: Setting, names: readonly string[]): void {
  const by = { clusterId: "ops", isAdmin: true };
  const clusterId = random.pick(names) ?? "";
  const id = random.pick([...witness.book.entries.keys()]);
  const command =
    id !== undefined && random.chance(0.4)
      ? ({ kind: "release", by, id } as const)
      : ({ kind: random.chance(0.4) ? "cordon" : "uncordon", by, clusterId } as const);
  network.ask("ops", { kind: "command", command }, () => undefined);
}
