import {
  type Advertisement,
  apply,
  type Command,
  CURRENT_PROTOCOL,
  DEFAULT_POLICY,
  decide,
  describeResources,
  emptyLedger,
  explain,
  type Instant,
  type Ledger,
  parseRequest,
  parseResources,
  type ReservationRequest,
  type Reply,
  type ResourceQuantities,
  type ResourceVector,
} from "@resource-broker/domain";

const FLEET = [
  fleetMember("rome", { cpu: "4", memory: "16Gi" }, 0.05),
  fleetMember("paris", { cpu: "32", memory: "128Gi" }, 0.032),
  fleetMember("berlin", { cpu: "64", memory: "256Gi" }, 0.041),
  fleetMember("tokyo", { cpu: "48", memory: "192Gi", gpu: "4" }, 0.055),
];

const ASKED = request({ cpu: "4", memory: "8Gi" });
const ASKED_GPUS = request({ cpu: "8", memory: "32Gi", gpu: "6" });

/** A reservation's way through the domain, as lines: what the broker will do, without a network. */
export function tellStory(now: Instant): string[] {
  const ledger = emptyLedger();
  const run = (command: Command) => perform(ledger, command, now);
  for (const advertisement of FLEET) run({ kind: "advertise", advertisement });
  const granted = run(reserve("uid-1/1", ASKED));
  const held = availableLine(ledger, granted);
  const retried = run(reserve("uid-1/1", ASKED));
  const refused = run(reserve("uid-2/1", ASKED_GPUS));
  const released = granted.kind === "granted" ? run(release(granted.reservation.id)) : granted;
  return [
    "Four clusters advertise what they can lend:",
    ...FLEET.map(
      ({ clusterId, allocatable }) => `  ${clusterId.padEnd(6)}  ${describeResources(allocatable)}`,
    ),
    "",
    `rome asks for ${describeResources(ASKED.resources)}:`,
    ...indent(outcomeText(granted)),
    ...indent(held),
    "",
    "The same request again, with the same key, books nothing:",
    ...indent(outcomeText(retried)),
    "",
    `rome asks for ${describeResources(ASKED_GPUS.resources)}:`,
    ...indent(outcomeText(refused)),
    "",
    "rome releases what it holds:",
    ...indent(outcomeText(released)),
    ...indent(availableLine(ledger, granted)),
  ];
}

function perform(ledger: Ledger, command: Command, now: Instant): Reply {
  const outcome = decide(ledger, command, { now, policy: DEFAULT_POLICY });
  for (const event of outcome.events) apply(ledger, event);
  return outcome.reply;
}

function reserve(key: string, asked: ReservationRequest): Command {
  const reservationId = `rsv-rome-${key.replaceAll("/", "-")}`;
  return { kind: "reserve", requester: "rome", key, request: asked, reservationId, decisionId: `dec-${key}` };
}

function release(id: string): Command {
  return { kind: "release", by: { clusterId: "rome", isAdmin: false }, id };
}

function outcomeText(reply: Reply): string {
  switch (reply.kind) {
    case "granted":
    case "refused":
      return explain(reply.decision);
    case "current":
      return `${reply.reservation.id} is ${reply.reservation.phase} at ${reply.reservation.provider}`;
    case "rejected":
      return `${reply.code}: ${reply.message}`;
    default:
      return reply.kind;
  }
}

function availableLine(ledger: Ledger, reply: Reply): string {
  const provider = reply.kind === "granted" ? reply.reservation.provider : undefined;
  const account = provider === undefined ? undefined : ledger.accounts.get(provider);
  return account === undefined ? "" : `${provider} can now lend ${describeResources(account.available)}`;
}

function indent(text: string): string[] {
  return text.split("\n").map((line) => `  ${line}`);
}

function fleetMember(clusterId: string, sizes: ResourceQuantities, cpuHour: number): Advertisement {
  const allocatable = parsed(parseResources(sizes, "down"));
  return {
    clusterId,
    capacity: allocatable,
    allocatable,
    allocated: parsed(parseResources({ cpu: "1", memory: "2Gi" }, "up")),
    usage: [],
    nodeShapes: [],
    gpuModels: [],
    labels: {},
    cost: { currency: "EUR", onDemand: { cpuHour, memoryGbHour: cpuHour / 8, gpuHour: cpuHour * 40 } },
    protocol: CURRENT_PROTOCOL,
  };
}

function request(sizes: ResourceQuantities): ReservationRequest {
  return { resources: parsed(parseRequest(sizes)), priority: 0, constraints: {}, tier: "on-demand" };
}

function parsed(result: ReturnType<typeof parseResources>): ResourceVector {
  if (!result.ok)
    throw new Error(result.problems.map(({ field, problem }) => `${field}: ${problem}`).join("; "));
  return result.resources;
}
