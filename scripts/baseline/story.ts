/** What users type, call, scrape and read, played through once in a world of real programs; what differs from run to run is masked. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { mask, metricFamilies, readJson } from "./compare.ts";
import { atOnce, readHelp, shown } from "./programs.ts";
import { startWorld, until, type World } from "./world.ts";

/** By part, then by what was typed or called. */
export type Outputs = Readonly<Record<string, ReadonlyMap<string, string>>>;

const OBJECTS: readonly (readonly [cluster: string, path: string])[] = [
  ["rome", "rear.fluidos.eu/v1alpha1/advertisements"],
  ["rome", "rear.fluidos.eu/v1alpha1/resourcerequests"],
  ["rome", "rear.fluidos.eu/v1alpha1/reservationinstructions"],
  ["paris", "rear.fluidos.eu/v1alpha1/providerinstructions"],
  ["hub", "broker.fluidos.eu/v1alpha1/clusteradvertisements"],
  ["hub", "broker.fluidos.eu/v1alpha1/reservations"],
];
const HOLDS = "/apis/rear.fluidos.eu/v1alpha1/providerinstructions";
const REQUESTS = "/apis/rear.fluidos.eu/v1alpha1/namespaces/default/resourcerequests";

/** What the objects show when every agent has done its part, and the broker knows. */
const SETTLED: readonly (readonly [cluster: string, path: string, sign: string])[] = [
  ["paris", "rear.fluidos.eu/v1alpha1/providerinstructions", '"enforced":true'],
  ["rome", "rear.fluidos.eu/v1alpha1/reservationinstructions", '"delivered":true'],
  ["hub", "broker.fluidos.eu/v1alpha1/reservations", '"phase":"Active"'],
  ["hub", "broker.fluidos.eu/v1alpha1/reservations", '"reason":"Held"'],
  ["hub", "broker.fluidos.eu/v1alpha1/clusteradvertisements", '"usage":['],
];

/** Reads, each in every format; `RSV` and `DEC` stand for the reservation of `more` and its decision. */
const READS: readonly (readonly [who: string, command: string])[] = [
  ["ops", "get clusters"],
  ["ops", "get reservations --all"],
  ["rome", "get requests"],
  ["rome", "get advertisements"],
  ["rome", "get instructions"],
  ["paris", "get instructions"],
  ["ops", "describe cluster paris"],
  ["ops", "describe reservation RSV"],
  ["rome", "describe request more"],
  ["rome", "describe request too-much"],
  ["ops", "explain RSV"],
  ["rome", "explain request/too-much"],
  ["rome", "quote --cpu 1 --memory 1Gi --gpu 1"],
  ["ops", "replay DEC"],
  ["ops", "certs show"],
  ["rome", "check"],
  ["ops", "adoption show"],
  ["ops", "version"],
];
const FORMATS = ["table", "wide", "json", "name"];

/** One after the other, before any agent has acted: so the audit log has one order. */
const FIRST: readonly (readonly [who: string, command: string])[] = [
  ["ops", "cordon berlin --reason maintenance -o json"],
  ["ops", "get clusters berlin"],
  ["ops", "uncordon berlin"],
  ["berlin", "reserve --cpu 1 --memory 1Gi --duration 1h --target tokyo --key job-1"],
  ["berlin", "reserve --cpu 1 --memory 1Gi --duration 1h --target tokyo --key job-1 -o json"],
  ...["table", "wide", "json", "name"].map((format) => ["ops", `audit -o ${format}`] as const),
];

/** One after the other: each changes something, or fails with a status of its own. */
const COMMANDS: readonly (readonly [who: string, command: string])[] = [
  ["ops", "get clusters -o yaml"],
  ["rome", "reserve --cpu 900 --memory 1Gi"],
  ["rome", "quote --cpu 900 --memory 1Gi -o json"],
  ["rome", "wait RSV --for=phase=Active -o json"],
  ["rome", "wait RSV --for=phase=Released --timeout 1s"],
  ["rome", "renew RSV --duration 2h -o json"],
  ["ops", "adoption close"],
  ["ops", "adoption open -o json"],
  ["ops", "audit --verify"],
  ["ops", "audit --verify -o json"],
  ["rome", "release RSV -o json"],
  ["rome", "release RSV"],
  ["ops", "backup --store sqlite:store copy.db -o json"],
  ["ops", "restore --store sqlite:restored copy.db -o json"],
  ["ops", "audit verify --store sqlite:restored"],
  ["ops", "finalizers clear -o json"],
  ["ops", "kubeconfig issue rome"],
  ["ops", "certs issue rome"],
  ["ops", "certs renew rome -o json"],
  ["ops", "certs revoke tokyo -o json"],
  ["ops", "dashboard"],
  ["rome", "get clusters"],
  ["ops", "describe reservation rsv-none"],
  ["ops", "get clusters --broker https://127.0.0.1:1"],
  ["ops", "get cluters"],
  ["ops", "get clusters --outptu json"],
  ["ops", "completion bash"],
];

