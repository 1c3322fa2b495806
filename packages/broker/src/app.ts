import { certificateFolder, createProbes, type Log, type MachineTime } from "@resource-broker/runtime";
import { logCommit } from "./decision-log.ts";
import { createEngine } from "./engine/create-engine.ts";
import { engineCheck } from "./engine-check.ts";
import { watchEngine } from "./engine-watch.ts";
import { createHttpInterface } from "./interface/http/http-interface.ts";
import { DEFAULT_HTTP_LIMITS } from "./interface/http/ports.ts";
import { createMetrics, DEFAULT_METRICS_OPTIONS } from "./metrics/create-metrics.ts";
import { BUILT_IN_POLICY, followPolicy, loadPolicy } from "./policy/policy-file.ts";
import { notLeading } from "./replica.ts";
import type { BrokerSettings } from "./settings/broker-settings.ts";
import { chooseStore } from "./store/choose-store.ts";
import type { Leadership } from "./store/leadership.ts";
import { StoreFailure } from "./store/store.ts";

export interface BrokerDeps {
  readonly machine: MachineTime;
  readonly defer: (task: () => void) => void;
  readonly randomBytes: (size: number) => Uint8Array;
  readonly readYaml: (path: string) => Promise<unknown>;
  /** The text of openapi.json. */
  readonly openApi: string;
  readonly log: Log;
  /** The store contradicts itself, or another replica leads now: nothing more can be done here. */
  readonly onFatal: (failure: StoreFailure) => void;
}

/** A whole broker: store, engine, API and probes. */
export interface Broker {
  readonly start: () => Promise<{ readonly port: number }>;
  /** Takes no new calls, finishes those under way, writes what is left. */
  readonly stop: () => Promise<void>;
}

const CERTIFICATE_OWNER = { name: "the broker", peers: "clients", remedy: "brokerctl certs init" };

export function createBroker(settings: BrokerSettings, deps: BrokerDeps): Broker {
  const { machine, log, readYaml } = deps;
  const metrics = createMetrics(DEFAULT_METRICS_OPTIONS);
  const { store, leadership, shown } = chooseStore(settings, { machine, log });
  const leading = leadership === undefined ? {} : { notLeading: () => notLeading(leadership) };
  const { defer, onFatal } = deps;
  const engine = createEngine(
    { policy: BUILT_IN_POLICY.policy, maxWaiting: settings["max-waiting"] },
    { store, machine, observer: watchEngine(metrics, log), defer, onFatal, ...leading },
  );
  let policy = { ...BUILT_IN_POLICY, loadedAt: undefined as number | undefined };
  const http = createHttpInterface(
    {
      port: settings["http-port"],
      ...(settings["http-host"] === "" ? {} : { host: settings["http-host"] }),
      tlsMinVersion: settings["tls-min-version"] === "1.3" ? "TLSv1.3" : "TLSv1.2",
      adminUnit: settings["admin-ou"],
      limits: DEFAULT_HTTP_LIMITS,
    },
    {
      engine,
      store,
      certificates: certificateFolder(settings["http-cert-path"], { owner: CERTIFICATE_OWNER, machine, log }),
      machine,
      randomBytes: deps.randomBytes,
      openApi: deps.openApi,
      policyOrigin: () => ({
        source: settings.policy === "" ? "built in" : settings.policy,
        sliceDefaults: policy.sliceDefaults,
        ...(policy.loadedAt === undefined ? {} : { loadedAt: policy.loadedAt }),
      }),
      log,
      metrics,
      ...leading,
    },
  );
  let isServing = false;
  const api = { name: "api", problem: () => (isServing ? undefined : "takes no calls yet") };
  const checks = [engineCheck(engine, leadership), api];
  const probes = createProbes(settings, { checks, metrics, machine, log, openApi: deps.openApi });
  const endings: (() => unknown)[] = [];

  const usePolicy = (loaded: typeof BUILT_IN_POLICY): void => {
    policy = { ...loaded, loadedAt: engine.now() };
    engine.setPolicy(loaded.policy);
  };

  const start = async (): Promise<{ readonly port: number }> => {
    const first = settings.policy === "" ? undefined : await loadPolicy(settings.policy, readYaml);
    await probes.start();
    if (leadership === undefined) await openLedger();
    else await leadership.prepare();
    if (first !== undefined) {
      usePolicy(first);
      endings.push(
        followPolicy({ path: settings.policy, inForce: first }, { read: readYaml, machine, log }, usePolicy),
      );
    }
    const { port } = await http.start();
    isServing = true;
    if (leadership === undefined) announce(port);
    else standBy(leadership, port).catch(giveUp);
    return { port };
  };

  /** Waits for its turn, for as long as it takes; whoever was replaced ends, and comes back as a new process. */
  const standBy = async (turn: Leadership, port: number): Promise<void> => {
    turn.onLost(giveUp);
    log.info({ port, store: shown }, "the broker stands by");
    if (!(await turn.win())) return;
    await openLedger();
    http.lead();
    announce(port);
  };

  const openLedger = async (): Promise<void> => {
    await engine.start();
    endings.push(engine.onCommit((commit) => logCommit(commit, log)));
    endings.push(
      metrics.watch({ engine, openStreams: http.openStreams, openConnections: http.openConnections }),
    );
  };

  const giveUp = (error: unknown): void => {
    if (!isServing) return; // stopping already
    const message = error instanceof Error ? error.message : String(error);
    log.error({ error: message }, "the broker ends: start it again, and it stands by");
    const failure =
      error instanceof StoreFailure ? error : new StoreFailure("not-committed", message, { cause: error });
    void stop().finally(() => onFatal(failure));
  };

  const announce = (port: number): void => {
    const { reservations, accounts } = engine.ledger;
    const held = { ledger: engine.ledgerId, reservations: reservations.size, clusters: accounts.size };
    log.info({ port, store: shown, policy: engine.policy.version, ...held }, "the broker is ready");
  };

  const stop = async (): Promise<void> => {
    isServing = false;
    await http.stop();
    await engine.stop();
    await probes.stop();
    for (const end of endings.splice(0)) end();
    metrics.stop();
    log.info({}, "the broker has stopped");
  };

  return { start, stop };
}
