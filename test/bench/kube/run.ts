import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { KubeConfig } from "@resource-broker/kube";
import { cpuMsOf, memoryOf, type TestCertificates } from "@resource-broker/testkit";
import { type Child, startChild } from "./child.ts";
import type { ClusterSize, Encoding } from "./messages.ts";

export interface RunOptions {
  readonly size: ClusterSize;
  readonly encoding: Encoding;
  /** The bundled follower. */
  readonly program: string;
  readonly nodeFlags: readonly string[];
  readonly certificates: TestCertificates;
  readonly cores: { readonly server: number; readonly follower: number } | undefined;
  readonly changesPerSecond: number;
  readonly changeMs: number;
  readonly settleMs: number;
}

export interface Measurements {
  readonly podBytes: number;
  /** What the process takes before it follows anything. */
  readonly idleMb: number;
  readonly syncCpuMs: number;
  readonly syncWallMs: number;
  readonly peakMb: number;
  readonly settledMb: number;
  readonly changedMb: number;
  /** Share of one core. */
  readonly changeCpu: number;
}

/** One encoding from the first page to the last change, with processes of its own. */
export async function run(options: RunOptions): Promise<Measurements> {
  const { size, encoding, certificates, cores, program, nodeFlags } = options;
  const server = startChild({
    file: fileURLToPath(new URL("./server/api-server.ts", import.meta.url)),
    cpu: cores?.server,
  });
  const follower = startChild({ file: program, nodeFlags, cpu: cores?.follower });
  const isReady = follower.reply("ready");
  try {
    server.send({ kind: "serve", size, encoding, tls: certificates.broker });
    const { port, podBytes } = await server.reply("listening");
    await isReady;
    return { podBytes, ...(await measure({ server, follower, port }, options)) };
  } finally {
    await Promise.all([server.stop(), follower.stop()]);
  }
}

interface Running {
  readonly server: Child;
  readonly follower: Child;
  readonly port: number;
}

async function measure(
  { server, follower, port }: Running,
  options: RunOptions,
): Promise<Omit<Measurements, "podBytes">> {
  const { pid } = follower;
  const idleMb = memoryOf(pid).rssMb;
  const startCpuMs = cpuMsOf(pid);
  const startedAt = performance.now();
  follower.send({ kind: "follow", config: configFor(port, options.certificates) });
  const synced = await follower.reply("synced");
  const syncWallMs = performance.now() - startedAt;
  const syncCpuMs = cpuMsOf(pid) - startCpuMs;
  const peakMb = memoryOf(pid).peakMb;
  if (synced.events !== options.size.pods)
    throw new Error(`${synced.events} of ${options.size.pods} pods were seen`);
  await sleep(options.settleMs);
  const settledMb = memoryOf(pid).rssMb;

  const { changesPerSecond: perSecond, changeMs } = options;
  server.send({ kind: "change", perSecond });
  await sleep(1000);
  const beforeCpuMs = cpuMsOf(pid);
  const beforeAt = performance.now();
  await sleep(changeMs);
  const changeCpu = (cpuMsOf(pid) - beforeCpuMs) / (performance.now() - beforeAt);
  server.send({ kind: "rest" });
  const { sent } = await server.reply("resting");
  await sleep(500);
  follower.send({ kind: "report" });
  const { events } = await follower.reply("report");
  if (events !== synced.events + sent)
    throw new Error(`${events - synced.events} of ${sent} changes were seen`);
  return { idleMb, syncCpuMs, syncWallMs, peakMb, settledMb, changedMb: memoryOf(pid).rssMb, changeCpu };
}

function configFor(port: number, certificates: TestCertificates): KubeConfig {
  const { cert, key, ca } = certificates.cluster("rome");
  const text = (pem: string) => ({ kind: "text", text: pem }) as const;
  return {
    origin: "the bench",
    server: `https://127.0.0.1:${port}`,
    namespace: "default",
    trust: { insecureSkipVerify: false, ca: text(ca) },
    user: { certificate: { cert: text(cert), key: text(key) } },
  };
}
