import type { Clock, Fault, Log } from "@resource-broker/base";
import { DEFAULT_SLICE, type SliceDefaults } from "@resource-broker/contract";
import { DEFAULT_POLICY, type Policy } from "@resource-broker/domain";
import {
  type CertificateFiles,
  type CertificateSet,
  type CertificateSource,
  readCertificateSet,
} from "@resource-broker/runtime";
import { createEngine } from "../../../engine/create-engine.ts";
import type { Engine } from "../../../engine/engine.ts";
import { NO_OBSERVER } from "../../../engine/engine-observer.ts";
import { clientTrust } from "../../../enrollment/client-trust.ts";
import { type Enrollment, joiningOf } from "../../../enrollment/enrollment.ts";
import type { HttpMetrics } from "../../../metrics/metrics.ts";
import type { Store } from "../../../store/store.ts";
import type { LiveLimits } from "../../insight/live/live-hub.ts";
import { type Api, createApi } from "../api.ts";
import { createHttpInterface, type HttpInterface } from "../server.ts";
import { DEFAULT_HTTP_LIMITS, type HttpLimits, type LinkMaker } from "../ports.ts";
import { type CallAs, caller } from "./call.ts";

export interface BrokerParts {
  readonly store: Store;
  readonly clock: Clock;
  /** The broker's own certificate, its key and the authority it trusts. */
  readonly certificates: Omit<CertificateFiles, "crl"> & { readonly crl?: string };
  readonly policy?: Partial<Policy>;
  readonly sliceDefaults?: () => SliceDefaults;
  readonly limits?: Partial<HttpLimits>;
  /** Of a replica; absent: one process alone has the store. */
  readonly notLeading?: () => Fault | undefined;
  readonly liveLimits?: LiveLimits;
  /** Absent: nobody can join, and every authority may make admins. */
  readonly enrollment?: Enrollment;
  readonly metrics?: HttpMetrics;
  readonly objectsNamespace?: string;
  /** Made with the engine; absent: the dashboard is off. */
  readonly dashboard?: (engine: Engine, log: Log) => LinkMaker;
}

export interface RunningBroker {
  readonly engine: Engine;
  readonly api: Api;
  readonly http: HttpInterface;
  readonly port: number;
  readonly call: CallAs;
  readonly logged: readonly string[];
  /** Puts other certificates in force, as a changed folder would. */
  readonly replaceCertificates: (change: Partial<CertificateFiles>) => void;
  readonly stop: () => Promise<void>;
}

/** A whole broker on a free port: real engine, real TLS, and the store and the time of the test. */
export async function runBroker(parts: BrokerParts): Promise<RunningBroker> {
  const { store, clock, limits = {} } = parts;
  const logged: string[] = [];
  const note = (level: string) => (fields: object, message: string) =>
    void logged.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const log: Log = { info: note("info"), warn: note("warn"), error: note("error") };
  const leading = parts.notLeading === undefined ? {} : { notLeading: parts.notLeading };
  let decisions = 0;
  const engine = createEngine(
    { policy: { ...DEFAULT_POLICY, ...parts.policy }, maxWaiting: 1000 },
    {
      store,
      clock,
      observer: NO_OBSERVER,
      defer: setImmediate,
      onFatal: () => undefined,
      newDecisionId: () => `dec-queue-${++decisions}`,
      ...leading,
    },
  );
  await engine.start();
  const { enrollment = NO_ENROLLMENT, metrics = NO_COUNTS } = parts;
  await enrollment.start();
  const { certificates: files } = parts;
  const ca = await enrollment.trust.addTo(files.ca);
  const source = staticCertificates({ crl: undefined, ...files, ca });
  const allLimits = { ...DEFAULT_HTTP_LIMITS, ...limits };
  const api = createApi(allLimits, {
    engine,
    store,
    clock,
    log,
    randomBytes: countedBytes(),
    openApi: '{"openapi":"3.1.0"}',
    policyOrigin: () => ({
      source: "built-in",
      loadedAt: 0,
      sliceDefaults: parts.sliceDefaults?.() ?? DEFAULT_SLICE,
    }),
    ...leading,
    ...(parts.dashboard === undefined ? {} : { dashboard: parts.dashboard(engine, log) }),
    auditChain: () => ({ state: "checking" }),
    historyIn: {},
    liveLimits: parts.liveLimits,
    objectsNamespace: parts.objectsNamespace,
    joining: joiningOf(enrollment, source.current),
    metrics,
  });
  if (parts.notLeading?.() === undefined) await api.lead();
  const http = createHttpInterface(
    api,
    { port: 0, tlsMinVersion: "TLSv1.2", adminUnit: "broker-admin", limits: allLimits },
    { clock, log, certificates: source, adminAuthorities: enrollment.trust.adminAuthorities },
  );
  const { port } = await http.start();
  const { call, close } = caller(port);
  return {
    engine,
    api,
    http,
    port,
    call,
    logged,
    replaceCertificates: source.replace,
    stop: async () => {
      close();
      await http.stop();
      await api.stop();
      await engine.stop();
      enrollment.stop();
    },
  };
}

const NO_ENROLLMENT: Enrollment = {
  signer: undefined,
  trust: clientTrust({
    adminCa: undefined,
    enrollmentAuthorities: () => [],
    onChange: () => () => undefined,
  }),
  start: () => Promise.resolve(),
  stop: () => undefined,
};
const NO_COUNTS: HttpMetrics = {
  answered: () => undefined,
  demandUnmet: () => undefined,
  enrolled: () => undefined,
  certificateIssued: () => undefined,
};

/** Ids that a test can foresee: 1, 2, 3 … */
export function countedBytes(): (size: number) => Uint8Array {
  let count = 0;
  return (size) => {
    const bytes = Buffer.alloc(size);
    bytes.writeUInt32BE(++count, size - 4);
    return bytes;
  };
}

export interface StaticCertificates extends CertificateSource {
  readonly replace: (change: Partial<CertificateFiles>) => void;
  readonly current: () => CertificateSet;
}

export function staticCertificates(files: CertificateFiles): StaticCertificates {
  const listeners = new Set<(set: CertificateSet) => void>();
  let current = files;
  return {
    start: () => Promise.resolve(readCertificateSet(current)),
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop: () => listeners.clear(),
    current: () => readCertificateSet(current),
    replace: (change) => {
      current = { ...current, ...change };
      for (const listener of listeners) listener(readCertificateSet(current));
    },
  };
}
