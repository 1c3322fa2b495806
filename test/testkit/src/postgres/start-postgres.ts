import { readFileSync } from "node:fs";
import { chown, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePorts } from "../process/free-ports.ts";
import { startGuardian } from "../process/guardian.ts";
import { programOf } from "../process/program.ts";
import { outputOf, runProgram } from "../process/run-program.ts";
import { postgresPrograms } from "./postgres-programs.ts";

/** What a program printed that must not fail. */
async function printed(command: readonly string[], stdin = ""): Promise<string> {
  return outputOf(command, await runProgram(command, { stdin }));
}

const ACCOUNT = "postgres";

/** PostgreSQL refuses to run as root: then it runs as an account of its own. */
interface ServerAccount {
  /** What a command begins with. */
  readonly prefix: readonly string[];
  /** Gives a file or folder to it. */
  readonly own: (path: string) => Promise<void>;
}

async function serverAccount(): Promise<ServerAccount> {
  if (process.getuid?.() !== 0) return { prefix: [], own: () => Promise.resolve() };
  const [uid, gid] = await Promise.all(["-u", "-g"].map((flag) => printed(["id", flag, ACCOUNT])));
  return {
    // Not runuser: that stays in between, and a signal would reach it and not the server.
    prefix: ["setpriv", "--reuid", ACCOUNT, "--regid", ACCOUNT, "--init-groups"],
    own: (path) => chown(path, Number(uid), Number(gid)),
  };
}

const HOST = "127.0.0.1";
const SUPERUSER = "postgres";
const INITDB_FLAGS = ["-A", "trust", "-U", SUPERUSER, "-E", "UTF8", "--locale=C", "--no-sync"];
const PSQL_FLAGS = ["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1"];
const SETTINGS = ["fsync=on", `listen_addresses=${HOST}`, "max_connections=60"];
const ASK_EVERY_MS = 20;

export interface PostgresOptions {
  /** Serves TLS with these. Absent: it does not. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

/** A real PostgreSQL server in a folder of its own, on a free port of the loopback. */
export interface PostgresServer {
  readonly port: number;
  /** As the superuser, who needs no password; with the port of a proxy, if one is given. */
  readonly url: (options?: { readonly database?: string; readonly port?: number }) => string;
  /** Runs SQL as `psql` would, and returns what it printed: fields with `|` between them. */
  readonly psql: (sql: string, database?: string) => Promise<string>;
  /** A dump, as an operator would make it, and what puts it into a database that has been created for it. */
  readonly dump: (...flags: readonly string[]) => Promise<string>;
  readonly load: (dump: string, database: string) => Promise<void>;
  /** kill -9 of the server and all its processes, as the end of a machine would be. */
  readonly kill: () => Promise<void>;
  /** Stops at once and in good order, whoever is connected. */
  readonly stop: () => Promise<void>;
  /** Starts again with what it had. Resolves when it takes connections. */
  readonly start: () => Promise<void>;
  /** Nothing of it runs until `resume`. */
  readonly pause: () => Promise<void>;
  readonly resume: () => Promise<void>;
  readonly dispose: () => Promise<void>;
}

export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const programs = postgresPrograms();
  if (!programs.isThere) throw new Error(programs.why);
  const { pathOf } = programs;
  const directory = await mkdtemp(join(tmpdir(), "postgres-"));
  const guardian = startGuardian(directory);
  const account = await serverAccount();
  const data = join(directory, "data");
  const [port = 0] = await freePorts(1);
  await account.own(directory);
  await printed([...account.prefix, pathOf("initdb"), "-D", data, ...INITDB_FLAGS]);
  const settings = [...SETTINGS, ...(await tlsSettings(directory, options, account))];
  const flags = [
    "-D",
    data,
    "-k",
    directory,
    "-p",
    String(port),
    ...settings.flatMap((each) => ["-c", each]),
  ];

  const url: PostgresServer["url"] = ({ database = "postgres", port: through = port } = {}) =>
    `postgres://${SUPERUSER}@${HOST}:${through}/${database}`;

  const psqlOn = (database: string): string[] => [pathOf("psql"), ...PSQL_FLAGS, "-d", url({ database })];

  const psql: PostgresServer["psql"] = async (sql, database = "postgres") =>
    (await printed([...psqlOn(database), "-c", sql])).trim();

  const program = programOf({
    name: "postgres",
    command: [...account.prefix, pathOf("postgres"), ...flags],
    directory,
    guardian,
    isReady: async () => (await psql("SELECT 1")) === "1",
  });
  const start = async (): Promise<void> => {
    // What a killed server left behind would be taken for a running one.
    await rm(join(data, "postmaster.pid"), { force: true });
    await program.launch();
    await program.ready();
  };

  const kill = async (): Promise<void> => {
    const server = program.pid;
    if (server === undefined) return;
    // One that has stopped starts no more of them; the next server refuses to start while one still runs.
    signalIfThere(server, "SIGSTOP");
    const others = await childrenOf(server);
    await program.kill();
    for (const pid of others) signalIfThere(pid, "SIGKILL");
    while (others.some(isRunning) || (await isTaken(port))) await sleep(ASK_EVERY_MS);
  };

  const signalAll = async (signal: NodeJS.Signals): Promise<void> => {
    const server = program.pid;
    if (server === undefined) throw new Error("the server is down");
    await signalFamily(server, signal);
  };

  await start();
  return {
    port,
    url,
    psql,
    dump: (...more) => printed([pathOf("pg_dump"), "-d", url(), ...more]),
    load: async (dump, database) => void (await printed([...psqlOn(database), "-f", "-"], dump)),
    kill,
    // Whoever is connected is cut off, and everything is written: PostgreSQL's "fast" shutdown.
    stop: async () => void (await program.kill("SIGINT")),
    start,
    pause: () => signalAll("SIGSTOP"),
    resume: () => signalAll("SIGCONT"),
    dispose: async () => {
      await kill();
      await guardian.finish();
    },
  };
}

/** PostgreSQL refuses a key that others could read. */
async function tlsSettings(
  directory: string,
  { tls }: PostgresOptions,
  account: ServerAccount,
): Promise<string[]> {
  if (tls === undefined) return [];
  const [cert, key] = [join(directory, "server.crt"), join(directory, "server.key")];
  await writeFile(cert, tls.cert);
  await writeFile(key, tls.key, { mode: 0o600 });
  await Promise.all([cert, key].map(account.own));
  return ["ssl=on", `ssl_cert_file=${cert}`, `ssl_key_file=${key}`];
}

function isTaken(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, HOST);
    socket.once("error", () => resolve(false));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}

/** Sends a signal to a process and to all that it has started itself. */
async function signalFamily(parent: number, signal: NodeJS.Signals): Promise<void> {
  // First itself: once it has stopped, it starts no more.
  signalIfThere(parent, signal);
  for (const pid of await childrenOf(parent)) signalIfThere(pid, signal);
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

/** One that has ended may be listed until somebody asks for its exit code; it has no command line then. */
function isRunning(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8") !== "";
  } catch {
    return false;
  }
}
