import {
  anything,
  flag,
  group,
  list,
  oneOf,
  type Properties,
  type Schema,
  text,
  texts,
  whole,
} from "./schema.ts";

/** A name as Kubernetes takes it; empty where something else is then taken. */
export const OPTIONAL_NAME = { pattern: "^$|^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", maxLength: 253 };
export const NAME = { pattern: "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", maxLength: 253, minLength: 1 };
export const DURATION = { pattern: "^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$" };
const PORT = { minimum: 1, maximum: 65_535 };

export function port(description: string, byDefault: number): Schema {
  return whole(description, byDefault, PORT);
}

/** One key of a Secret. */
export function secretKey(description: string, name: Schema, key: string): Schema {
  return group(description, { name, key: text("The key in it.", key, { minLength: 1 }) });
}

/** Named so, helm itself takes it for every chart; it holds what charts above this one share. */
const GLOBAL: Schema = { description: "Ignored: helm passes it to every chart.", type: "object" };

/** Labels that the chart, or the program, writes itself: by another value Services would find other pods, or none. */
const OWN_LABELS =
  "^(app\\.kubernetes\\.io/(name|instance|version|component|part-of|managed-by)|helm\\.sh/chart|broker\\.fluidos\\.eu/role)$";

function labels(description: string): Schema {
  return { ...texts(description), patternProperties: { [OWN_LABELS]: false } };
}

export function naming(): Properties {
  return {
    global: GLOBAL,
    nameOverride: text("Takes the place of the chart's name in the names of objects.", "", OPTIONAL_NAME),
    fullnameOverride: text("Takes the place of the whole name of objects.", "", OPTIONAL_NAME),
    commonLabels: labels("Labels for every object, beside those of the chart."),
  };
}

export function image(repository: string): Properties {
  return {
    image: group("The image.", {
      repository: text("Where it is, with your registry before it.", repository, { minLength: 1 }),
      tag: text("Which one. Empty: the chart's appVersion."),
      digest: text("Which one, for certain: `sha256:…`; wins over the tag.", "", {
        pattern: "^$|^sha256:[0-9a-f]{64}$",
      }),
      pullPolicy: oneOf("When it is pulled.", ["IfNotPresent", "Always", "Never"]),
    }),
    imagePullSecrets: list(
      "Secrets with which it is pulled, each as `name: …`.",
      group("A Secret.", {
        name: { ...text("Its name.", "", NAME), default: undefined },
      }),
    ),
  };
}

export function accounts(): Properties {
  return {
    serviceAccount: group("The service account of the pods.", {
      create: flag("Make it.", true),
      name: text(
        "Its name. Empty: that of the release; without `create`, one that is there.",
        "",
        OPTIONAL_NAME,
      ),
      annotations: texts("Annotations, for example for the identity at a cloud."),
    }),
    rbac: group(
      "Rights. Each rule says what it is for: `kubectl get role,clusterrole -o yaml`, or templates/rbac.",
      {
        create: flag("Make the roles that the program needs with these values, and nothing more.", true),
        aggregate: flag(
          "Let those who may view, edit or administer a namespace do the same with the kinds of this chart there.",
          true,
        ),
      },
    ),
    crds: group("The kinds.", {
      install: flag("Install and upgrade them. They stay when the release is uninstalled.", true),
    }),
  };
}

export function logging(): Properties {
  return {
    log: group("What the program writes.", {
      level: oneOf("The least important lines that are written.", ["info", "debug", "warn", "error"]),
      format: oneOf("For machines, or for people.", ["json", "pretty"]),
    }),
    extraArgs: list("More flags, for what has no value here: `--name=value`.", {
      type: "string",
      pattern: "^--[a-z]",
    }),
  };
}

export function issuer(name: string): Schema {
  return group("Who signs it.", {
    name: text("Name of the issuer.", name, NAME),
    kind: text("Its kind: ClusterIssuer, Issuer, or that of an external issuer.", "ClusterIssuer", {
      minLength: 1,
    }),
    group: text("Its API group.", "cert-manager.io", { minLength: 1 }),
  });
}

