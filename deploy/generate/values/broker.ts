import { anything, at, flag, group, list, oneOf, type Schema, text, texts, when, whole } from "./schema.ts";
import {
  accounts,
  certificate,
  DURATION,
  image,
  issuer,
  logging,
  monitoring,
  NAME,
  naming,
  networkPolicy,
  OPTIONAL_NAME,
  podDisruptionBudget,
  port,
  ports,
  scheduling,
  secretKey,
} from "./shared.ts";

const SAFE_WORD = { pattern: "^[A-Za-z0-9_.-]*$" };

const store = group("Where the ledger is kept.", {
  type: oneOf(
    "`sqlite`: on a volume, for one replica. `postgres`: in a database, for several. `kubernetes`: in ConfigMaps of `objectsNamespace`, for several and for up to some 20,000 reservations.",
    ["sqlite", "postgres", "kubernetes"],
  ),
  leaseDuration: text(
    "How long a replica leads without renewing, with several replicas: another one takes over after at most so long.",
    "6s",
    DURATION,
  ),
  sqlite: group("With `type: sqlite`.", {
    size: text("Size of the volume.", "2Gi", { pattern: "^[0-9]+(\\.[0-9]+)?([KMGTPE]i?|k)?$" }),
    storageClassName: text(
      "Its storage class: a disk of one node at a time, never NFS. Empty: the cluster's default.",
      "",
      OPTIONAL_NAME,
    ),
    existingClaim: text("A claim that is there, instead of a new one.", "", OPTIONAL_NAME),
    retain: flag("Keep the volume when the release is uninstalled.", true),
  }),
  postgres: group("With `type: postgres`.", {
    host: text("Where the database is.", "", { pattern: "^[A-Za-z0-9.:_\\[\\]-]*$" }),
    port: port("Its port.", 5432),
    database: text("Its name.", "broker_ledger", { minLength: 1, ...SAFE_WORD }),
    user: text("Who connects; must be able to create a schema the first time.", "broker", {
      minLength: 1,
      ...SAFE_WORD,
    }),
    schema: text(
      "Schema of the tables; another one for a second fleet on the same database.",
      "resource_broker",
      { pattern: "^[a-z_][a-z0-9_]*$" },
    ),
    sslMode: oneOf("How the server must prove who it is.", [
      "verify-full",
      "verify-ca",
      "require",
      "disable",
    ]),
    passwordSecret: secretKey(
      "The Secret with the password.",
      text("Its name. Empty: no password, as with certificates of clients.", "", OPTIONAL_NAME),
      "password",
    ),
    caSecret: secretKey(
      "The Secret with the certificate of whoever signed the server's.",
      text("Its name. Empty: the authorities that Node knows.", "", OPTIONAL_NAME),
      "ca.crt",
    ),
  }),
});

const tls = group("The API speaks TLS only, and every caller shows a certificate.", {
  secretName: text(
    "Secret with `tls.crt`, `tls.key` and `ca.crt`; changes count without a restart.",
    "broker-server-tls",
    NAME,
  ),
  crlSecretName: text(
    "Secret with the key `crl.pem`: certificates that are revoked. Empty: none.",
    "",
    OPTIONAL_NAME,
  ),
  minVersion: oneOf("Oldest TLS version that is accepted.", ["1.2", "1.3"]),
  adminOU: text("Certificates with this organizational unit (OU) belong to admins.", "broker-admin", {
    minLength: 1,
  }),
  certManager: certificate({
    dnsNames: list("Names by which agents reach the broker, beside those of the Service.", {
      type: "string",
      minLength: 1,
    }),
    ipAddresses: list("The same for addresses.", { type: "string", minLength: 1 }),
  }),
});

const enrollment = group(
  "Agents join by an invitation (`brokerctl invite`), and the broker gets them their certificates.",
  {
    enabled: flag("Let them.", true),
    signer: {
      ...text(
        "Who signs: `cert-manager` (with `tls.certManager.issuerRef`), or `embedded` (the broker, with `secretName`). Empty: cert-manager with `tls.certManager.enabled` and an issuer of its own kinds, else embedded with `secretName`, else nobody.",
      ),
      enum: ["", "cert-manager", "embedded"],
    },
    secretName: text(
      "Secret with `tls.crt` and `tls.key` of an authority of its own for agents, which the fleet's authority has signed with path length 0: `brokerctl certs`. cert-manager cannot make one, its Certificates have no path length.",
      "",
      OPTIONAL_NAME,
    ),
    lifetime: text("How long a certificate is valid. Agents renew it after two thirds.", "720h", DURATION),
  },
);

