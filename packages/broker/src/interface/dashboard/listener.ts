import { createServer, type Server } from "node:http";
import type { Server as SecureServer } from "node:https";
import type { CertificatesInForce } from "../http/certificates/certificates-in-force.ts";
import type { Connections } from "../http/connections.ts";
import { DEFAULT_HTTP_LIMITS } from "../http/ports.ts";
import {
  createHttpsServer,
  handleRequests,
  secureContext,
  type ServerParts,
  serverTimeouts,
} from "../http/server.ts";
import type { DashboardDeps, DashboardOptions } from "./ports.ts";

const EXPIRY_CHECK_MS = 60_000;
const PORT_NAME = "the dashboard's port";

/** A server, and what belongs to it. */
export interface Listener {
  readonly server: Server | SecureServer;
  /** Stops timers and subscriptions. The caller closes the server. */
  readonly stop: () => void;
}

/** Only this machine can reach it. */
export function plainListener(
  { serve, inForce }: Pick<SecureParts, "serve" | "inForce">,
  { limits }: Pick<DashboardOptions, "limits">,
  { certificates, log }: Pick<DashboardDeps, "certificates" | "log">,
): Listener {
  const server = createServer(serverTimeouts(DEFAULT_HTTP_LIMITS));
  handleRequests(server, limits, { serve, log, portName: PORT_NAME });
  const unsubscribe = certificates.onChange((next) => inForce.replace(next));
  const stop = (): void => {
    unsubscribe();
    certificates.stop();
  };
  return { server, stop };
}

export interface SecureParts extends Omit<ServerParts, "log" | "portName"> {
  readonly connections: Connections;
  readonly inForce: CertificatesInForce;
}

/** Reachable from other machines: TLS as on the API's port, with certificates that are reloaded without a restart. */
export function secureListener(
  { inForce, ...parts }: SecureParts,
  options: DashboardOptions,
  { certificates, clock, log }: Pick<DashboardDeps, "certificates" | "clock" | "log">,
): Listener {
  const limits = { ...DEFAULT_HTTP_LIMITS, maxSockets: options.limits.maxSockets };
  const server = createHttpsServer({ ...options, limits }, { ...parts, log, portName: PORT_NAME });
  const unsubscribe = certificates.onChange((next) => {
    const hasLostAuthorities = inForce.replace(next);
    server.setSecureContext(secureContext(next, options.tlsMinVersion));
    void parts.connections.recheckAll(hasLostAuthorities);
  });
  let cancelExpiryCheck = clock.after(EXPIRY_CHECK_MS, checkExpiry);
  function checkExpiry(): void {
    cancelExpiryCheck = clock.after(EXPIRY_CHECK_MS, checkExpiry);
    parts.connections.closeExpired(clock.wallMs());
  }
  const stop = (): void => {
    unsubscribe();
    cancelExpiryCheck();
    certificates.stop();
  };
  return { server, stop };
}
