import type { Clock, Log } from "@resource-broker/base";
import type { Environment } from "@resource-broker/kube";
import {
  type CertificateSet,
  type CertificateSource,
  createProbes,
  createReloads,
  observedCertificates,
} from "@resource-broker/runtime";
import { clusterAccess } from "./cluster-access.ts";
import { dashboardComponent, historyOf } from "./dashboard-component.ts";
import { createEnrollment, joiningOf } from "./enrollment/enrollment.ts";
import { createEngine } from "./engine/create-engine.ts";
import { engineObserver, logCommit } from "./engine-log.ts";
import { importReservations } from "./import-reservations.ts";
import { type Api, createApi } from "./interface/http/api.ts";
import { createHttpInterface, type HttpInterface } from "./interface/http/server.ts";
import { idMaker } from "./interface/shared/make-ids.ts";
import { DEFAULT_HTTP_LIMITS, type HttpDeps, type PolicyOrigin } from "./interface/http/ports.ts";
import { kubernetesComponent } from "./kubernetes-component.ts";
import { createMetrics, DEFAULT_METRICS_OPTIONS } from "./metrics/create-metrics.ts";
import { ownCertificates } from "./own-certificates.ts";
import { podRole } from "./pod-role/role-label.ts";
import {
  BUILT_IN_POLICY,
  followPolicy,
  type LoadedPolicy,
  loadPolicy,
  policyInForce,
} from "./policy/policy.ts";
import { engineCheck, leadingCheck, notLeading, writesCheck } from "./replica.ts";
import type { BrokerSettings } from "./settings/broker-settings.ts";
import { clusterNeeds } from "./settings/read-settings.ts";
import { type AuditWatch, UNCHECKED_CHAIN, watchAudit } from "./store/audit-watch.ts";
import { chooseStore } from "./store/choose-store.ts";
import type { Leadership } from "./store/common/leader-elector.ts";
import { StoreFailure } from "./store/store.ts";

export interface BrokerDeps {
  readonly clock: Clock;
  readonly defer: (task: () => void) => void;
  readonly randomBytes: (size: number) => Uint8Array;
  /** In [0, 1). */
  readonly random: () => number;
  /** KUBECONFIG, HOME and the variables of a pod. */
  readonly env: Environment;
  readonly readYaml: (path: string) => Promise<unknown>;
  /** The text of openapi.json. */
  readonly openApi: string;
  /** Of this program. */
  readonly version: string;
  readonly log: Log;
  /** Called when the store is corrupt or another replica leads: this process must end. */
  readonly onFatal: (failure: StoreFailure) => void;
}

/** A whole broker: store, engine, API and probes. */
export interface Broker {
  /** The port of the HTTP interface; undefined without one. */
  readonly start: () => Promise<{ readonly port: number | undefined }>;
  /** Stops accepting calls, finishes calls in flight, and writes pending data. */
  readonly stop: () => Promise<void>;
}

