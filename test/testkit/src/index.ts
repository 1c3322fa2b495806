export { type AgentProcess, type AgentProcessOptions, startAgent } from "./agent/agent-process.ts";
export { advertisementBody, reservationBody, reservationReply, type Size } from "./broker/bodies.ts";
export {
  type BrokerClient,
  type BrokerReply,
  brokerClient,
  type CallOptions,
  type ClientOptions,
} from "./broker/broker-client.ts";
export { type BrokerProcess, type BrokerProcessOptions, startBroker } from "./broker/broker-process.ts";
export type { EventStream } from "./broker/event-stream.ts";
export {
  CURRENT,
  type FakeBroker,
  type FakeBrokerOptions,
  reply,
  type Script,
  startFakeBroker,
} from "./broker/fake-broker.ts";
export { advertisementRequest, type ClusterVariety, reservationRequest } from "./broker/raw-requests.ts";
export { type SeededRandom, seededRandom } from "./broker/seeded-random.ts";
export { type KeyKind, makeKeys } from "./certificates/make-certificate.ts";
export { commonName, type Subject } from "./certificates/subject.ts";
export {
  type Credentials,
  type PeerCertificates,
  privatePem,
  type TestCertificates,
  testCertificates,
  writeCertificateFolder,
} from "./certificates/test-certificates.ts";
export { UNUSUAL_CERTIFICATES } from "./certificates/unusual-certificates.ts";
export { PERMISSIVE_CLIENT, WRONG_CERTIFICATES } from "./certificates/wrong-certificates.ts";
export { controlPlaneAssets } from "./control-plane/assets.ts";
export type { RealControlPlane } from "./control-plane/control-plane.ts";
export { startControlPlane } from "./control-plane/start-control-plane.ts";
export { type GoBroker, startGoBroker } from "./go-broker/go-broker.ts";
export { ACTIVE_AFTER_MS } from "./go-broker/go-ledger.ts";
export { History } from "./histories/history.ts";
export { type HistoryAnswer, type HistoryCall, HistoryClient } from "./histories/history-client.ts";
export { kubeClientFor, NO_LOG, readTable, realKube, simulatedKube } from "./kube/kube-servers.ts";
export { KUBE_PROMISES, keepOrDiverge } from "./kube/kube-conformance.ts";
export type { KubeUnderTest } from "./kube/kube-promise.ts";
export { metricsIn, metricsPage, samplesOf } from "./metrics/scrape.ts";
export { postgresPrograms } from "./postgres/postgres-programs.ts";
export { type PostgresServer, startPostgres } from "./postgres/start-postgres.ts";
export { type Replicas, startReplicas } from "./postgres/start-replicas.ts";
export { freePorts } from "./process/free-ports.ts";
export { cpuMsOf, memoryOf } from "./process/process-usage.ts";
export { outputOf, type ProgramResult } from "./process/run-program.ts";
export { callsIn, startTraced, traceProcess, tracerProblem } from "./process/system-calls.ts";
export { type FaultyProxy, startFaultyProxy } from "./proxy/faulty-proxy.ts";
export { liqoAssets } from "./real-liqo/assets.ts";
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
export {
  admit,
  clusterOf,
  eventsOf,
  LedgerDriver,
  requestFor,
  reserve,
  reserveOrWait,
} from "./store/ledger-driver.ts";
export { type MemoryDisk, type MemoryStore, memoryDisk, memoryStore } from "./store/memory-store.ts";
export { commandsWithQueueFor, queueOrLedgerAction } from "./store/queue-actions.ts";
export { STORE_PROMISES } from "./store/store-conformance.ts";
export { type FakeClock, fakeClock, settle } from "./time/fake-clock.ts";
export { MACHINE_CLOCK } from "./time/machine-clock.ts";
export { TRANSPORT_PROMISES, type TransportUnderTest } from "./transport/transport-conformance.ts";
export { FleetSimulation, requestOf } from "./waiting/fleet-simulation.ts";
export {
  type FleetCluster,
  type Job,
  type JobTrace,
  makeJobTrace,
  type TraceTenant,
} from "./waiting/job-trace.ts";
export { LedgerQueue } from "./waiting/ledger-queue.ts";
export { type LateStart, StartPromises } from "./waiting/start-promises.ts";
export { type ClusterPlan, nodeObject, podObject } from "./world/cluster-plan.ts";
export {
  type ControlPlanes,
  type SimulatedControlPlanes,
  type SimulatedControlPlanesOptions,
  simulatedControlPlanes,
} from "./world/control-planes.ts";
export { createInProcessAgent } from "./world/in-process-agent.ts";
export {
  ADVERTISEMENTS,
  CLUSTER_ADVERTISEMENTS,
  clusterDefinitions,
  PROVIDER_INSTRUCTIONS,
  RESERVATION_INSTRUCTIONS,
  RESERVATIONS,
  RESOURCE_REQUESTS,
} from "./world/kinds.ts";
export { type RealControlPlanes, realControlPlanes } from "./world/real-control-planes.ts";
export { typicalNode, typicalPod, typicalPodName, typicalRequests } from "./world/typical-objects.ts";
export { until } from "./world/until.ts";
export { startWorld, type World, type WorldOptions } from "./world/world.ts";
export { type WorldCluster, worldCluster } from "./world/world-cluster.ts";