const adminCA = group(
  "An authority of its own for admins: without it, whoever signs for agents can make an admin.",
  {
    enabled: flag(
      "Take only certificates of that authority for admins. False: also those of the fleet's.",
      true,
    ),
    existingSecret: text(
      "Secret with its certificate. Empty: cert-manager brings it, with `issuerRef`.",
      "",
      OPTIONAL_NAME,
    ),
    key: text(
      "The key in that Secret: `admin-ca.crt` where it holds the folder `certs/broker` of `brokerctl certs init`.",
      "ca.crt",
      { minLength: 1 },
    ),
    issuerRef: issuer("liqo-broker-admin-ca-issuer"),
  },
);

const service = group("How agents reach the API.", {
  type: oneOf("Kind of Service.", ["ClusterIP", "NodePort", "LoadBalancer"]),
  port: port("Its port.", 8443),
  nodePort: whole("Port on every node, with NodePort or LoadBalancer; 0: any.", 0, {
    minimum: 0,
    maximum: 65_535,
  }),
  annotations: texts("Annotations, for example for a load balancer."),
  loadBalancerSourceRanges: list("Who may reach a load balancer, as CIDRs.", { type: "string" }),
});

/** All values of the chart, with what contradicts itself. */
export const BROKER_VALUES: Schema = {
  ...group("Values of the chart resource-broker.", {
    ...naming(),
    ...image("resource-broker/broker"),
    replicas: whole(
      "How many. One with the store `sqlite`; with the others one leads and the rest stand by. Each may label itself, and the rights for that go by this number: scale with it, not with `kubectl scale`.",
      1,
      { minimum: 1, maximum: 9 },
    ),
    interfaces: {
      ...list(
        "How agents and people reach the broker: `http`, `kubernetes` (objects on the broker's cluster), or both.",
        { type: "string", enum: ["http", "kubernetes"] },
        ["http"],
      ),
      minItems: 1,
      uniqueItems: true,
    },
    views: flag("Show the ledger as objects for kubectl, and follow the BrokerPolicy.", true),
    objectsNamespace: text(
      "Namespace of the broker's objects; it must be there. Empty: that of the release.",
      "",
      OPTIONAL_NAME,
    ),
    policy: anything(
      "Policy of the broker: weights, prices, limits (docs/policy.md). A BrokerPolicy object wins over it.",
    ),
    store,
    tls,
    enrollment,
    adminCA,
    service,
    dashboard: group("The dashboard. Sign in: `brokerctl dashboard`.", {
      enabled: flag("Serve it.", false),
      exposed: flag(
        "Serve it to the network, over TLS, with a port of the Service. Otherwise only `kubectl port-forward` reaches it.",
        false,
      ),
      port: port("Its port.", 8090),
    }),
    ...accounts(),
    admission: group(
      "Rules that keep agents from writing what belongs to other clusters, with the interface `kubernetes`.",
      {
        install: flag(
          "Install them. They hold for every namespace, so one release of a cluster is enough.",
          true,
        ),
      },
    ),
    ...logging(),
    ...monitoring({ dashboards: "broker and fleet" }),
    networkPolicy: networkPolicy(
      "callers of the API, Prometheus, name servers, the API server, the database",
      {
        apiFrom: list(
          "Who may call the API, as peers of a NetworkPolicy. Empty: everyone, with a certificate. Callers from outside are often seen with the address of a node: use `service.loadBalancerSourceRanges` for them.",
          { type: "object" },
        ),
        databasePorts: ports(
          "More ports of the database than `store.postgres.port`: of its pods, where it runs in the same cluster behind a Service with another port. Empty: no more.",
        ),
      },
    ),
    podDisruptionBudget: podDisruptionBudget(
      " Where the leader is evicted, one that stands by takes over within a second.",
    ),
    terminationGracePeriodSeconds: whole("How long the broker may take to end.", 45, { minimum: 15 }),
    ...scheduling({ cpu: "100m", memory: "128Mi", limit: "1Gi" }),
  }),
  allOf: [
    when(at("store.type", { const: "sqlite" }), at("replicas", { maximum: 1 })),
    when(at("store.type", { const: "postgres" }), at("store.postgres.host", { minLength: 1 })),
    when(at("interfaces", { contains: { const: "kubernetes" } }), at("views", { const: true })),
    when(at("enrollment.signer", { const: "embedded" }), at("enrollment.secretName", { minLength: 1 })),
    when(at("enrollment.signer", { const: "cert-manager" }), at("tls.certManager.enabled", { const: true })),
    when(
      {
        allOf: [
          at("tls.certManager.enabled", { const: false }),
          at("adminCA.enabled", { const: true }),
          at("interfaces", { contains: { const: "http" } }),
        ],
      },
      at("adminCA.existingSecret", { minLength: 1 }),
    ),
  ],
};
