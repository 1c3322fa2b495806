import { choice, duration, integer, list, text, toggle, type Values } from "@resource-broker/base";
import { PROGRAM_SETTINGS, probeSettings } from "@resource-broker/runtime";

/** Every flag of the broker, with its default and meaning. */
export const BROKER_SETTINGS = {
  "broker-interface": list({
    description:
      "How agents and people reach the broker: http, kubernetes (objects on the broker's cluster), or both.",
    defaultValue: ["http"],
    placeholder: "http,kubernetes",
  }),
  "http-port": integer({
    description: "Port of the API (mTLS).",
    defaultValue: 8443,
    minimum: 0,
    maximum: 65_535,
  }),
  "http-host": text({
    description: "Address the API listens on; empty: every address of the machine.",
    defaultValue: "",
    placeholder: "ADDRESS",
  }),
  "http-cert-path": text({
    description: "Folder with tls.crt, tls.key, ca.crt and optionally crl.pem; read again when it changes.",
    defaultValue: "/etc/broker/certs",
    placeholder: "DIR",
  }),
  "http-namespace": text({
    description: "Namespace of the broker's Kubernetes objects: advertisements, reservations, policy.",
    defaultValue: "default",
    placeholder: "NAME",
  }),
  kubeconfig: text({
    description:
      "Kubeconfig of the broker's own cluster. Empty: KUBECONFIG, the pod's service account, ~/.kube/config. " +
      "Not read if nothing needs a cluster.",
    defaultValue: "",
    placeholder: "FILE",
  }),
  context: text({
    description: "Context of the kubeconfig. Empty: its current one.",
    defaultValue: "",
    placeholder: "NAME",
  }),
  views: choice({
    description:
      "Show the ledger as objects for kubectl and use the BrokerPolicy object. auto: on if --kubeconfig, the kubernetes interface or the kubernetes store names a cluster.",
    defaultValue: "auto",
    choices: ["auto", "on", "off"],
  }),
  "import-reservations": choice({
    description:
      "Whether a new ledger imports live Reservations of an older (Go) broker from --http-namespace. auto: imports them before the first grant if --kubeconfig, --views, the kubernetes interface or the kubernetes store names a cluster; off: starts without them.",
    defaultValue: "auto",
    choices: ["auto", "off"],
  }),
  "tls-min-version": choice({
    description: "Oldest TLS version that is accepted.",
    defaultValue: "1.2",
    choices: ["1.2", "1.3"],
  }),
  "admin-ou": text({
    description: "Certificates with this organizational unit (OU) belong to admins.",
    defaultValue: "broker-admin",
  }),
  "admin-ca": text({
    description:
      "File with the authority of admins in PEM. Then --admin-ou counts only in certificates that lead to it, and it has no others; " +
      "crl.pem of --http-cert-path may hold its list. Read again when it changes. Empty: admin-ca.crt in --http-cert-path, if it is there at start; else every authority may make admins.",
    defaultValue: "",
    placeholder: "FILE",
  }),
  "enrollment-cert-path": text({
    description:
      "Folder with tls.crt and tls.key of the intermediate authority that signs certificates of invited agents, and ca.crt above it. " +
      "Read again when it changes. Empty: this broker signs none itself.",
    defaultValue: "",
    placeholder: "DIR",
  }),
  "enrollment-issuer": text({
    description:
      "The issuer of cert-manager on the broker's cluster that signs certificates of invited agents instead, " +
      "as in ClusterIssuer/liqo-broker-ca-issuer; the requests are made in --http-namespace.",
    defaultValue: "",
    placeholder: "KIND/NAME",
  }),
  "enrollment-lifetime": duration({
    description: "How long such a certificate is valid. Agents renew it after two thirds.",
    defaultText: "720h",
  }),
  store: text({
    description:
      "Where the ledger is kept: sqlite:<folder> for one broker; postgres://user@host/database, or kubernetes for " +
      "objects on the broker's cluster, for several replicas. " +
      "The password comes from PGPASSWORD or the passfile; ?sslmode=, sslrootcert=, sslcert=, sslkey=, schema=, host=.",
    defaultValue: "sqlite:/var/lib/broker",
    placeholder: "STORE",
  }),
  "replica-name": text({
    description:
      "What this replica calls itself to people and other replicas; empty: the machine's name and the port.",
    defaultValue: "",
    placeholder: "NAME",
  }),
  "lease-duration": duration({
    description:
      "Duration of the leader's lease. Another replica takes over at most this long after the leader stops renewing.",
    defaultText: "6s",
  }),
  "pod-role-label": text({
    description:
      "Label of the broker's own pod, such as broker.fluidos.eu/role, that says leader or standby: a Service finds the leader by it. " +
      "Needs POD_NAME and POD_NAMESPACE (downward API), and the right to patch this pod. Empty: no label.",
    defaultValue: "",
    placeholder: "NAME",
  }),
  policy: text({
    description:
      "Policy file (YAML or JSON): weights, prices, limits. Read again when it changes. Empty: the defaults.",
    defaultValue: "",
    placeholder: "FILE",
  }),
  "audit-retention": duration({ description: "How long audit lines are kept.", defaultText: "8760h" }),
  "audit-max-lines": integer({
    description: "The most audit lines that are kept.",
    defaultValue: 5_000_000,
    minimum: 1000,
    maximum: 1_000_000_000,
  }),
  "decision-retention": duration({
    description: "How long decisions can be explained.",
    defaultText: "168h",
  }),
  "max-waiting": integer({
    description:
      "Limit of waiting calls. Reservations beyond it are refused with 503; renewals and releases beyond twice as many.",
    defaultValue: 5000,
    minimum: 1,
    maximum: 1_000_000,
  }),
  ...probeSettings({
    healthPages: "/healthz, /readyz and /openapi.json",
    healthAddress: ":8081",
    metricsAddress: ":8080",
  }),
  "dashboard-bind-address": text({
    description:
      "Address of the dashboard, as host:port or :port, such as 127.0.0.1:8090; 0 switches it off. On a loopback address over " +
      "plain HTTP, else over TLS with the certificates of --http-cert-path. brokerctl dashboard makes a link to sign in.",
    defaultValue: "0",
    placeholder: "ADDRESS",
  }),
  "leader-elect": toggle({
    description:
      "Accepted for compatibility: replicas that share a store always elect a leader, an embedded store has one.",
    defaultValue: false,
  }),
  ...PROGRAM_SETTINGS,
};

export type BrokerSettings = Values<typeof BROKER_SETTINGS>;

export const BROKER_ENV_PREFIX = "BROKER_";
