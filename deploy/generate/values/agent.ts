import { at, flag, group, list, oneOf, type Schema, text, texts, when, whole } from "./schema.ts";
import {
  API_SERVER_PORTS,
  accounts,
  certificate,
  DURATION,
  image,
  logging,
  monitoring,
  NAME,
  naming,
  networkPolicy,
  OPTIONAL_NAME,
  podDisruptionBudget,
  ports,
  scheduling,
  secretKey,
} from "./shared.ts";

const CLUSTER_ID = { pattern: "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", minLength: 1, maxLength: 63 };
const PORT_NUMBER = "[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]";
const DECIMAL = { pattern: "^$|^[0-9]+(\\.[0-9]+)?$" };
const EXTENDED = { type: "string", pattern: "^[a-zA-Z0-9._-]+/[a-zA-Z0-9._-]+$" };

const broker = group("How the broker is reached.", {
  transport: oneOf("`http`: mTLS. `kubernetes`: objects in the broker's cluster.", ["http", "kubernetes"]),
  urls: list("Addresses of the broker, with `http`; the first that serves is used.", {
    type: "string",
    pattern: `^https://([^/:?#]+|\\[[^\\]/]+\\])(:(${PORT_NUMBER}))?(/.*)?$`,
  }),
  namespace: text(
    "Where the broker keeps its objects (its objectsNamespace), with `kubernetes`.",
    "resource-broker-system",
    NAME,
  ),
  kubeconfigSecret: secretKey(
    "The Secret with the kubeconfig of the broker's cluster, with `kubernetes`: `brokerctl kubeconfig issue` writes one.",
    text("Its name.", "broker-kubeconfig", NAME),
    "kubeconfig",
  ),
});

const tls = group("Who this cluster is to the broker, with `broker.transport: http`.", {
  secretName: text(
    "Secret with `tls.crt`, `tls.key` and `ca.crt`; changes count without a restart. Its Common Name is the cluster's ID.",
    "agent-client-tls",
    NAME,
  ),
  certManager: certificate({}),
});

const join = group("How this cluster joins the fleet: docs/install.md.", {
  existingSecret: text(
    "Secret with the invitation, as `brokerctl invite` prints it (`resource-broker-join`). The agent makes its own keys and gets its certificate by it: `tls` is then unused, and ID and address of the broker are in it. Empty: `tls` says who this cluster is.",
    "",
    OPTIONAL_NAME,
  ),
});

const identity = group("The key by which the broker and other clusters know this agent again.", {
  enabled: flag(
    "Keep one in the Secret `resource-broker-agent-identity`, which stays when the release is uninstalled.",
    true,
  ),
});

const prices = group("What the cluster's resources cost for an hour; at most one of flags and ConfigMap.", {
  cpu: text("One CPU.", "", DECIMAL),
  memory: text("One GB (1,000,000,000 bytes) of memory.", "", DECIMAL),
  gpu: text("One GPU.", "", DECIMAL),
  storage: text("One GB of ephemeral storage.", "", DECIMAL),
  currency: text("Currency of the prices.", "", { pattern: "^$|^[A-Z]{3}$" }),
  configMap: text(
    "ConfigMap of the release's namespace with the prices, followed while the agent runs.",
    "",
    OPTIONAL_NAME,
  ),
});

const liqo = group("Liqo: reservations become virtual nodes.", {
  enabled: flag(
    "Give the agent the rights that it takes to lend through Liqo. Liqo must be installed.",
    false,
  ),
  mode: {
    ...text(
      "How this cluster peers with others: `relay` (lends and borrows; peers exchange what Liqo needs through the broker, no kubeconfig is handed out), `liqoctl` (with `borrow`), `off`. Empty: `liqoctl` with `borrow.enabled`, else `off`.",
    ),
    enum: ["", "off", "liqoctl", "relay"],
  },
  warmPeers: list(
    "With `relay`: clusters with which peering outlives the last reservation, if they name this one, too.",
    { type: "string", ...CLUSTER_ID },
  ),
  warmFor: text("With `relay`: how long it outlives it.", "1h", DURATION),
  peerFingerprints: {
    description:
      "With `relay`: identity keys of peers, as `paris: SHA256:…`. Others are taken as they are seen first.",
    type: "object",
    default: {},
    additionalProperties: { type: "string", pattern: "^SHA256:[A-Za-z0-9+/]{43}$" },
  },
  relay: group("With `mode: relay`.", {
    strictRequests: flag(
      "Refuse certificate requests of other clusters' Liqo that are not exactly as long as Liqo's own, with an Ed25519 key: Liqo would sign a second organisation in them. False: if clusters use other keys.",
      true,
    ),
  }),
  namespace: text("Where Liqo is, in this cluster and in those it peers with.", "liqo", NAME),
  enforce: flag("Cordon slices of other clusters that bypass reservations.", false),
  borrow: group("Borrow as well. Needs an image with liqoctl: `image.tag: <version>-liqoctl`.", {
    enabled: flag("Peer with clusters that lend, and give the agent the rights for it.", false),
    admission: flag(
      "Install the rules that narrow these rights down to what belongs to Liqo. Without them the agent's token is as good as an admin's.",
      true,
    ),
    kubeconfigsSecret: text(
      "Secret with a kubeconfig of each cluster to borrow from; keys `<cluster ID>.kubeconfig`.",
      "liqo-kubeconfigs",
      NAME,
    ),
    gatewayType: oneOf("Service type of the gateway at the provider.", [
      "NodePort",
      "LoadBalancer",
      "ClusterIP",
    ]),
    networking: flag("Let Liqo connect the networks; false: another network does.", true),
    timeout: text("How long peering with a cluster may take before it is retried.", "10m", DURATION),
  }),
});

