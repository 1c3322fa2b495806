import { once } from "node:events";
import type { TLSSocket } from "node:tls";
import type { CertificateSet } from "@resource-broker/runtime";
import { CertificatesInForce } from "../http/certificates/certificates-in-force.ts";
import { Connections } from "../http/connections.ts";
import { DEFAULT_HTTP_LIMITS } from "../http/ports.ts";
import type { Standing } from "../http/admission.ts";
import type { Serve } from "../http/serve.ts";
import { certifiedPlace, loopbackPlace, type Place } from "./guard.ts";
import { type Listener, plainListener, secureListener } from "./listener.ts";
import type { DashboardDeps, DashboardOptions } from "./ports.ts";
import { type SessionCookie, sessionCookie } from "./session/cookie.ts";
import { isLoopback, pageUrl } from "./where.ts";

/** How browsers reach the dashboard: over plain HTTP on this machine, or over TLS with the broker's own certificate. */
export interface Front {
  readonly place: Place;
  readonly cookie: SessionCookie;
  /** The identity from the client certificate. */
  readonly standingOf: (socket: TLSSocket) => Standing;
  /** The broker's own, those in force now: over plain HTTP, too, sessions rest on them. */
  readonly certificates: () => CertificateSet;
  /** Begins to listen. */
  readonly open: (serve: Serve) => Promise<Listener>;
  /** Known once it listens. */
  readonly port: () => number;
  readonly url: () => string;
}

type FrontDeps = Pick<DashboardDeps, "certificates" | "clock" | "log">;

interface InForce {
  /** The first set. */
  readonly set: CertificateSet;
  readonly inForce: CertificatesInForce;
}

export async function frontOf(options: DashboardOptions, deps: FrontDeps): Promise<Front> {
  const { adminUnit } = options;
  const { handshakeTimeoutMs } = DEFAULT_HTTP_LIMITS;
  const set = await deps.certificates.start();
  const inForce = new CertificatesInForce(set, { adminUnit, handshakeTimeoutMs, clock: deps.clock });
  const frontWith = isLoopback(options.host) ? plainFront : secureFront;
  return frontWith(options, deps, { set, inForce });
}

function plainFront(options: DashboardOptions, deps: FrontDeps, { inForce }: InForce): Front {
  const { host = "localhost" } = options;
  let port = 0;
  return {
    place: loopbackPlace({ host, port: () => port }),
    cookie: sessionCookie({ isSecure: false, port: () => port }),
    standingOf: () => ({ kind: "anonymous" }),
    certificates: () => inForce.rules().set,
    open: async (serve) => {
      const listener = plainListener({ serve, inForce }, options, deps);
      port = await listen(listener, options);
      return listener;
    },
    port: () => port,
    url: () => pageUrl({ host, port }),
  };
}

function secureFront(options: DashboardOptions, deps: FrontDeps, { set, inForce }: InForce): Front {
  const { host } = options;
  const { maxSocketsPerCluster } = DEFAULT_HTTP_LIMITS;
  const rules = () => inForce.rules();
  const connections = new Connections({ maxPerCluster: maxSocketsPerCluster, rules });
  const certificate = () => rules().set.own;
  let port = 0;
  return {
    place: certifiedPlace(certificate),
    cookie: sessionCookie({ isSecure: true, port: () => port }),
    standingOf: (socket) => connections.standingOf(socket),
    certificates: () => rules().set,
    open: async (serve) => {
      const listener = secureListener({ serve, set, connections, inForce }, options, deps);
      port = await listen(listener, options);
      return listener;
    },
    port: () => port,
    url: () => pageUrl({ host, port, certificate: certificate() }),
  };
}

async function listen({ server }: Listener, { host, port }: DashboardOptions): Promise<number> {
  server.listen({ port, ...(host === undefined ? {} : { host }) });
  await once(server, "listening");
  const address = server.address();
  return address === null || typeof address === "string" ? port : address.port;
}
