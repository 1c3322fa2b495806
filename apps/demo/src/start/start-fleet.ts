import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { type Clock, errorText, Fault } from "@resource-broker/base";
import { type CallSender, dashboardLinkCall } from "@resource-broker/client";
import { type Loop, loop } from "@resource-broker/kube";
import { startWorld, type World } from "@resource-broker/testkit";
import type { Fleet } from "../fleet/plan-fleet.ts";
import { followBroker } from "../updates/follow-broker.ts";
import type { OnUpdate } from "../updates/update.ts";
import { demoCertificates } from "./certificates.ts";
import { commandsFor, quoted, type Tools, writeTools } from "./write-tools.ts";
import { type Agents, startAgents } from "./start-agents.ts";

const HUB = "hub";
const SQLITE = "sqlite";
/** As often as the view may change. */
const POLL_EVERY_MS = 500;
/** A link works for two minutes: the one on the screen is replaced in time. */
const RENEW_LINK_AFTER_MS = 90_000;

export interface FleetOptions {
  readonly fleet: Fleet;
  /** `sqlite`, or the address of a database. */
  readonly store: string;
  /** True: agents reach the broker by objects in its own cluster. */
  readonly hasHub: boolean;
  /** True: the broker shows its dashboard on a free port. */
  readonly hasDashboard: boolean;
  /** Where the broker listens. Absent: on a free port. */
  readonly port?: number;
  /** Where everything is kept, and stays. Absent: in a temporary folder, which is removed at the end. */
  readonly folder?: string;
  /** On the monotonic clock: when somebody began to wait for it. */
  readonly startedAt: number;
}

export interface FleetDeps {
  readonly clock: Clock;
  readonly randomBytes: (size: number) => Uint8Array;
  /** Where programs are looked for. */
  readonly searchPath: string;
  readonly onUpdate: OnUpdate;
}

export interface RunningFleet {
  readonly world: World;
  /** Ends everything in good order. */
  readonly dispose: () => Promise<void>;
}

