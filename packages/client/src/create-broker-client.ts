import { type Clock, Fault, type FaultCode, type Log, perResource } from "@resource-broker/base";
import {
  type AdoptionReplyDTO,
  type AdoptionRequestDTO,
  acknowledgementSchema,
  adoptionReplySchema,
  certificateReplySchema,
  fitToSchema,
  LIMIT,
  PATH,
  peerStatementListSchema,
  type ReservationRequestDTO,
  reservationListSchema,
  reservationSchema,
} from "@resource-broker/contract";
import { CALLS_PROTOCOL, MAX_RESERVATIONS_PER_REQUESTER } from "@resource-broker/domain";
import { type CertificateSet, type CertificateSource, certificateFolder } from "@resource-broker/runtime";
import { type Call, createAttempts, HEALTH } from "./attempts.ts";
import type { BrokerClient } from "./broker-client.ts";
import {
  advertiseCall,
  decisionCall,
  isReserved,
  queuePages,
  quoteCall,
  readAll,
  renewCall,
  reservationCall,
  reservationPages,
  reserveCall,
  reserveOrWaitCall,
  type TypedCall,
  typedCall,
} from "./calls.ts";
import { type ClientHints, createEndpoints, DEFAULT_HINTS, readBrokerUrls } from "./endpoints.ts";
import { createExchanger } from "./exchange.ts";
import { createFailover, createSleeper } from "./failover.ts";
import { createInstructionStream } from "./instruction-stream.ts";
import { type Answer, answerOf, responseListeners } from "./reply.ts";
import { openTlsConnections } from "./tls-connections.ts";

export interface BrokerClientOptions {
  /** Addresses of the same broker; the first that serves is used. */
  readonly brokerUrls: readonly string[];
}

export interface BrokerClientDeps {
  /** A folder with tls.crt, tls.key and ca.crt, read again when it changes; or a source, started and stopped by the client. */
  readonly certificates: string | CertificateSource;
  readonly clock: Clock;
  /** From 0 to below 1; spreads retries. */
  readonly random: () => number;
  /** Absent: nothing is logged. */
  readonly log?: Log;
  /** The header Agent-Identity for connections with these certificates. Absent, undefined: none is sent. */
  readonly agentIdentity?: (set: CertificateSet) => string | undefined;
  /** How messages name the program's own settings. */
  readonly hints?: ClientHints;
}

/**
 * Connects to the broker over HTTPS with client certificates. Rejects with a `Fault` when the addresses or the
 * certificates are invalid; a broker that is not available is reported by the calls.
 */
