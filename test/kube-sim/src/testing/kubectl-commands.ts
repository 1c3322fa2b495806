import { command, type KubectlCommand, manifest, refused } from "./kubectl-command.ts";
import { configMap, EVENT, node, pod, RESOURCE_REQUEST } from "./kubectl-objects.ts";

const CLUSTER: readonly KubectlCommand[] = [
  command("version tells the server's version", "version", { shows: [/Server Version: v1\.\d+/u] }),
  command("cluster-info tells where the control plane is", "cluster-info", {
    shows: [/control plane.* is running at .*https:\/\//u],
  }),
  command("api-versions lists the groups", "api-versions", {
    shows: [/^v1$/mu, /^coordination\.k8s\.io\/v1$/mu, /^apiextensions\.k8s\.io\/v1$/mu],
  }),
  command("api-resources lists the kinds with their short names", "api-resources", {
    shows: [/^pods +po +v1 +true +Pod/mu, /^nodes +no +v1 +false +Node/mu, /^leases +coordination/mu],
  }),
  command("the server says that it is well", "get --raw /readyz", { shows: [/^ok/u] }),
  command("auth can-i answers", "auth can-i create pods", { shows: [/^yes/u] }),
  command("auth whoami answers", "auth whoami", { shows: [/Username +\S+/u] }),
  refused("a kind that is not served is refused", "get unicorns", {
    complains: [/the server doesn't have a resource type "unicorns"/u],
  }),
  command("the first namespaces exist", "get namespaces", {
    shows: [/^NAME +STATUS +AGE$/mu, /^default +Active/mu, /^kube-system +Active/mu],
  }),
  command("explain describes a built-in kind", "explain pod.spec.containers", {
    shows: [/KIND: +Pod/u, /FIELD: containers/u, /image\s+<string>/u, /name\s+<string> -required-/u],
  }),
];

const NODES: readonly KubectlCommand[] = [
  command("create takes several objects at once", "create -f -", {
    stdin: manifest(
      node("node-a", "10.0.0.1", { "node-role.kubernetes.io/worker": "" }),
      node("node-b", "10.0.0.2", { disk: "ssd" }),
    ),
    shows: [/node\/node-a created/u, /node\/node-b created/u],
  }),
  command("get shows nodes as a table", "get nodes", {
    shows: [/^NAME +STATUS +ROLES +AGE +VERSION$/mu, /^node-a +Ready +worker +\S+ +v1\.32\.0$/mu],
  }),
  command("get -o wide shows more of them", "get nodes -o wide", {
    shows: [
      /INTERNAL-IP +EXTERNAL-IP +OS-IMAGE/u,
      /10\.0\.0\.1 +<none> +Simulated Linux +6\.8\.0 +containerd/u,
    ],
  }),
  command("get -o name shows names", "get no -o name", { shows: [/^node\/node-a\nnode\/node-b\n$/u] }),
  command("describe tells of a node", "describe node node-a", {
    shows: [/Roles: +worker/u, /KubeletReady/u, /memory: +16Gi/u, /Non-terminated Pods/u],
  }),
  command("cordon closes a node", "cordon node-b", { shows: [/node\/node-b cordoned/u] }),
  command("a closed node is shown as such", "get node node-b", { shows: [/Ready,SchedulingDisabled/u] }),
  command("uncordon opens it again", "uncordon node-b", { shows: [/node\/node-b uncordoned/u] }),
  command("taint keeps pods away", "taint node node-b dedicated=lab:NoSchedule", {
    shows: [/node\/node-b tainted/u],
  }),
  command("a taint can be read", ["get", "node", "node-b", "-o", "jsonpath={.spec.taints[*].key}"], {
    shows: [/^(node\.kubernetes\.io\/\S+ )?dedicated$/u],
  }),
  command("taint lets pods in again", "taint node node-b dedicated-", { shows: [/node\/node-b untainted/u] }),
  command("label labels", "label node node-b tier=gold", { shows: [/node\/node-b labeled/u] }),
  command("get -l selects by label", "get nodes -l tier=gold,disk -o name", { shows: [/^node\/node-b\n$/u] }),
  command("sets of values select too", ["get", "nodes", "-l", "tier in (gold, silver)", "-o", "name"], {
    shows: [/^node\/node-b\n$/u],
  }),
  refused("a selector that cannot be read is refused", ["get", "nodes", "-l", "tier in gold"], {
    complains: [/unable to parse requirement|invalid selector/u],
  }),
];

const CONFIG_MAPS: readonly KubectlCommand[] = [
  command("create namespace creates one", "create namespace demo", { shows: [/namespace\/demo created/u] }),
  command("a namespace is furnished", "get serviceaccounts,configmaps -n demo -o name", {
    shows: [/serviceaccount\/default/u, /configmap\/kube-root-ca\.crt/u],
    needs: "publisher of root certificates",
  }),
  command("create configmap creates one", "create configmap words -n demo --from-literal=hello=ciao", {
    shows: [/configmap\/words created/u],
  }),
  refused("the same name again is refused", "create configmap words -n demo", {
    complains: [/configmaps "words" already exists/u],
  }),
  command("get -o yaml shows everything", "get configmap words -n demo -o yaml", {
    shows: [/^ {2}hello: ciao$/mu, /^kind: ConfigMap$/mu, /uid: [-0-9a-f]{36}/u, /resourceVersion: "\d+"/u],
  }),
  command("get -o json shows everything", "get configmap words -n demo -o json", {
    shows: [/"hello": "ciao"/u],
  }),
  command("configmaps show how much they hold", "get cm -n demo words", {
    shows: [/^NAME +DATA +AGE$/mu, /^words +1 +\d+s$/mu],
  }),
  command("apply creates", "apply -f -", {
    stdin: manifest(configMap("colours", { sky: "blue" })),
    shows: [/configmap\/colours created/u],
  }),
  command("apply of the same changes nothing", "apply -f -", {
    stdin: manifest(configMap("colours", { sky: "blue" })),
    shows: [/configmap\/colours unchanged/u],
  }),
  command("diff shows what would change", "diff -f -", {
    stdin: manifest(configMap("colours", { sky: "grey" })),
    shows: [/^- {2}sky: blue$/mu, /^\+ {2}sky: grey$/mu],
    exitCode: 1,
  }),
  command("apply changes", "apply -f -", {
    stdin: manifest(configMap("colours", { sky: "grey", sea: "green" })),
    shows: [/configmap\/colours configured/u],
  }),
  command("apply takes away what it once set", "apply -f -", {
    stdin: manifest(configMap("colours", { sea: "green" })),
    shows: [/configmap\/colours configured/u],
  }),
  command("what was applied is there", ["get", "cm", "colours", "-n", "demo", "-o", "jsonpath={.data}"], {
    shows: [/^\{"sea":"green"\}$/u],
  }),
  command("apply --server-side applies", "apply --server-side --field-manager=painter -f -", {
    stdin: manifest(configMap("paints", { wall: "white" })),
    shows: [/configmap\/paints serverside-applied/u],
  }),
  refused("another manager's field is not overwritten", "apply --server-side --field-manager=vandal -f -", {
    stdin: manifest(configMap("paints", { wall: "black" })),
    complains: [/conflict with "painter".*\n?.*\.data\.wall/u],
  }),
  command("unless by force", "apply --server-side --force-conflicts --field-manager=vandal -f -", {
    stdin: manifest(configMap("paints", { wall: "black" })),
    shows: [/configmap\/paints serverside-applied/u],
  }),
  command("--dry-run=server judges and stores nothing", "create configmap ghost -n demo --dry-run=server", {
    shows: [/configmap\/ghost created \(server dry run\)/u],
  }),
  refused("what was never stored is not found", "get configmap ghost -n demo", {
    complains: [/configmaps "ghost" not found/u],
  }),
];

const CHANGES: readonly KubectlCommand[] = [
  command(
    "patch merges",
    ["patch", "cm", "words", "-n", "demo", "--type=merge", "-p", '{"data":{"bye":"addio"}}'],
    {
      shows: [/configmap\/words patched/u],
    },
  ),
  command(
    "patch takes JSON patches",
    [
      "patch",
      "cm",
      "words",
      "-n",
      "demo",
      "--type=json",
      "-p",
      '[{"op":"test","path":"/data/bye","value":"addio"},{"op":"replace","path":"/data/hello","value":"salve"}]',
    ],
    { shows: [/configmap\/words patched/u] },
  ),
  refused(
    "a JSON patch whose test fails is refused",
    [
      "patch",
      "cm",
      "words",
      "-n",
      "demo",
      "--type=json",
      "-p",
      '[{"op":"test","path":"/data/bye","value":"no"}]',
    ],
    { complains: [/The request is invalid|test/u] },
  ),
  command(
    "patches have left their marks",
    ["get", "cm", "words", "-n", "demo", "-o", "jsonpath={.data.hello} {.data.bye}"],
    {
      shows: [/^salve addio$/u],
    },
  ),
  command("annotate annotates", "annotate cm words -n demo note=first", {
    shows: [/configmap\/words annotated/u],
  }),
  refused("an annotation is not overwritten by accident", "annotate cm words -n demo note=second", {
    complains: [/--overwrite is false/u],
  }),
  command("replace replaces", "replace -f -", {
    stdin: manifest(configMap("words", { hello: "hallo" })),
    shows: [/configmap\/words replaced/u],
  }),
  refused("replace with an old version is refused", "replace -f -", {
    stdin: manifest(configMap("words", { hello: "hej" }, { resourceVersion: "1" })),
    complains: [/the object has been modified; please apply your changes to the latest version/u],
  }),
  command("finalizers can be set on creation", "create -f -", {
    stdin: manifest(configMap("held", {}, { finalizers: ["example.com/hold"] })),
    shows: [/configmap\/held created/u],
  }),
  command("delete --wait=false does not wait for them", "delete configmap held -n demo --wait=false", {
    shows: [/configmap "held" deleted/u],
  }),
  command(
    "what is held is still there",
    ["get", "cm", "held", "-n", "demo", "-o", "jsonpath={.metadata.deletionTimestamp}"],
    {
      shows: [/^\d{4}-\d\d-\d\dT/u],
    },
  ),
  command(
    "and goes with its last finalizer",
    ["patch", "cm", "held", "-n", "demo", "--type=merge", "-p", '{"metadata":{"finalizers":null}}'],
    {
      shows: [/configmap\/held patched/u],
    },
  ),
  command(
    "wait --for=delete sees that it is gone",
    "wait --for=delete configmap/held -n demo --timeout=10s",
    { shows: [] },
  ),
  command("create secret creates one", "create secret generic keys -n demo --from-literal=pin=1234", {
    shows: [/secret\/keys created/u],
  }),
  command("secrets show their type", "get secrets -n demo keys", {
    shows: [/^NAME +TYPE +DATA +AGE$/mu, /^keys +Opaque +1 /mu],
  }),
  command("describe does not tell secrets", "describe secret keys -n demo", {
    shows: [/pin: +4 bytes/u],
    hides: [/1234|MTIzNA/u],
  }),
  command("create service creates one", "create service clusterip shop -n demo --tcp=80:8080", {
    shows: [/service\/shop created/u],
  }),
  command("services show their address and ports", "get svc -n demo -o wide", {
    shows: [
      /^NAME +TYPE +CLUSTER-IP +EXTERNAL-IP +PORT\(S\) +AGE +SELECTOR$/mu,
      /^shop +ClusterIP +10\.\S+ +<none> +80\/TCP +\S+ +app=shop$/mu,
    ],
  }),
];

const PODS: readonly KubectlCommand[] = [
  refused("a pod without an image is refused", "create -f -", {
    stdin: manifest({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "bad", namespace: "demo" },
      spec: { containers: [{ name: "main" }] },
    }),
    complains: [/The Pod "bad" is invalid: spec\.containers\[0\]\.image: Required value/u],
  }),
  refused("a pod with an unknown field is refused", "create -f -", {
    stdin: manifest({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "bad", namespace: "demo" },
      spec: { wings: 2, containers: [{ name: "main", image: "i" }] },
    }),
    complains: [/strict decoding error: unknown field "spec\.wings"/u],
  }),
  command("--validate=warn only warns of it", "create --validate=warn --dry-run=server -f -", {
    stdin: manifest({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "odd", namespace: "demo" },
      spec: { wings: 2, containers: [{ name: "main", image: "i" }] },
    }),
    shows: [/pod\/odd created/u],
    complains: [/Warning: unknown field "spec\.wings"/u],
  }),
  command("pods can be created", "create -f -", {
    stdin: manifest(pod("shop", "1"), pod("giant", "64")),
    shows: [/pod\/shop created/u, /pod\/giant created/u],
  }),
  command(
    "wait --for=condition sees a pod become ready",
    "wait --for=condition=Ready pod/shop -n demo --timeout=20s",
    {
      shows: [/pod\/shop condition met/u],
      needs: "scheduler and kubelet",
    },
  ),
  command("get shows pods as a table", "get pods -n demo", {
    shows: [
      /^NAME +READY +STATUS +RESTARTS +AGE$/mu,
      /^shop +1\/1 +Running +0 +\S+$/mu,
      /^giant +0\/1 +Pending +0 +\S+$/mu,
    ],
    needs: "scheduler and kubelet",
  }),
  command("get -o wide shows where they run", "get pods -n demo -o wide", {
    shows: [
      /IP +NODE +NOMINATED NODE +READINESS GATES/u,
      /^shop .* \d+\.\d+\.\d+\.\d+ +node-[ab] +<none> +<none>$/mu,
    ],
    needs: "scheduler and kubelet",
  }),
  command(
    "a pod that fits nowhere says why",
    [
      "get",
      "pod",
      "giant",
      "-n",
      "demo",
      "-o",
      "jsonpath={.status.conditions[?(@.type=='PodScheduled')].message}",
    ],
    {
      shows: [/0\/2 nodes are available: .*2 Insufficient cpu/u],
      needs: "scheduler and kubelet",
    },
  ),
  command(
    "field selectors select",
    "get pods -A --field-selector status.phase=Pending,metadata.namespace=demo -o name",
    {
      shows: [/^pod\/giant\n$/u],
      needs: "scheduler and kubelet",
    },
  ),
  refused("a field that cannot be selected by is refused", "get pods -A --field-selector spec.hostname=x", {
    complains: [/field label not supported: spec\.hostname/u],
  }),
  command(
    "custom columns show what is asked for",
    [
      "get",
      "pods",
      "-n",
      "demo",
      "shop",
      "-o",
      "custom-columns=POD:.metadata.name,CPU:.spec.containers[0].resources.requests.cpu",
    ],
    {
      shows: [/^POD +CPU\nshop +1\n$/u],
    },
  ),
  command("all means pods and services", "get all -n demo -o name", {
    shows: [/^pod\/shop$/mu, /^service\/shop$/mu],
  }),
  command("-A shows all namespaces", "get pods -A", { shows: [/^NAMESPACE +NAME/mu, /^demo +shop/mu] }),
  command("--show-labels shows labels", "get pods -n demo shop --show-labels", {
    shows: [/LABELS\n.*app=shop/u],
  }),
  command(
    "patch merges lists strategically",
    [
      "patch",
      "pod",
      "shop",
      "-n",
      "demo",
      "-p",
      '{"spec":{"containers":[{"name":"main","image":"registry.example/shop:2.0"}]}}',
    ],
    {
      shows: [/pod\/shop patched/u],
    },
  ),
  refused(
    "what a pod asks for cannot be changed",
    [
      "patch",
      "pod",
      "shop",
      "-n",
      "demo",
      "-p",
      '{"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":"2"}}}]}}',
    ],
    {
      complains: [/pod updates may not change fields other than/u],
    },
  ),
  command("describe tells of a pod", "describe pod shop -n demo", {
    shows: [/Image: +registry\.example\/shop:2\.0/u, /Node: +node-[ab]/u, /QoS Class: +Burstable/u],
    needs: "scheduler and kubelet",
  }),
  command("events can be recorded", "create -f -", {
    stdin: manifest(EVENT),
    shows: [/event\/shop\.1 created/u],
  }),
  command("events --for tells what happened to an object", "events -n demo --for pod/shop", {
    shows: [/Normal +Greeted +Pod\/shop +somebody said hello/u],
  }),
  command("get events shows them as a table", "get events -n demo", {
    shows: [
      /^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE$/mu,
      /Normal +Greeted +pod\/shop +somebody said hello/u,
    ],
  }),
  command("get -w shows changes as they happen", "get configmaps -n demo -w", {
    meanwhile: [
      ["create", "configmap", "late", "-n", "demo"],
      ["delete", "configmap", "late", "-n", "demo"],
    ],
    shows: [/^words +1 /mu, /^late +0 /mu],
  }),
  command(
    "--watch-only --output-watch-events names the changes",
    "get pods -n demo -w --output-watch-events --watch-only",
    {
      meanwhile: [["label", "pod", "giant", "-n", "demo", "size=xl"]],
      shows: [/^MODIFIED +giant/mu],
    },
  ),
  command("delete waits until a pod is gone", "delete pod shop giant -n demo", {
    shows: [/pod "shop" deleted/u, /pod "giant" deleted/u],
  }),
  command("run runs a pod", "run job -n demo --image=registry.example/job:1", {
    shows: [/pod\/job created/u],
  }),
  command("drain moves pods away", "drain node-a node-b --force --ignore-daemonsets --timeout=20s", {
    shows: [/node\/node-a drained/u, /node\/node-b drained/u],
  }),
];