export function createBroker(settings: BrokerSettings, deps: BrokerDeps): Broker {
  const { clock, log, readYaml, random, randomBytes } = deps;
  const reloads = createReloads();
  const metrics = createMetrics({ ...DEFAULT_METRICS_OPTIONS, reloads: reloads.statuses });
  const needs = clusterNeeds(settings);
  const cluster = clusterAccess(settings, { ...deps, reloads });
  const { store, leadership, displayName, replica } = chooseStore(settings, {
    clock,
    log,
    kube: cluster.open,
  });
  const leading = leadership === undefined ? {} : { notLeading: () => notLeading(leadership) };
  const isLeading = (): boolean => leadership === undefined || leadership.state().role === "leader";
  const { defer, onFatal } = deps;
  const { decision: newDecisionId } = idMaker(randomBytes);
  const engine = createEngine(
    { policy: BUILT_IN_POLICY.policy, maxWaiting: settings["max-waiting"] },
    { store, clock, observer: engineObserver(metrics, log), defer, onFatal, newDecisionId, ...leading },
  );
  let policyLoadedAt: number | undefined;
  const policy = policyInForce({
    use: (loaded) => {
      policyLoadedAt = engine.now();
      engine.setPolicy(loaded.policy);
    },
    log,
  });
  const policyOrigin = (): PolicyOrigin => {
    const { source, sliceDefaults } = policy.now();
    return { source, sliceDefaults, ...(policyLoadedAt === undefined ? {} : { loadedAt: policyLoadedAt }) };
  };
  let apiPort: number | undefined;
  let auditWatch: AuditWatch | undefined;
  const parts = { engine, store, clock, randomBytes, log, ...leading };
  const enrollment = createEnrollment(settings, { clock, log, randomBytes, reloads, open: cluster.open });
  const { adminAuthorities } = enrollment.trust;
  const certificates = (): CertificateSource =>
    ownCertificates(settings, { clock, log, reloads, more: enrollment.trust });
  const dashboard = dashboardComponent(settings, deps.version, {
    ...parts,
    certificates,
    adminAuthorities,
    apiPort: () => apiPort,
  });
  let inForce: CertificateSet | undefined;
  const { openApi } = deps;
  const isHttp = settings["broker-interface"].includes("http");
  const api = createApi(DEFAULT_HTTP_LIMITS, {
    ...parts,
    openApi,
    metrics,
    policyOrigin,
    joining: joiningOf(enrollment, () => inForce),
    auditChain: () => auditWatch?.chain() ?? UNCHECKED_CHAIN,
    ...(dashboard && { dashboard, historyIn: historyOf(settings) }),
    ...(needs.views ? { objectsNamespace: settings["http-namespace"] } : {}),
  });
  const http: HttpInterface | undefined = isHttp
    ? httpOf(settings, api, {
        clock,
        log,
        adminAuthorities,
        certificates: observedCertificates(certificates(), (set) => {
          inForce = set;
          metrics.certificatesInForce(set);
        }),
      })
    : undefined;
  const kubernetes =
    needs.objects || needs.views
      ? kubernetesComponent(
          { replica, views: needs.views, objects: needs.objects },
          {
            open: cluster.open,
            engine,
            store,
            clock,
            random,
            randomBytes,
            log,
            metrics,
            isLeading,
            sliceDefaults: () => policy.now().sliceDefaults,
            onPolicy: policy.fromObject,
            reportPolicy: reloads.source("brokerpolicy"),
          },
        )
      : undefined;
  let isServing = false;
  let isStopping = false;
  const serving = {
    name: "api",
    problem: () => (isServing ? undefined : "the API does not accept calls yet"),
  };
  const role = podRole(settings, { ...deps, open: cluster.open });
  // An unreachable API server must not make the HTTP interface unready.
  const kubernetesChecks = kubernetes === undefined ? [] : [{ ...kubernetes.check, isAdvisory: isHttp }];
  const checks = [
    leadingCheck(leadership),
    engineCheck(engine, leadership),
    writesCheck(engine),
    serving,
    ...kubernetesChecks,
    ...(role === undefined ? [] : [role.check]),
  ];
  const probes = createProbes(settings, { checks, metrics, clock, log, openApi, reloads });
  const cleanups: (() => unknown)[] = [];

  const start = async (): Promise<{ readonly port: number | undefined }> => {
    const initialPolicy = settings.policy === "" ? undefined : await loadPolicy(settings.policy, readYaml);
    await connectCluster();
    await enrollment.start();
    await probes.start();
    await dashboard?.start(api);
    if (initialPolicy !== undefined) useFile(settings.policy, initialPolicy);
    await (leadership === undefined ? begin() : leadership.prepare());
    apiPort = (await http?.start())?.port;
    isServing = true;
    if (leadership === undefined) await announce(apiPort);
    else standBy(leadership, apiPort).catch(giveUp);
    return { port: apiPort };
  };

  const useFile = (source: string, initial: LoadedPolicy): void => {
    policy.fromFile({ ...initial, source });
    const following = { read: readYaml, clock, log, report: reloads.source("policy-file") };
    cleanups.push(
      followPolicy({ path: source, inForce: initial }, following, (loaded) =>
        policy.fromFile({ ...loaded, source }),
      ),
    );
  };

  const connectCluster = async (): Promise<void> => {
    // Fail at start if the kubeconfig cannot be read.
    if (kubernetes !== undefined || role !== undefined) await cluster.open();
    // Not awaited: the readiness check covers the label.
    role?.standBy();
  };

  /** Takes over the ledger. From its start on, the engine judges what waits and what is due: the policy is read before. */
  const begin = async (): Promise<void> => {
    await kubernetes?.readPolicy();
    if (isStopping) return;
    await openLedger();
    const isServed = http !== undefined || dashboard !== undefined;
    await Promise.all([kubernetes?.lead(), isServed ? api.lead() : undefined]);
  };

  /** Waits without limit until this replica is elected. A replaced leader ends its process. */
  const standBy = async (election: Leadership, port: number | undefined): Promise<void> => {
    election.onLost(giveUp);
    log.info({ port, store: displayName }, "the broker is a standby replica");
    if (!(await election.acquire())) return;
    await begin();
    if (!isStopping) await announce(port);
  };

  const openLedger = async (): Promise<void> => {
    await engine.start();
    await takeOverObjects();
    cleanups.push(engine.onCommit((commit) => logCommit(commit, log)));
    cleanups.push(
      metrics.watch({
        engine,
        isLeading,
        openStreams: api.openStreams,
        statements: api.statements,
        openConnections: () => http?.openConnections() ?? 0,
      }),
    );
    auditWatch = watchAudit({ store, clock, observer: metrics, log });
    cleanups.push(auditWatch.stop);
  };

  const takeOverObjects = async (): Promise<void> => {
    if (needs.imports) await importReservations({ engine, open: cluster.open, log });
  };

  const giveUp = (error: unknown): void => {
    if (!isServing) return; // stopping already
    const message = error instanceof Error ? error.message : String(error);
    log.error({ error: message }, "the broker exits; restart it and it becomes a standby replica");
    const failure =
      error instanceof StoreFailure ? error : new StoreFailure("not-committed", message, { cause: error });
    void stop().finally(() => onFatal(failure));
  };

  const announce = async (port: number | undefined): Promise<void> => {
    await role?.lead(leadership?.predecessor() ?? "");
    const { reservations, accounts } = engine.ledger;
    const counts = { ledger: engine.ledgerId, reservations: reservations.size, clusters: accounts.size };
    log.info({ port, store: displayName, policy: engine.policy.version, ...counts }, "the broker is ready");
  };

  const stop = async (): Promise<void> => {
    isServing = false;
    isStopping = true;
    const unlabelled = role?.stop();
    await http?.stop();
    await dashboard?.stop();
    api.stopStreams();
    await api.stop();
    await kubernetes?.stop();
    enrollment.stop();
    await engine.stop();
    await unlabelled;
    await cluster.close();
    await probes.stop();
    for (const end of cleanups.splice(0)) end();
    metrics.stop();
    log.info({}, "the broker has stopped");
  };

  return { start, stop };
}

function httpOf(settings: BrokerSettings, api: Api, parts: HttpDeps): HttpInterface {
  return createHttpInterface(
    api,
    {
      port: settings["http-port"],
      ...(settings["http-host"] === "" ? {} : { host: settings["http-host"] }),
      tlsMinVersion: settings["tls-min-version"] === "1.3" ? "TLSv1.3" : "TLSv1.2",
      adminUnit: settings["admin-ou"],
      limits: DEFAULT_HTTP_LIMITS,
    },
    parts,
  );
}