const WITHOUT_INVITATION = at("join.existingSecret", { maxLength: 0 });
const INVITED = at("join.existingSecret", { minLength: 1 });
const RELAY = at("liqo.mode", { const: "relay" });

/** All values of the chart, with what contradicts itself. */
export const AGENT_VALUES: Schema = {
  ...group("Values of the chart resource-broker-agent.", {
    ...naming(),
    ...image("resource-broker/agent"),
    clusterID: text(
      "ID of this cluster: the Common Name of its certificate. Must be given, unless an invitation has it.",
      "",
      { maxLength: CLUSTER_ID.maxLength, pattern: `^$|${CLUSTER_ID.pattern}` },
    ),
    clusterName: text("Name to show for this cluster. Empty: its ID."),
    clusterEndpoint: text("Where others reach this cluster's API server. A pod cannot know it.", "", {
      pattern: "^$|^https://",
    }),
    clusterLabels: texts("Labels to advertise beside region and zone; requests can select by them."),
    replicas: whole("How many. Of several one works and the rest wait for its Lease.", 1, {
      minimum: 1,
      maximum: 5,
    }),
    broker,
    join,
    identity,
    tls,
    objectsNamespace: text(
      "Namespace of the Advertisement and of instructions; it must be there. Empty: that of the release.",
      "default",
      OPTIONAL_NAME,
    ),
    advertisementName: text("Name of the Advertisement.", "cluster-advertisement", NAME),
    advertisementInterval: text("How often the cluster is advertised when nothing changes.", "30s", DURATION),
    instructionPollInterval: text(
      "How often instructions are asked for where the broker cannot push them; `0s`: never.",
      "5s",
      DURATION,
    ),
    toleratedTaints: list(
      "Taints that do not keep a node from being counted: `key`, `key=value`, `key:Effect` or `key=value:Effect`.",
      { type: "string", minLength: 1 },
    ),
    gpuResources: list("Extended resources that are counted together as GPUs.", EXTENDED, ["nvidia.com/gpu"]),
    extendedResources: list("Other extended resources to lend, each under its own name.", EXTENDED),
    prices,
    liqo,
    ...accounts(),
    ...logging(),
    ...monitoring({ dashboards: "agent" }),
    networkPolicy: networkPolicy(
      "Prometheus, name servers, the API server, the broker",
      {
        apiServerPorts: ports(
          `${API_SERVER_PORTS} With \`broker.transport: kubernetes\` also the port in that kubeconfig.`,
          [443, 6443],
        ),
        brokerPorts: ports(
          "More ports than those in `broker.urls` and 8443, on which the broker's pods listen: that of an address that only the invitation has, or of the pods of a proxy or ingress in the same cluster. Empty: no more.",
        ),
      },
      "; but with `liqo.borrow.enabled` everything outwards does, because liqoctl goes to the API servers of other clusters, at whatever address and port their kubeconfigs name",
    ),
    podDisruptionBudget: podDisruptionBudget(),
    terminationGracePeriodSeconds: whole("How long the agent may take to end.", 30, { minimum: 5 }),
    ...scheduling({ cpu: "50m", memory: "64Mi", limit: "256Mi" }),
  }),
  allOf: [
    when(WITHOUT_INVITATION, at("clusterID", CLUSTER_ID)),
    when(
      { allOf: [WITHOUT_INVITATION, at("broker.transport", { const: "http" })] },
      at("broker.urls", { minItems: 1 }),
    ),
    when(INVITED, at("broker.transport", { const: "http" })),
    when(INVITED, at("identity.enabled", { const: true })),
    when(at("liqo.borrow.enabled", { const: true }), at("liqo.enabled", { const: true })),
    when(at("liqo.borrow.enabled", { const: true }), at("liqo.mode", { enum: ["", "liqoctl"] })),
    when(at("liqo.mode", { const: "liqoctl" }), at("liqo.borrow.enabled", { const: true })),
    // Statements of peers are signed by the identity key, and pass through the broker's HTTP API.
    when(RELAY, at("identity.enabled", { const: true })),
    when(RELAY, at("broker.transport", { const: "http" })),
  ],
};