const CUSTOM: readonly KubectlCommand[] = [
  command("apply installs our kinds", "apply -f {crds}", {
    shows: [/resourcerequests\.rear\.fluidos\.eu created/u, /brokerpolicies\.broker\.fluidos\.eu created/u],
  }),
  command("wait sees them established", "wait --for=condition=Established crd --all --timeout=10s", {
    shows: [/resourcerequests\.rear\.fluidos\.eu condition met/u],
  }),
  command("get shows kinds and since when", "get crd", {
    shows: [/^NAME +CREATED AT$/mu, /^resourcerequests\.rear\.fluidos\.eu +\d{4}-/mu],
  }),
  command("api-resources knows our category", "api-resources --categories=resourcebroker -o name", {
    shows: [/^resourcerequests\.rear\.fluidos\.eu$/mu, /^clusteradvertisements\.broker\.fluidos\.eu$/mu],
  }),
  command("explain describes our fields", "explain resourcerequest.spec.requestedCPU", {
    shows: [
      /GROUP: +rear\.fluidos\.eu/u,
      /KIND: +ResourceRequest/u,
      /FIELD: requestedCPU/u,
      /DESCRIPTION:\n +\S/u,
    ],
  }),
  command("apply creates a request", "apply -f -", {
    stdin: manifest(RESOURCE_REQUEST),
    shows: [/resourcerequest\.rear\.fluidos\.eu\/more created/u],
  }),
  command("apply of the same request changes nothing", "apply -f -", {
    stdin: manifest(RESOURCE_REQUEST),
    shows: [/more unchanged/u],
  }),
  command("our columns show", "get rreq -n demo", {
    shows: [/^NAME +CPU +MEMORY +GPU +PHASE +TARGET +AGE$/mu, /^more +500m +512Mi +/mu],
  }),
  command("our wide columns show", "get resourcerequests -n demo -o wide", {
    shows: [/AGE +RESERVATION +EXPIRES/u],
  }),
  refused(
    "a rule refuses with its own words",
    ["patch", "rreq", "more", "-n", "demo", "--type=merge", "-p", '{"spec":{"requestedCPU":"0"}}'],
    {
      complains: [/spec\.requestedCPU: Invalid value: .*must be a quantity of more than 0/u],
    },
  ),
  command(
    "patch only warns of an unknown field and does not keep it",
    ["patch", "rreq", "more", "-n", "demo", "--type=merge", "-p", '{"spec":{"requestedCPUs":"1"}}'],
    {
      shows: [/more patched/u],
      complains: [/Warning: unknown field "spec\.requestedCPUs"/u],
    },
  ),
  refused("an unknown field is refused", "apply -f -", {
    stdin: manifest({ ...RESOURCE_REQUEST, spec: { ...RESOURCE_REQUEST.spec, requestedCPUs: "1" } }),
    complains: [/unknown field "spec\.requestedCPUs"/u],
  }),
  command(
    "a status is written through its own path",
    [
      "patch",
      "rreq",
      "more",
      "-n",
      "demo",
      "--subresource=status",
      "--type=merge",
      "-p",
      '{"status":{"phase":"Reserved","targetClusterID":"paris"}}',
    ],
    {
      shows: [/resourcerequest\.rear\.fluidos\.eu\/more patched/u],
    },
  ),
  command(
    "wait --for=jsonpath sees it",
    "wait --for=jsonpath={.status.phase}=Reserved rreq/more -n demo --timeout=10s",
    { shows: [/more condition met/u] },
  ),
  command("the columns follow", "get rreq -n demo more", {
    shows: [/^more +500m +512Mi +(<none> +|)?Reserved +paris/mu],
  }),
  command("describe tells of our objects", "describe rreq more -n demo", {
    shows: [/Kind: +ResourceRequest/u, /Requested CPU: +500m/u, /Phase: +Reserved/u, /Events: +<none>/u],
  }),
  command("server-side apply works on our objects", "apply --server-side --field-manager=gitops -f -", {
    stdin: manifest({ ...RESOURCE_REQUEST, metadata: { ...RESOURCE_REQUEST.metadata, name: "second" } }),
    shows: [/resourcerequest\.rear\.fluidos\.eu\/second serverside-applied/u],
  }),
  command("get of the category shows our objects of all kinds", "get resourcebroker -n demo -o name", {
    shows: [/resourcerequest\.rear\.fluidos\.eu\/more/u, /resourcerequest\.rear\.fluidos\.eu\/second/u],
  }),
  command("delete --all deletes", "delete rreq --all -n demo", {
    shows: [/"more" deleted/u, /"second" deleted/u],
  }),
  command("a kind can be deleted", "delete crd resourcerequests.rear.fluidos.eu", {
    shows: [
      /customresourcedefinition\.apiextensions\.k8s\.io "resourcerequests\.rear\.fluidos\.eu" deleted/u,
    ],
  }),
  refused("and is then not served any more", "get rreq -n demo", {
    complains: [/doesn't have a resource type "rreq"|could not find the requested resource/u],
  }),
  command("a namespace goes with all that is in it", "delete namespace demo --timeout=20s", {
    shows: [/namespace "demo" deleted/u],
  }),
  refused("what was in it is gone", "get configmap words -n demo", { complains: [/not found/u] }),
];

/** Everything that is promised of the real kubectl. */
export const KUBECTL_COMMANDS: readonly KubectlCommand[] = [
  ...CLUSTER,
  ...NODES,
  ...CONFIG_MAPS,
  ...CHANGES,
  ...PODS,
  ...CUSTOM,
];
