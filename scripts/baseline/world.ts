/**
 * A broker, three simulated clusters and two agents, started as users start them: by command line, flags and files. Nothing
 * here imports the product, so it only changes when a program's entry file moves (PROGRAMS in programs.ts).
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { get, type IncomingHttpHeaders } from "node:http";
import { request } from "node:https";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { must, type Outcome, PROGRAMS, run } from "./programs.ts";

const HOST = "127.0.0.1";
const WITHIN_MS = 120_000;
const NODE = {
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "node-1", labels: { "topology.kubernetes.io/region": "eu-west" } },
};
const ROOM = { cpu: "16", memory: "64Gi", pods: "110" };
const READY = [{ type: "Ready", status: "True", reason: "KubeletReady", message: "the node is ready" }];

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Call {
  readonly method?: string;
  readonly body?: unknown;
}

export interface World {
  readonly folder: string;
  /** Runs brokerctl as that cluster, or as the admin `ops`. */
  readonly brokerctl: (who: string, ...args: readonly string[]) => Promise<Outcome>;
  /** Calls the broker's API with the certificate of that name. */
  readonly callBroker: (who: string, path: string, call?: Call) => Promise<Reply>;
  /** Calls the API server of a cluster. */
  readonly callCluster: (cluster: string, path: string, call?: Call) => Promise<Reply>;
  /** A page of a program's probe or metrics port. */
  readonly page: (program: string, path: string) => Promise<string>;
  readonly pid: (program: string) => number;
  /** Ends the programs it started. */
  readonly stop: () => Promise<void>;
}

export interface WorldOptions {
  /** What Node is given instead of the sources, for example a bundle and its flags. */
  readonly programs?: Readonly<Record<string, readonly string[]>>;
  readonly environment?: Readonly<Record<string, string>>;
}

export async function startWorld(
  root: string,
  { programs = {}, environment = {} }: WorldOptions = {},
): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "baseline-"));
  const children = new Map<string, ChildProcess>();
  const [apiPort, ...ports] = await freePorts(7);
  const portsOf = new Map(
    ["broker", "rome", "paris"].map((name, at) => [
      name,
      { probes: ports[2 * at] ?? 0, metrics: ports[2 * at + 1] ?? 0 },
    ]),
  );
  const certs = (who: string): string =>
    join(folder, "certs", who === "broker" ? who : join("clusters", who));
  const kubeconfig = (cluster: string): string => join(folder, `${cluster}.yaml`);
  const log = (name: string): string => join(folder, `${name}.log`);
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: folder,
    NO_COLOR: "1",
    NODE_COMPILE_CACHE: join(root, "node_modules/.cache/compiled"),
  };

  const launch = (name: string, program: keyof typeof PROGRAMS, flags: readonly string[]): void => {
    const into = openSync(log(name), "a");
    const command = programs[program] ?? [join(root, PROGRAMS[program])];
    children.set(
      name,
      spawn(process.execPath, [...command, ...flags], {
        cwd: folder,
        env: { ...env, ...environment },
        stdio: ["ignore", into, into],
      }),
    );
    closeSync(into);
  };
  const page: World["page"] = (name, path) =>
    readPage(path === "/metrics" ? portsOf.get(name)?.metrics : portsOf.get(name)?.probes, path);
  const serve = async (
    name: string,
    program: keyof typeof PROGRAMS,
    flags: readonly string[],
  ): Promise<void> => {
    const { probes, metrics } = portsOf.get(name) ?? { probes: 0, metrics: 0 };
    const addresses = [
      `--health-probe-bind-address=${HOST}:${probes}`,
      `--metrics-bind-address=${HOST}:${metrics}`,
    ];
    launch(name, program, [...flags, ...addresses, "--log-format=json"]);
    await until(
      `${name} is ready`,
      async () => (await page(name, "/readyz")) !== "",
      () => end(log(name)),
    );
  };
  const brokerctl: World["brokerctl"] = (who, ...args) =>
    run([join(root, PROGRAMS.brokerctl), ...args], folder, {
      ...env,
      BROKERCTL_BROKER: `https://${HOST}:${apiPort}`,
      BROKERCTL_CERTS: certs(who),
      KUBECONFIG: kubeconfig(who === "ops" ? "hub" : who),
    });
  const killAll = (): void => {
    for (const child of children.values()) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", killAll);
  const stop = async (): Promise<void> => {
    process.off("exit", killAll);
    for (const child of children.values()) await ended(child);
    rmSync(folder, { recursive: true, force: true });
  };

  try {
    for (const args of [
      ["init"],
      ...["rome", "paris", "tokyo", "berlin"].map((id) => ["issue", id]),
      ["issue", "ops", "--admin"],
    ])
      must(await brokerctl("ops", "certs", ...args));
    mkdirSync(join(folder, "objects"));
    writeFileSync(
      join(folder, "objects/node.yaml"),
      JSON.stringify({ ...NODE, status: { capacity: ROOM, allocatable: ROOM, conditions: READY } }),
    );
    const clusters = ["rome", "paris", "hub"];
    launch("kube-sim", "kube-sim", [
      ...clusters.flatMap((name) => ["--cluster", name]),
      "--kubeconfig-dir",
      folder,
      "--crds",
      join(root, "deploy/crds"),
      "--objects",
      join(folder, "objects"),
    ]);
    await until(
      "the clusters are there",
      async () => existsSync(kubeconfig("hub")),
      () => end(log("kube-sim")),
    );
    await serve("broker", "broker", [
      `--http-host=${HOST}`,
      `--http-port=${apiPort}`,
      `--http-cert-path=${certs("broker")}`,
      `--store=sqlite:${join(folder, "store")}`,
      `--kubeconfig=${kubeconfig("hub")}`,
      "--views=on",
      "--replica-name=broker-0",
    ]);
    for (const [name, price] of [
      ["rome", "0.05"],
      ["paris", "0.04"],
    ] as const)
      await serve(name, "agent", [
        `--cluster-id=${name}`,
        `--broker-url=https://${HOST}:${apiPort}`,
        `--broker-cert-path=${certs(name)}`,
        `--kubeconfig=${kubeconfig(name)}`,
        `--price-cpu=${price}`,
        "--price-memory=0.005",
        "--price-currency=EUR",
      ]);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    folder,
    brokerctl,
    page,
    stop,
    callBroker: (who, path, call) => send(`https://${HOST}:${apiPort}${path}`, pem(certs(who)), call),
    callCluster: (cluster, path, call) => {
      const { server, ...credentials } = credentialsIn(kubeconfig(cluster));
      return send(`${server}${path}`, credentials, call);
    },
    pid: (program) => children.get(program)?.pid ?? 0,
  };
}

