import type { UiCluster } from "@resource-broker/contract/dashboard";
import { CapacityHistory } from "../capacity/capacity-history.tsx";
import { CapacityBar, CapacityLegend } from "../charts/capacity-bar.tsx";
import { count, RESOURCE_TITLES, RESOURCES } from "../format/amounts.ts";
import type { RefreshPolicy } from "../live/live-answer.ts";
import { withQuery } from "../net/query.ts";
import { Action } from "../parts/confirm.tsx";
import { Facts } from "../parts/facts.tsx";
import { Link } from "../parts/link.tsx";
import { Card, Page } from "../parts/page.tsx";
import { TimeAgo } from "../parts/relative-time.tsx";
import { AnswerView } from "../parts/states.tsx";
import { useAnswer } from "../shell/app-deps.ts";
import { ClusterStates } from "./cluster-row.tsx";
import { gpuModels, priceText, secondName } from "./fleet-view.ts";

export function ClusterPage({ id }: { readonly id: string }) {
  const policy: RefreshPolicy<UiCluster> = {
    patch: (cluster, { clusters }) => clusters.find((each) => each.id === id) ?? cluster,
  };
  const answer = useAnswer<UiCluster>(`/ui/clusters/${encodeURIComponent(id)}`, policy);
  const cluster = answer.data;
  return (
    <Page
      title={id}
      trail={<Link to="/fleet">Fleet</Link>}
      lead={cluster === undefined ? "Cluster" : (secondName(cluster) ?? "Cluster")}
      actions={cluster !== undefined && <CordonAction cluster={cluster} onDone={answer.reload} />}
    >
      <AnswerView answer={answer}>{(found) => <ClusterDetails cluster={found} />}</AnswerView>
    </Page>
  );
}

function ClusterDetails({ cluster }: { readonly cluster: UiCluster }) {
  const reservations = (role: string): string =>
    withQuery("/reservations", { [role]: cluster.id, phase: "live" });
  return (
    <div className="stack">
      <div className="columns">
        <Card title="Capacity" note={<CapacityLegend />}>
          <div className="bar-list">
            {RESOURCES.map((resource) => (
              <div key={resource} className="bar-row">
                <span>{RESOURCE_TITLES[resource]}</span>
                <CapacityBar capacity={cluster.capacity} resource={resource} size="large" />
              </div>
            ))}
          </div>
        </Card>
        <Card title="About">
          <Facts
            facts={[
              ["State", <ClusterStates key="states" cluster={cluster} />],
              ["Region", cluster.region],
              ["Last advertisement", <TimeAgo key="heard" at={cluster.heardAt} />],
              ["Price per hour", priceText(cluster.price) ?? "not priced"],
              ["GPUs", gpuModels(cluster.gpus)],
              [
                "Lends",
                <Link key="lends" to={reservations("provider")}>
                  {count(cluster.lends, "reservation")}
                </Link>,
              ],
              [
                "Borrows",
                <Link key="borrows" to={reservations("requester")}>
                  {count(cluster.borrows, "reservation")}
                </Link>,
              ],
              ["Liqo ID", cluster.liqoID ?? ""],
            ]}
          />
        </Card>
      </div>
      {cluster.conditions.length > 0 && (
        <Card title="Conditions">
          <ul className="plain-list">
            {cluster.conditions.map(({ type, message, since }) => (
              <li key={type}>
                <strong>{type}</strong> {message}
                {since !== undefined && (
                  <span className="faint">
                    {" "}
                    · since <TimeAgo at={since} />
                  </span>
                )}
              </li>
            ))}
          </ul>
        </Card>
      )}
      <Labels labels={cluster.labels} />
      <CapacityHistory cluster={cluster.id} window="hour" />
    </div>
  );
}

function Labels({ labels }: Pick<UiCluster, "labels">) {
  const names = Object.keys(labels).toSorted();
  if (names.length === 0) return null;
  return (
    <Card title="Labels">
      <ul className="labels">
        {names.map((name) => (
          <li key={name}>
            <code>
              {name}={labels[name]}
            </code>
          </li>
        ))}
      </ul>
    </Card>
  );
}

interface CordonProps {
  readonly cluster: UiCluster;
  readonly onDone: () => void;
}

function CordonAction({ cluster, onDone }: CordonProps) {
  const path = `/ui/clusters/${encodeURIComponent(cluster.id)}`;
  if (cluster.isCordoned) {
    return (
      <Action verb="Uncordon" title={`Uncordon ${cluster.id}?`} path={`${path}/uncordon`} onDone={onDone}>
        <p>
          <strong>{cluster.id}</strong> may win new reservations again, from the next request on.
        </p>
      </Action>
    );
  }
  return (
    <Action verb="Cordon" title={`Cordon ${cluster.id}?`} path={`${path}/cordon`} asksReason onDone={onDone}>
      <p>
        <strong>{cluster.id}</strong> gets no new reservations until it is uncordoned.
      </p>
      <p>
        {cluster.lends === 0
          ? "It lends nothing now."
          : `What it lends now stays: ${count(cluster.lends, "reservation")} until released or expired.`}{" "}
        It may still borrow.
      </p>
    </Action>
  );
}
