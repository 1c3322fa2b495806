import { execFile } from "node:child_process";
import { chown, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { childOf } from "../process/child.ts";
import { freePorts } from "../process/free-ports.ts";
import { startGuardian } from "../process/guardian.ts";
import { postgresPrograms } from "./postgres-programs.ts";

const HOST = "127.0.0.1";
const ACCOUNT = "postgres";
const ASK_EVERY_MS = 20;
/** A guard for a machine that does much else; an idle one needs a second. */
const READY_WITHIN_MS = 60_000;

/** A real PostgreSQL server in a folder of its own, on a free port of the loopback. */
export interface PostgresServer {
  readonly port: number;
  /** As the owner of everything; with the port of a proxy, if one is given. */
  readonly url: (options?: { readonly database?: string; readonly port?: number }) => string;
  /** Runs SQL as `psql` would, and returns what it printed: fields with `|` between them. */
  readonly psql: (sql: string, database?: string) => Promise<string>;
  /** A dump, as an operator would make it. */
  readonly dump: (database: string, ...flags: readonly string[]) => Promise<string>;
  /** kill -9 of the server and all its processes, as the end of a machine would be. */
  readonly kill: () => Promise<void>;
  /** Stops at once and in good order, whoever is connected. */
  readonly stop: () => Promise<void>;
  /** Starts again with what it had. Resolves when it takes connections. */
  readonly start: () => Promise<void>;
  /** Nothing of it runs until `resume`. */
  readonly pause: () => Promise<void>;
  readonly resume: () => Promise<void>;
  readonly logLines: () => Promise<string[]>;
  readonly dispose: () => Promise<void>;
}

export async function startPostgres(settings: readonly string[] = []): Promise<PostgresServer> {
  const programs = postgresPrograms();
  if (!programs.isThere) throw new Error(programs.why);
  const { pathOf } = programs;
  const directory = await mkdtemp(join(tmpdir(), "postgres-"));
  const guardian = startGuardian(directory);
  const account = await ownerOf(directory);
  const data = join(directory, "data");
  const [port = 0] = await freePorts(1);
  await run([...account, pathOf("initdb"), "-D", data, ...INITDB_FLAGS]);
  const flags = ["fsync=on", `listen_addresses=${HOST}`, "max_connections=60", ...settings];
  const child = childOf({
    command: [
      ...account,
      pathOf("postgres"),
      "-D",
      data,
      "-k",
      directory,
      "-p",
      String(port),
      ...asFlags(flags),
    ],
    cwd: directory,
    logFile: join(directory, "server.log"),
    guardian,
  });

  const start = async (): Promise<void> => {
    // What a killed server left behind would be taken for a running one.
    await rm(join(data, "postmaster.pid"), { force: true });
    await child.launch();
    const deadline = performance.now() + READY_WITHIN_MS;
    while (child.pid() !== undefined && performance.now() < deadline) {
      if (await psql("SELECT 1").catch(() => undefined)) return;
      await sleep(ASK_EVERY_MS);
    }
    throw new Error(`PostgreSQL does not start:\n${(await child.logLines()).slice(-5).join("\n")}`);
  };

  const url: PostgresServer["url"] = ({ database = "postgres", port: through = port } = {}) =>
    `postgres://${ACCOUNT}@${HOST}:${through}/${database}`;

  const psql: PostgresServer["psql"] = async (sql, database = "postgres") => {
    const options = ["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-d", url({ database }), "-c", sql];
    return (await run([pathOf("psql"), ...options])).trim();
  };

  const signalAll = async (signal: NodeJS.Signals): Promise<void> => {
    const server = child.pid();
    if (server === undefined) throw new Error("the server is down");
    for (const pid of [server, ...(await childrenOf(server))]) signalIfThere(pid, signal);
  };

  const kill = async (): Promise<void> => {
    const server = child.pid();
    if (server === undefined) return;
    const others = await childrenOf(server);
    await child.kill("SIGKILL");
    for (const pid of others) signalIfThere(pid, "SIGKILL");
    while (await isTaken(port)) await sleep(ASK_EVERY_MS);
  };

  await start();
  return {
    port,
    url,
    psql,
    dump: (database, ...more) => run([pathOf("pg_dump"), "-d", url({ database }), ...more]),
    kill,
    // Whoever is connected is cut off, and everything is written: PostgreSQL's "fast" shutdown.
    stop: async () => void (await child.kill("SIGINT")),
    start,
    pause: () => signalAll("SIGSTOP"),
    resume: () => signalAll("SIGCONT"),
    logLines: child.logLines,
    dispose: async () => {
      await kill();
      await guardian.finish();
    },
  };
}

const INITDB_FLAGS = ["-A", "trust", "-U", ACCOUNT, "-E", "UTF8", "--locale=C", "--no-sync"];

function asFlags(settings: readonly string[]): string[] {
  return settings.flatMap((setting) => ["-c", setting]);
}

/** PostgreSQL refuses to run as root: then it runs as its own account, which the folder is given to. */
async function ownerOf(directory: string): Promise<string[]> {
  if (process.getuid?.() !== 0) return [];
  const [uid, gid] = await Promise.all(["-u", "-g"].map((flag) => run(["id", flag, ACCOUNT])));
  await chown(directory, Number(uid), Number(gid));
  // Not runuser: that stays in between, and a signal would reach it and not the server.
  return ["setpriv", "--reuid", ACCOUNT, "--regid", ACCOUNT, "--init-groups"];
}

async function childrenOf(parent: number): Promise<number[]> {
  const entries = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    entries.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
      // The name in brackets may hold anything; the parent is the second field after it.
      const [, ppid] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return Number(ppid) === parent ? [Number(pid)] : [];
    }),
  );
  return found.flat();
}

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself meanwhile.
  }
}

function isTaken(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, HOST);
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

async function run([program = "", ...flags]: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, flags, { maxBuffer: 64 * 2 ** 20 });
  return stdout;
}
