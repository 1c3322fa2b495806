/** Paths of every program's probe port. The broker's API serves health and openapi, too. */
export const PROBE_PATH = {
  health: "/healthz",
  readiness: "/readyz",
  metrics: "/metrics",
  openapi: "/openapi.json",
} as const;