/** Starts the broker, then all agents at once, and reports everything that happens from then on. */
export async function startFleet(options: FleetOptions, deps: FleetDeps): Promise<RunningFleet> {
  const { clock, onUpdate } = deps;
  const names = options.fleet.plans.map(({ name }) => name);
  const world = await startWorld(worldOptions(options, deps));
  const cleanups: (() => Promise<unknown>)[] = [
    world.dispose,
    // In good order: a database would else wait for a leader that does not come back.
    world.broker.stop,
  ];
  const dispose = async (): Promise<void> => {
    for (const end of cleanups.splice(0).reverse()) await end();
  };
  try {
    const { directory: folder, broker } = world;
    const store = options.store === SQLITE ? SQLITE : "postgres";
    const url = `https://127.0.0.1:${broker.port}`;
    onUpdate({ kind: "broker", broker: { url, store, folder, isKept: options.folder !== undefined } });
    const tools = await writeTools(world, names);
    const agents = await startAgents(names, { world, clock, onUpdate });
    cleanups.push(agents.dispose);
    const poll = createPoll({ world, agents, tools, names }, options, deps);
    cleanups.push(startPolling({ clock, onUpdate, poll }).stop);
    return { world, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

function worldOptions(options: FleetOptions, deps: FleetDeps) {
  const { fleet, hasHub, hasDashboard, store, port, folder } = options;
  const transport = hasHub ? ("kubernetes" as const) : ("http" as const);
  return {
    clusters: fleet.plans.map((plan) => ({ ...plan, hasAgent: false, transport })),
    certificates: demoCertificates({ now: deps.clock.wallMs, randomBytes: deps.randomBytes }),
    brokerFlags: [
      ...(store === SQLITE ? [] : [`--store=${store}`]),
      ...(hasDashboard ? ["--dashboard-bind-address=127.0.0.1:0"] : []),
    ],
    ...(hasHub ? { hub: HUB } : {}),
    ...(port === undefined ? {} : { brokerPort: port }),
    ...(folder === undefined ? {} : { directory: folder }),
  };
}

interface Running {
  readonly world: World;
  readonly agents: Agents;
  readonly tools: Tools;
  readonly names: readonly string[];
}

function createPoll(running: Running, options: FleetOptions, deps: FleetDeps): () => Promise<void> {
  const { world, agents, names, tools } = running;
  const { onUpdate, clock } = deps;
  const command = `${quoted(tools.brokerctl)} dashboard`;
  const updateLink = dashboardLinks({ admin: world.broker.api(), command, clock, onUpdate });
  const pollBroker = followBroker({ names, admin: world.broker.api(), agentOf: agents.stateOf, onUpdate });
  let isReadyReported = false;
  return async () => {
    await agents.poll();
    const areAllThere = await pollBroker();
    if (options.hasDashboard && (isReadyReported || areAllThere)) await updateLink();
    if (isReadyReported || !areAllThere) return;
    isReadyReported = true;
    await publishReady(running, options, deps);
  };
}

export interface PollingOptions extends Pick<FleetDeps, "clock" | "onUpdate"> {
  readonly poll: () => Promise<void>;
}

/** Polls one after the other. A failure is reported once, and its end is reported once. */
export function startPolling({ poll, clock, onUpdate }: PollingOptions): Loop {
  let problem = "";
  const polling = loop({
    clock,
    round: async (signal) => {
      const text = await poll().then(
        () => "",
        (error: unknown) => `The broker does not answer: ${errorText(error)}`,
      );
      if (text !== problem && !signal.aborted) onUpdate({ kind: "trouble", text });
      problem = text;
      return POLL_EVERY_MS;
    },
  });
  polling.start();
  return polling;
}

export interface DashboardLinkOptions extends Pick<FleetDeps, "clock" | "onUpdate"> {
  readonly admin: CallSender;
  /** What prints another link. */
  readonly command: string;
}

/** Tells a link to the dashboard, and a new one before the last is too old. To be called again and again. */
export function dashboardLinks(options: DashboardLinkOptions): () => Promise<void> {
  const { admin, command, clock, onUpdate } = options;
  let publishedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (clock.monotonicMs() - publishedAt < RENEW_LINK_AFTER_MS) return;
    const { value } = await admin.request(dashboardLinkCall()).catch((error: unknown) => {
      throw error instanceof Fault
        ? new Error(`the broker answered ${error.status} when asked for a link to its dashboard`)
        : error;
    });
    publishedAt = clock.monotonicMs();
    const { url, expiresAt } = value;
    onUpdate({ kind: "dashboard", dashboard: { url, expiresAt, command } });
  };
}

async function publishReady(
  { world, tools, names }: Running,
  options: FleetOptions,
  deps: FleetDeps,
): Promise<void> {
  const { fleet, hasHub, startedAt } = options;
  const [requester = ""] = names;
  deps.onUpdate({
    kind: "ready",
    afterMs: Math.round(deps.clock.monotonicMs() - startedAt),
    notes: (await findProgram("kubectl", deps.searchPath)) ? [] : [NO_KUBECTL],
    steps: commandsFor({
      ...tools,
      ...fleet,
      requester,
      kubeconfigOf: (name) => world.cluster(name).kubeconfigFile,
      hub: hasHub ? HUB : undefined,
    }),
  });
}

const NO_KUBECTL =
  "kubectl is not installed here, and most of the commands need it: https://kubernetes.io/docs/tasks/tools says how to get it.";

/** True where a shell would find it. */
async function findProgram(name: string, searchPath: string): Promise<boolean> {
  const folders = searchPath.split(delimiter).filter((folder) => folder !== "");
  const tries = folders.map((folder) => access(join(folder, name), constants.X_OK));
  return (await Promise.allSettled(tries)).some(({ status }) => status === "fulfilled");
}