export async function until(
  what: string,
  isTrue: () => Promise<boolean>,
  why: () => string = () => "",
): Promise<void> {
  const deadline = performance.now() + WITHIN_MS;
  while (!(await isTrue().catch(() => false))) {
    if (performance.now() > deadline) throw new Error(`waited ${WITHIN_MS / 1000} s until ${what}\n${why()}`);
    await sleep(50);
  }
}

/** The last lines of a log. */
function end(file: string): string {
  return readFileSync(file, "utf8").split("\n").slice(-6).join("\n");
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, HOST));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => portOf(server.address()));
  await Promise.all(servers.map((server) => once(server.close(), "close")));
  return ports;
}

function portOf(address: ReturnType<Server["address"]>): number {
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

function readPage(port: number | undefined, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ host: HOST, port, path }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
      response.on("end", () => resolve(response.statusCode === 200 ? body : ""));
    }).on("error", reject);
  });
}

type Credentials = Readonly<Record<"cert" | "key" | "ca", Buffer>>;

function pem(folder: string): Credentials {
  const [cert, key, ca] = ["tls.crt", "tls.key", "ca.crt"].map((name) => readFileSync(join(folder, name)));
  if (cert === undefined || key === undefined || ca === undefined)
    throw new Error(`no certificate in ${folder}`);
  return { cert, key, ca };
}

/** The kubeconfigs of kube-sim have one line for each of these. */
function credentialsIn(file: string): Credentials & { readonly server: string } {
  const text = readFileSync(file, "utf8");
  const field = (name: string): string => new RegExp(`^ *${name}: (\\S+)$`, "mu").exec(text)?.[1] ?? "";
  const data = (name: string): Buffer => Buffer.from(field(`${name}-data`), "base64");
  return {
    server: field("server"),
    ca: data("certificate-authority"),
    cert: data("client-certificate"),
    key: data("client-key"),
  };
}

function send(url: string, credentials: Credentials, { method = "GET", body }: Call = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { "Content-Type": "application/json" };
    const call = request(url, { method, headers, agent: false, ...credentials }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
      );
    });
    call.on("error", reject).end(body === undefined ? undefined : JSON.stringify(body));
  });
}