export async function playStory(root: string): Promise<Outputs> {
  const help = await readHelp(root);
  const world = await startWorld(root);
  try {
    const brokerctl = new Map<string, string>();
    const type = async (who: string, command: string, ids = NO_IDS): Promise<void> => {
      const words = command.replace("RSV", ids.reservation).replace("DEC", ids.decision).split(" ");
      brokerctl.set(
        `${who}$ brokerctl ${command}`,
        mask(shown(await world.brokerctl(who, ...words)), world.folder),
      );
    };
    await advertiseOthers(world);
    for (const [who, command] of FIRST) await type(who, command);
    const ids = await borrow(world);
    const reads = READS.flatMap(([who, command]) =>
      FORMATS.map((format) => [who, `${command} -o ${format}`] as const),
    );
    await atOnce(reads, ([who, command]) => type(who, command, ids));
    const objects = await readObjects(world);
    for (const [who, command] of COMMANDS) await type(who, command, ids);
    await giveBack(world);
    for (const cluster of ["rome", "paris"])
      objects.set(`events in ${cluster}`, await readEvents(world, cluster));
    objects.set("tables of the SQLite store", storeTables(world));
    return { help, brokerctl, objects, probes: await readProbes(world), metrics: await readMetrics(world) };
  } finally {
    await world.stop();
  }
}

async function advertiseOthers(world: World): Promise<void> {
  const gpus = { cpu: "8", memory: "32Gi", gpu: "2" };
  await advertise(world, "tokyo", {
    resources: sizes(gpus),
    cost: { cpuCost: "0.06", memoryCost: "0.007", gpuCost: "1.9", currency: "EUR" },
    labels: { "topology.kubernetes.io/region": "asia" },
  });
  await advertise(world, "berlin", { resources: sizes({ cpu: "2", memory: "8Gi" }) });
}

interface Ids {
  readonly reservation: string;
  readonly decision: string;
}

const NO_IDS: Ids = { reservation: "", decision: "" };

async function borrow(world: World): Promise<Ids> {
  await ask(world, "more", "2");
  await ask(world, "too-much", "900");
  const status = await statusOf(world, "more", ({ phase }) => phase === "Active");
  await statusOf(world, "too-much", ({ decisionID }) => decisionID !== undefined);
  const [reservation = "", decision = ""] = [status["reservationName"], status["decisionID"]];
  for (const [cluster, path, sign] of SETTLED)
    await until(`${path} in ${cluster} shows ${sign}`, async () =>
      (await world.callCluster(cluster, `/apis/${path}`)).body.replaceAll(" ", "").includes(sign),
    );
  return { reservation, decision };
}

function sizes(all: object): object {
  return { capacity: all, allocatable: all, allocated: { cpu: "0", memory: "0" }, available: all };
}

async function advertise(world: World, id: string, offer: object): Promise<void> {
  const body = { clusterID: id, clusterName: id, timestamp: new Date().toISOString(), ...offer };
  const { status, body: answer } = await world.callBroker(id, "/api/v1/advertisements", {
    method: "POST",
    body,
  });
  if (status !== 200) throw new Error(`the advertisement of ${id} was answered with ${status}: ${answer}`);
}

async function ask(world: World, name: string, cpu: string): Promise<void> {
  const spec = { requestedCPU: cpu, requestedMemory: "4Gi", duration: "1h" };
  const body = { apiVersion: "rear.fluidos.eu/v1alpha1", kind: "ResourceRequest", metadata: { name }, spec };
  const { status, body: answer } = await world.callCluster("rome", REQUESTS, { method: "POST", body });
  if (status !== 201) throw new Error(`the ResourceRequest ${name} was answered with ${status}: ${answer}`);
}

type Status = Readonly<Record<string, string | undefined>>;

async function statusOf(world: World, name: string, isWanted: (status: Status) => boolean): Promise<Status> {
  let status: Status = {};
  await until(
    `the ResourceRequest ${name} is as wanted`,
    async () => {
      const { body } = await world.callCluster("rome", `${REQUESTS}/${name}`);
      status = readJson<{ readonly status?: Status }>(body).status ?? {};
      return isWanted(status);
    },
    () => JSON.stringify(status),
  );
  return status;
}

