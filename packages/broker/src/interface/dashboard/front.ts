import { once } from "node:events";
import type { TLSSocket } from "node:tls";
import type { CertificateSet } from "@resource-broker/runtime";
import { CertificatesInForce } from "../http/certificates/certificates-in-force.ts";
import { Connections } from "../http/connections.ts";
import { DEFAULT_HTTP_LIMITS } from "../http/ports.ts";
import type { ConnectionIdentity } from "../http/admission.ts";
import type { RequestHandler } from "../http/serve.ts";
import { type AllowedOrigin, certificateOrigin, loopbackOrigin } from "./guard.ts";
import { type Listener, plainListener, secureListener } from "./listener.ts";
import type { DashboardDeps, DashboardOptions } from "./ports.ts";
import { type SessionCookie, sessionCookie } from "./session/cookie.ts";
import { isLoopback, pageUrl } from "./where.ts";

/** How browsers reach the dashboard: over plain HTTP on this machine, or over TLS with the broker's own certificate. */
export interface DashboardEndpoint {
  readonly origin: AllowedOrigin;
  readonly cookie: SessionCookie;
  /** The identity from the client certificate. */
  readonly identityOf: (socket: TLSSocket) => ConnectionIdentity;
  /** The broker's own, those in force now: over plain HTTP, too, sessions rest on them. */
  readonly certificates: () => CertificateSet;
  /** Begins to listen. */
  readonly listen: (serve: RequestHandler) => Promise<Listener>;
  /** Known once it listens. */
  readonly port: () => number;
  readonly url: () => string;
}

type EndpointDeps = Pick<DashboardDeps, "certificates" | "clock" | "log">;

interface CurrentCertificates {
  /** The first set. */
  readonly set: CertificateSet;
  readonly inForce: CertificatesInForce;
}

export async function createEndpoint(
  options: DashboardOptions,
  deps: EndpointDeps,
): Promise<DashboardEndpoint> {
  const { adminUnit } = options;
  const { handshakeTimeoutMs } = DEFAULT_HTTP_LIMITS;
  const set = await deps.certificates.start();
  const inForce = new CertificatesInForce(set, { adminUnit, handshakeTimeoutMs, clock: deps.clock });
  const create = isLoopback(options.host) ? plainEndpoint : secureEndpoint;
  return create(options, deps, { set, inForce });
}

function plainEndpoint(
  options: DashboardOptions,
  deps: EndpointDeps,
  { inForce }: CurrentCertificates,
): DashboardEndpoint {
  const { host = "localhost" } = options;
  let port = 0;
  return {
    origin: loopbackOrigin({ host, port: () => port }),
    cookie: sessionCookie({ isSecure: false, port: () => port }),
    identityOf: () => ({ kind: "anonymous" }),
    certificates: () => inForce.rules().set,
    listen: async (serve) => {
      const listener = plainListener({ serve, inForce }, options, deps);
      port = await listenOn(listener, options);
      return listener;
    },
    port: () => port,
    url: () => pageUrl({ host, port }),
  };
}

function secureEndpoint(
  options: DashboardOptions,
  deps: EndpointDeps,
  { set, inForce }: CurrentCertificates,
): DashboardEndpoint {
  const { host } = options;
  const { maxSocketsPerCluster } = DEFAULT_HTTP_LIMITS;
  const rules = () => inForce.rules();
  const connections = new Connections({ maxPerCluster: maxSocketsPerCluster, rules });
  const certificate = () => rules().set.own;
  let port = 0;
  return {
    origin: certificateOrigin(certificate),
    cookie: sessionCookie({ isSecure: true, port: () => port }),
    identityOf: (socket) => connections.identityOf(socket),
    certificates: () => rules().set,
    listen: async (serve) => {
      const listener = secureListener({ serve, set, connections, inForce }, options, deps);
      port = await listenOn(listener, options);
      return listener;
    },
    port: () => port,
    url: () => pageUrl({ host, port, certificate: certificate() }),
  };
}

async function listenOn({ server }: Listener, { host, port }: DashboardOptions): Promise<number> {
  server.listen({ port, ...(host === undefined ? {} : { host }) });
  await once(server, "listening");
  const address = server.address();
  return address === null || typeof address === "string" ? port : address.port;
}
