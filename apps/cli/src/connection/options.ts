/** How the broker is reached; the same on every command that talks to it. Light on purpose: every help is made from it. */
export const CONNECTION = {
  broker: {
    kind: "text",
    value: "url",
    env: "BROKERCTL_BROKER",
    summary:
      "where the broker listens, replicas with commas between them; else the context's, else localhost",
  },
  certs: {
    kind: "text",
    value: "folder",
    env: "BROKERCTL_CERTS",
    summary: "your tls.crt and tls.key and the broker's ca.crt; else the context's",
  },
  context: {
    kind: "text",
    value: "name",
    summary: "a context of the configuration file; default: its current-context",
  },
  config: {
    kind: "text",
    value: "file",
    env: "BROKERCTL_CONFIG",
    summary: "the configuration file; default: ~/.config/brokerctl/config.yaml",
  },
  "request-timeout": {
    kind: "duration",
    value: "time",
    summary: "how long to wait for one answer; default: 30s",
  },
} as const;