/** `more` was released by brokerctl; the second one is given back by deleting it. */
async function giveBack(world: World): Promise<void> {
  await statusOf(world, "more", ({ phase }) => phase !== "Active");
  await ask(world, "second", "1");
  await statusOf(world, "second", ({ phase }) => phase === "Active");
  for (const name of ["more", "second"]) {
    await world.callCluster("rome", `${REQUESTS}/${name}`, { method: "DELETE" });
    await until(
      `the ResourceRequest ${name} is gone`,
      async () => (await world.callCluster("rome", `${REQUESTS}/${name}`)).status === 404,
    );
  }
  await until(
    "the provider holds nothing any more",
    async () => (await itemsOf(world, "paris", HOLDS)).length === 0,
  );
}

async function itemsOf<T = unknown>(world: World, cluster: string, path: string): Promise<readonly T[]> {
  return readJson<{ readonly items: readonly T[] }>((await world.callCluster(cluster, path)).body).items;
}

async function readObjects(world: World): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const [cluster, path] of OBJECTS) {
    const items = await itemsOf(world, cluster, `/apis/${path}`);
    found.set(`${path} in ${cluster}`, mask(JSON.stringify(items, inOrder, 2), world.folder));
  }
  const calls = [
    ["ops", "/api/v1/no-such-path"],
    ["rome", "/api/v1/audit"],
    ["ops", "/api/v1/policy"],
    ["rome", "/api/v1/instructions"],
  ] as const;
  for (const [who, path] of calls) {
    const { status, headers, body } = await world.callBroker(who, path);
    const lasting = Object.entries(headers).filter(([name]) => name !== "date" && name !== "content-length");
    const lines = lasting.map(([name, value]) => mask(`${name}: ${String(value)}`, world.folder));
    found.set(
      `GET ${path} as ${who}`,
      [status, ...lines, JSON.stringify(readJson(body), inOrder, 2)].join("\n"),
    );
  }
  return found;
}

/** Keys in one order; what the API server notes for itself is left out. */
function inOrder(key: string, value: unknown): unknown {
  if (key === "managedFields") return undefined;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

interface Event {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly note?: string;
  readonly involvedObject?: { readonly kind?: string };
  readonly source?: { readonly component?: string };
  readonly reportingComponent?: string;
}

async function readEvents(world: World, cluster: string): Promise<string> {
  const items = await itemsOf<Event>(world, cluster, "/api/v1/events");
  const lines = items.map(({ type, reason, involvedObject, source, reportingComponent, message }) =>
    [type, reason, involvedObject?.kind, source?.component ?? reportingComponent, message].join(" | "),
  );
  return [...new Set(lines.map((line) => mask(line, world.folder)))].toSorted().join("\n");
}

/** Each table, and what is in it: of those that agents go on writing to, one row. */
function storeTables(world: World): string {
  const database = new DatabaseSync(join(world.folder, "store/ledger.db"), { readOnly: true });
  const tables = database
    .prepare("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name")
    .all();
  const lines = tables.map(({ name, sql }) => {
    const most = name === "decision" || name === "reservation" ? -1 : 1;
    const rows = database.prepare(`SELECT * FROM "${String(name)}" ORDER BY 1 LIMIT ${most}`).all();
    const cells = rows.flatMap(Object.entries).map(([column, value]) => `${column} = ${storedText(value)}`);
    return `${String(sql)}\n${mask(cells.join("\n"), world.folder)}\n`;
  });
  database.close();
  return lines.join("\n");
}

/** Of bytes, the JSON in them; of numbers, and of sums of seals, only that they are there. */
function storedText(value: unknown): string {
  if (value instanceof Uint8Array)
    return /\{[ -~]*\}/u.exec(Buffer.from(value).toString("latin1"))?.[0] ?? "bytes";
  return typeof value === "string" ? value.replace(/\[\d+,\d+\]/gu, "[]") : typeof value;
}

async function readProbes(world: World): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const program of ["broker", "rome"])
    for (const path of ["/healthz", "/readyz?verbose"])
      found.set(`${program} ${path}`, mask(await world.page(program, path), world.folder));
  return found;
}

async function readMetrics(world: World): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const program of ["broker", "rome"])
    for (const [name, text] of metricFamilies(await world.page(program, "/metrics")))
      found.set(`${program} ${name}`, text);
  return found;
}
