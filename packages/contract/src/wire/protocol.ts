import { PROBE_PATH } from "@resource-broker/base";
import { MARKET_PROTOCOL } from "@resource-broker/domain";

/** What this version sends in Agent-Protocol and Broker-Protocol. A feature needs at least the number it came with. */
export const PROTOCOL_VERSION = MARKET_PROTOCOL;

export const HEADER = {
  idempotencyKey: "Idempotency-Key",
  /** `true` on the answer to a request that was recognised as a retry. */
  idempotencyReplayed: "Idempotency-Replayed",
  /** Created with the broker's database: a different one means that the ledger was lost or replaced. */
  ledgerId: "Ledger-ID",
  agentProtocol: "Agent-Protocol",
  brokerProtocol: "Broker-Protocol",
  retryAfter: "Retry-After",
  /** `rel="next"` on long lists of reservations. */
  link: "Link",
  /** How many items match, on all pages. */
  totalCount: "Total-Count",
  /** `<identity key>.<signature>`: the cluster's identity key vouches for the key of the client certificate. */
  agentIdentity: "Agent-Identity",
} as const;

export const LIMIT = {
  bodyBytes: 256 * 1024,
  advertisementBodyBytes: 1024 * 1024,
  /** Checked before parsing: no body of ours is deeper than 8. */
  jsonDepth: 32,
  jsonKeys: 50_000,
  idempotencyKeyLength: 128,
  /** In one request. */
  adoptionOffers: 1000,
  /** Of what lists without pages hold. */
  instructions: 10_000,
  capacityIds: 1000,
  /** In words, in one line: why something was refused, cordoned or is at risk. */
  reasonLength: 512,
  /** Where a page begins. */
  afterLength: 256,
  /** Of a text that lists are searched for. */
  searchLength: 256,
  /** Of an Advertisement, region and zone included. */
  labels: 64,
  /** Of a call to enroll. */
  enrollmentBodyBytes: 8 * 1024,
  /** Of a public key in DER, in base64. */
  publicKeyLength: 1024,
  /** Of certificates in PEM, with their intermediates. */
  certificatesLength: 64 * 1024,
  /** Of a signed statement from one cluster to another. */
  statementBytes: 16 * 1024,
  /** Clusters that one cluster has statements for at a time. */
  statementsPerCluster: 256,
  pageDefault: 100,
  pageMax: 500,
} as const;

const API = "/api/v1";
const part = (id: string): string => encodeURIComponent(id);

export const PATH = {
  advertisements: `${API}/advertisements`,
  advertisement: (clusterId: string): string => `${API}/advertisements/${part(clusterId)}`,
  reservations: `${API}/reservations`,
  reservation: (id: string): string => `${API}/reservations/${part(id)}`,
  activate: (id: string): string => `${API}/reservations/${part(id)}/activate`,
  renew: (id: string): string => `${API}/reservations/${part(id)}/renew`,
  releaseByKey: (key: string): string => `${API}/reservations?key=${part(key)}`,
  timeline: (id: string): string => `${API}/reservations/${part(id)}/timeline`,
  queue: `${API}/queue`,
  queueExplanation: (id: string): string => `${API}/queue/${part(id)}/explanation`,
  tenants: `${API}/tenants`,
  refusedRequests: `${API}/refused-requests`,
  demand: `${API}/demand`,
  decisions: `${API}/decisions`,
  decision: (id: string): string => `${API}/decisions/${part(id)}`,
  quotes: `${API}/quotes`,
  instructions: `${API}/instructions`,
  instructionStream: `${API}/instructions?watch=true`,
  acknowledge: (id: string): string => `${API}/instructions/${part(id)}/ack`,
  adoptions: `${API}/adoptions`,
  adoptionWindow: `${API}/adoptions/window`,
  cordon: (clusterId: string): string => `${API}/clusters/${part(clusterId)}/cordon`,
  uncordon: (clusterId: string): string => `${API}/clusters/${part(clusterId)}/uncordon`,
  drain: (clusterId: string): string => `${API}/clusters/${part(clusterId)}/drain`,
  trust: `${API}/trust`,
  enroll: `${API}/enroll`,
  certificates: `${API}/certificates`,
  invitations: `${API}/invitations`,
  members: `${API}/members`,
  acceptMember: (clusterId: string): string => `${API}/members/${part(clusterId)}/accept`,
  evictMember: (clusterId: string): string => `${API}/members/${part(clusterId)}/evict`,
  statements: `${API}/peers`,
  statement: (clusterId: string): string => `${API}/peers/${part(clusterId)}/statement`,
  audit: `${API}/audit`,
  flows: `${API}/flows`,
  capacityHistory: `${API}/history/capacity`,
  demandHistory: `${API}/history/demand`,
  spending: `${API}/spending`,
  events: `${API}/events`,
  policy: `${API}/policy`,
  session: `${API}/dashboard/session`,
  dashboardLinks: `${API}/dashboard/links`,
  ...PROBE_PATH,
} as const;