export async function createBrokerClient(
  { brokerUrls }: BrokerClientOptions,
  deps: BrokerClientDeps,
): Promise<BrokerClient> {
  const { clock, random, log = SILENT, hints = DEFAULT_HINTS } = deps;
  const endpoints = createEndpoints(readBrokerUrls(brokerUrls, hints), clock, random);
  const connections = await openTlsConnections(certificatesOf(deps), hints, deps.agentIdentity);
  const exchanger = createExchanger(clock, hints.program);
  const responses = responseListeners();
  const pauses = createSleeper(clock);
  const attempts = createAttempts({ exchanger, connections, responses, hints });
  const run = createFailover({ endpoints, pauses, clock, random, log });

  const call = <T>(toMake: Call<T>): Promise<T> =>
    run({
      attempt: (endpoint, deadlineMs) => attempts.call(toMake, endpoint, deadlineMs),
      // Every call may be repeated, except with a key at an older broker, which would reserve again.
      isRepeatable: ({ protocol = 0 }) => toMake.key === undefined || protocol >= CALLS_PROTOCOL,
      retriesLater: true,
    });

  const stream = createInstructionStream({
    open: (lastEventId) =>
      run({
        attempt: (endpoint, deadlineMs) => attempts.openStream(lastEventId, endpoint, deadlineMs),
        isRepeatable: () => true,
        retriesLater: false,
      }),
    dueInMs: endpoints.dueInMs,
    pauses,
    clock,
    random,
    log,
  });
  const stopRenewing = connections.onRenewed(stream.renew);

  const request = <T>({ schema, ...message }: TypedCall<T>): Promise<Answer<T>> =>
    call({ ...message, read: (reply) => answerOf(schema, reply) });

  const valueOf = async <T>(toMake: TypedCall<T>): Promise<T> => (await request(toMake)).value;

  const remove = (path: string): Promise<void> =>
    call({ method: "DELETE", path, newerFeature: "how to release reservations", read: () => undefined });

  const acknowledgeWith = (id: string, body: unknown): Promise<void> =>
    call({
      method: "POST",
      path: PATH.acknowledge(id),
      body,
      newerFeature: "answers to instructions",
      read: () => undefined,
    });

  const adopt = async (offers: AdoptionRequestDTO): Promise<AdoptionReplyDTO> => {
    const results: AdoptionReplyDTO["results"][number][] = [];
    for (const body of batchesOf(offers)) {
      const toMake = typedCall("POST", PATH.adoptions, adoptionReplySchema, {
        body,
        newerFeature: "adoptions",
      });
      results.push(...(await valueOf(toMake)).results);
    }
    return { results };
  };

  const ping = async (): Promise<void> => {
    await call(HEALTH);
    // The health endpoint is public. The own advertisement is small, and only this cluster may read it.
    const own = {
      method: "GET",
      path: PATH.advertisement(connections.identity()),
      read: () => undefined,
    } as const;
    await call<void>(own).catch(ignoreFaults("not-found", "unsupported"));
  };

  return {
    identity: connections.identity,
    request,
    publish: (body) => valueOf(advertiseCall(body)),
    reserve: async (body, key) => {
      checkKey(key);
      return valueOf({ ...reserveCall(body, key), ...newerFeatureIn(body) });
    },
    reserveOrWait: async (body, key) => {
      checkKey(key);
      return valueOf(reserveOrWaitCall(body, key));
    },
    // Missing reservations count as gone, so a list that does not end is a failure.
    listReservations: (role) =>
      readAll({ request }, reservationPages(role), { maxItems: MAX_RESERVATIONS_PER_REQUESTER }),
    getReservation: async (id) => {
      const found = await valueOf(reservationCall(id)).catch(ignoreFaults("not-found"));
      return found !== undefined && isReserved(found) ? found : undefined;
    },
    getWaiting: async (id) => {
      const found = await valueOf(reservationCall(id)).catch(ignoreFaults("not-found"));
      return found === undefined || isReserved(found) ? undefined : found;
    },
    listWaiting: () => readAll({ request }, queuePages()),
    listInstructions: () => valueOf(typedCall("GET", PATH.instructions, reservationListSchema)),
    watch: stream.watch,
    activate: (id) => {
      const newerFeature = "how to activate reservations";
      return valueOf(typedCall("POST", PATH.activate(id), reservationSchema, { newerFeature }));
    },
    renew: (id, duration) => valueOf(renewCall(id, duration)),
    release: (id) => remove(PATH.reservation(id)).catch(ignoreFaults("not-found", "already-ended")),
    releaseByKey: (key) => remove(PATH.releaseByKey(key)).catch(ignoreFaults("not-found", "already-ended")),
    acknowledge: (id, generation) =>
      acknowledgeWith(id, { state: "held", ...(generation === undefined ? {} : { generation }) }),
    refuse: (id, reason) =>
      acknowledgeWith(id, fitToSchema(acknowledgementSchema, { state: "refused", reason })).catch(
        ignoreFaults("already-ended"),
      ),
    quote: (body) => valueOf(quoteCall(body)),
    getDecision: (decisionId) => valueOf(decisionCall(decisionId)),
    adopt,
    renewCertificate: (body) =>
      valueOf(typedCall("POST", PATH.certificates, certificateReplySchema, { body, ...JOINING })),
    putStatement: (to, statement) =>
      call({
        method: "PUT",
        path: PATH.statement(to),
        body: { statement },
        ...STATEMENTS,
        read: () => undefined,
      }),
    listStatements: () => valueOf(typedCall("GET", PATH.statements, peerStatementListSchema, STATEMENTS)),
    ping,
    onResponse: responses.onResponse,
    close: () => {
      stopRenewing();
      pauses.close();
      exchanger.close();
      stream.renew();
      connections.close();
      return Promise.resolve();
    },
  };
}