/** A certificate by cert-manager. */
export function certificate(parts: Properties): Schema {
  return group("The certificate, made and renewed by cert-manager.", {
    enabled: flag("Ask cert-manager for it. Otherwise the Secret must be there.", true),
    issuerRef: issuer("liqo-broker-ca-issuer"),
    ...parts,
    duration: text("How long it is valid.", "8760h", DURATION),
    renewBefore: text("How long before its end it is renewed.", "720h", DURATION),
  });
}

export function monitoring({ dashboards }: { readonly dashboards: string }): Properties {
  return {
    serviceMonitor: group("Tells the Prometheus operator what to scrape.", {
      enabled: flag("Needs the operator's kinds.", false),
      interval: text("How often. Empty: as often as Prometheus scrapes others.", "", {
        pattern: "^$|^([0-9]+(ms|s|m|h))+$",
      }),
      labels: texts("Labels by which your Prometheus finds it."),
    }),
    prometheusRule: group("Alerts, for the Prometheus operator.", {
      enabled: flag("Needs the operator's kinds.", false),
      labels: texts("Labels by which your Prometheus finds it."),
      runbookBaseURL: text(
        "Where these documents are published: stands before `docs/runbooks/….md` in each alert.",
      ),
    }),
    grafanaDashboards: group(`Grafana dashboards (${dashboards}), as ConfigMaps for Grafana's sidecar.`, {
      enabled: flag("Make them.", false),
      labels: { ...texts("Labels by which the sidecar finds them."), default: { grafana_dashboard: "1" } },
    }),
  };
}

export const API_SERVER_PORTS =
  "Ports of the Kubernetes API server, as its endpoints have them (`kubectl get endpointslices -n default`). Empty: none.";
const AFTER_SERVICES =
  "It is applied after a Service has replaced its port: for what runs in the same cluster the ports of pods count.";

/** A list of ports. */
export function ports(description: string, fallback: readonly number[] = []): Schema {
  return list(description, { type: "integer", ...PORT }, fallback);
}

/** `but` is what passes besides `what`. */
export function networkPolicy(what: string, more: Properties, but = ""): Schema {
  const description = `Who may talk to the pods, and to whom they may talk: ${what}. Nothing else passes${but}. ${AFTER_SERVICES}`;
  return group(description, {
    enabled: flag("Make it. Without a network plugin that knows policies it has no effect.", true),
    metricsFrom: list(
      "Who may scrape the metrics, as peers of a NetworkPolicy: pods of namespaces with the label `metrics: enabled`. Empty: nobody.",
      { type: "object" },
      [{ namespaceSelector: { matchLabels: { metrics: "enabled" } } }],
    ),
    dnsPorts: ports(
      "Ports of the name servers' pods: 53 nearly everywhere, 5353 on OpenShift, 8053 on Gardener. Empty: none.",
      [53],
    ),
    apiServerPorts: ports(API_SERVER_PORTS, [443, 6443]),
    ...more,
  });
}

/** `more` goes on with what a person should know of it. */
export function podDisruptionBudget(more = ""): Schema {
  return group("How many pods may be evicted at once.", {
    enabled: flag("Make it.", true),
    maxUnavailable: { description: `At most so many.${more}`, type: ["integer", "string"], default: 1 },
  });
}

export function scheduling({
  memory,
  limit,
  cpu,
}: {
  readonly cpu: string;
  readonly memory: string;
  readonly limit: string;
}): Properties {
  return {
    resources: anything("What the container asks for, and its limits.", {
      requests: { cpu, memory },
      limits: { memory: limit },
    }),
    podLabels: labels("More labels for the pods."),
    podAnnotations: texts("Annotations for the pods."),
    priorityClassName: text("Priority class of the pods.", "", OPTIONAL_NAME),
    nodeSelector: texts("Nodes that may run them, by label."),
    tolerations: list("Taints that they tolerate.", { type: "object" }),
    affinity: anything("Affinity of the pods. Empty: replicas prefer nodes of their own."),
    topologySpreadConstraints: list("How replicas are spread.", { type: "object" }),
  };
}
