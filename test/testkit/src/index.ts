export { type AgentProcess, type AgentProcessOptions, startAgent } from "./agent/agent-process.ts";
export { advertisementBody, reservationBody, reservationReply, type Size } from "./broker/bodies.ts";
export {
  type BrokerClient,
  type BrokerReply,
  brokerClient,
  type CallOptions,
  type ClientOptions,
  type HangUp,
} from "./broker/broker-client.ts";
export { type BrokerProcess, type BrokerProcessOptions, startBroker } from "./broker/broker-process.ts";
export type { EventStream, StreamEvent } from "./broker/event-stream.ts";
export {
  CURRENT,
  type FakeBroker,
  type FakeBrokerOptions,
  type ReceivedCall,
  reply,
  type Script,
  startFakeBroker,
} from "./broker/fake-broker.ts";
export {
  advertisementRequest,
  type ClusterVariety,
  reservationRequest,
} from "./broker/raw-requests.ts";
export { type SeededRandom, seededRandom } from "./broker/seeded-random.ts";
export {
  type Authority,
  type CertificateOptions,
  type KeyKind,
  type KeyPair,
  makeKeys,
} from "./certificates/make-certificate.ts";
export { type Attribute, commonName, type Subject } from "./certificates/subject.ts";
export {
  type Credentials,
  type PeerCertificates,
  type TestCertificates,
  testCertificates,
  writeCertificateFolder,
} from "./certificates/test-certificates.ts";
export { UNUSUAL_CERTIFICATES, type UnusualCertificate } from "./certificates/unusual-certificates.ts";
export {
  PERMISSIVE_CLIENT,
  WRONG_CERTIFICATES,
  type WrongCertificate,
} from "./certificates/wrong-certificates.ts";
export { type ControlPlaneAssets, controlPlaneAssets } from "./control-plane/assets.ts";
export type {
  RealControlPlane,
  ServerAccess,
  ServerReply,
} from "./control-plane/control-plane.ts";
export { type ControlPlaneOptions, startControlPlane } from "./control-plane/start-control-plane.ts";
export {
  type GoBroker,
  type GoBrokerOptions,
  startGoBroker,
} from "./go-broker/go-broker.ts";
export { ACTIVE_AFTER_MS } from "./go-broker/go-ledger.ts";
export { History } from "./histories/history.ts";
export { type HistoryAnswer, type HistoryCall, HistoryClient } from "./histories/history-client.ts";
export { kubeClientFor, NO_LOG, readTable, realKube, simulatedKube } from "./kube/kube-servers.ts";
export { KUBE_PROMISES, keepOrDiverge } from "./kube/kube-conformance.ts";
export type { KubePromise, KubeUnderTest } from "./kube/kube-promise.ts";
export { metricsIn, metricsPage, type ScrapedMetric, samplesOf } from "./metrics/scrape.ts";
export { type PostgresPrograms, postgresPrograms } from "./postgres/postgres-programs.ts";
export { type PostgresOptions, type PostgresServer, startPostgres } from "./postgres/start-postgres.ts";
export { type Replicas, type ReplicasOptions, startReplicas } from "./postgres/start-replicas.ts";
export { type Child, childOf } from "./process/child.ts";
export { freePorts } from "./process/free-ports.ts";
export { type Guardian, startGuardian } from "./process/guardian.ts";
export { cpuMsOf, memoryOf } from "./process/process-usage.ts";
export { outputOf, type ProgramResult, runProgram } from "./process/run-program.ts";
export { callsIn, startTraced, traceProcess, tracerProblem } from "./process/system-calls.ts";
export { type FaultyProxy, startFaultyProxy } from "./proxy/faulty-proxy.ts";
export { type LiqoAssets, liqoAssets } from "./real-liqo/assets.ts";
export { installedLiqo, liqoDeployment } from "./real-liqo/install.ts";
export { listingOf } from "./real-liqo/object-listing.ts";
export { WHOLE_NODES, WHOLE_PODS, type WholeNode, type WholePod } from "./real-liqo/plain-kinds.ts";
export {
  type RealLiqoCluster,
  type RealLiqoControlPlanes,
  realLiqoControlPlanes,
} from "./real-liqo/real-liqo.ts";
export { flagsPage } from "./reference/flags-page.ts";
export { FULL_HISTORY } from "./store/full-history.ts";
export { clusterOf, eventsOf, LedgerDriver, requestFor, reserve } from "./store/ledger-driver.ts";
export {
  type CommitFailure,
  type FailingCall,
  type MemoryDisk,
  type MemoryStore,
  memoryDisk,
  memoryStore,
} from "./store/memory-store.ts";
export { STORE_PROMISES, type StorePromise, type StoreUnderTest } from "./store/store-conformance.ts";
export { type FakeClock, fakeClock, settle } from "./time/fake-clock.ts";
export { MACHINE_CLOCK } from "./time/machine-clock.ts";
export {
  TRANSPORT_PROMISES,
  type TransportPromise,
  type TransportUnderTest,
} from "./transport/transport-conformance.ts";
export { type ClusterPlan, nodeObject, podObject } from "./world/cluster-plan.ts";
export {
  type ControlPlane,
  type ControlPlanes,
  type SimulatedControlPlanes,
  type SimulatedControlPlanesOptions,
  simulatedControlPlanes,
} from "./world/control-planes.ts";
export { createInProcessAgent, type InProcessAgent, startInProcessAgent } from "./world/in-process-agent.ts";
export {
  ADVERTISEMENTS,
  BROKER_POLICIES,
  CLUSTER_ADVERTISEMENTS,
  clusterDefinitions,
  PROVIDER_INSTRUCTIONS,
  RESERVATION_INSTRUCTIONS,
  RESERVATIONS,
  RESOURCE_REQUESTS,
} from "./world/kinds.ts";
export { type ReachedPlane, type RealControlPlanes, realControlPlanes } from "./world/real-control-planes.ts";
export {
  typicalNode,
  typicalPod,
  typicalPodName,
  typicalRequests,
} from "./world/typical-objects.ts";
export { until } from "./world/until.ts";
export { startWorld, type World, type WorldOptions } from "./world/world.ts";
export { type WorldCluster, worldCluster } from "./world/world-cluster.ts";