const JOINING = { newerFeature: "how to renew certificates" };
const STATEMENTS = { newerFeature: "statements between clusters" };
const SILENT: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

function certificatesOf({ certificates, clock, log = SILENT }: BrokerClientDeps): CertificateSource {
  if (typeof certificates !== "string") return certificates;
  const owner = { name: "the client", peers: "the broker", remedy: "brokerctl certs issue <cluster-id>" };
  return certificateFolder(certificates, { owner, clock, log });
}

type Offer = AdoptionRequestDTO["reservations"][number];

/** The rest is for the JSON around the offers. */
const MAX_BATCH_BYTES = LIMIT.bodyBytes - 1024;

/** Splits the offers into requests below the broker's size limit, in order. */
export function* batchesOf({ reservations, ...rest }: AdoptionRequestDTO): Generator<AdoptionRequestDTO> {
  let batch: Offer[] = [];
  let bytes = 0;
  for (const offer of reservations) {
    const size = Buffer.byteLength(JSON.stringify(offer)) + 1;
    const isFull = bytes + size > MAX_BATCH_BYTES || batch.length === LIMIT.adoptionOffers;
    if (isFull && batch.length > 0) {
      yield { ...rest, reservations: batch };
      batch = [];
      bytes = 0;
    }
    batch.push(offer);
    bytes += size;
  }
  if (batch.length > 0) yield { ...rest, reservations: batch };
}

/** An older broker would ignore unknown fields and grant something else. */
function newerFeatureIn(request: ReservationRequestDTO): { readonly newerFeature?: string } {
  const fields = newerFieldsIn(request);
  return fields.length === 0 ? {} : { newerFeature: `${fields.join(", ")} in a request and would ignore it` };
}

/** Turns faults that are valid answers into undefined. */
function ignoreFaults(...codes: readonly FaultCode[]): (error: unknown) => undefined {
  return (error) => {
    if (error instanceof Fault && codes.includes(error.code)) return undefined;
    throw error;
  };
}

/**
 * Fields of a request that an older broker would ignore, and then grant something else. It supports cpu, memory
 * and duration; priority only affects the order.
 */
export function newerFieldsIn(request: ReservationRequestDTO): readonly string[] {
  const { extended, ...amounts } = request.requestedResources;
  const fields: Readonly<Record<string, boolean>> = {
    ...perResource("name", ({ name }) => isPositive(amounts[name])),
    cpu: false,
    memory: false,
    extended: hasPositive(extended) || hasPositive(request.extended),
    perNode: request.perNode !== undefined,
    constraints: Object.values(request.constraints ?? {}).some((value) => Object.keys(value).length > 0),
    targetClusterID: request.targetClusterID !== undefined,
    tier: request.tier !== undefined,
    start: request.start !== undefined,
  };
  return Object.keys(fields).filter((name) => fields[name]);
}

function isPositive(quantity: string | undefined): boolean {
  return quantity !== undefined && Number.parseFloat(quantity) !== 0;
}

function hasPositive(quantities: Readonly<Record<string, string>> | undefined): boolean {
  return Object.values(quantities ?? {}).some(isPositive);
}

/** Throws when a key cannot be sent in a header or is longer than the broker allows. */
export function checkKey(key: string): void {
  const most = LIMIT.idempotencyKeyLength;
  if (key.length <= most && /^[!-~]+$/.test(key)) return;
  throw new Fault("invalid", `the key ${JSON.stringify(key)} must be 1 to ${most} visible ASCII characters`);
}
