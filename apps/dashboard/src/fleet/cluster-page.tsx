import { resourceTitle } from "@resource-broker/base";
import { type AdvertisementDTO, PATH } from "@resource-broker/contract";
import { CapacityHistory } from "../capacity/capacity-history.tsx";
import { CapacityBar, CapacityLegend, capacityOf } from "../charts/capacity-bar.tsx";
import { count, namesIn } from "../format/amounts.ts";
import type { RefreshPolicy } from "../live/live-answer.ts";
import { PreemptingAt } from "../reservations/preempting.tsx";
import { withQuery } from "../shell/navigation.ts";
import { Action } from "../parts/confirm.tsx";
import { Link } from "../parts/link.tsx";
import { Card, Facts, Page } from "../parts/page.tsx";
import { TimeAgo } from "../parts/relative-time.tsx";
import { AnswerView } from "../parts/states.tsx";
import { useAnswer } from "../shell/app-deps.ts";
import { ClusterStates } from "./fleet-page.tsx";
import { gpuModels, priceText, regionOf, secondName, standingOf } from "./fleet-view.ts";

export function ClusterPage({ id }: { readonly id: string }) {
  const policy: RefreshPolicy<AdvertisementDTO> = {
    patch: (cluster, { clusters }) => clusters.find(({ clusterID }) => clusterID === id) ?? cluster,
  };
  const answer = useAnswer<AdvertisementDTO>(PATH.advertisement(id), policy);
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

function ClusterDetails({ cluster }: { readonly cluster: AdvertisementDTO }) {
  const { clusterID, labels = {}, liqo } = cluster;
  const standing = standingOf(cluster);
  const link = (role: string, reservations: number) => (
    <Link to={withQuery("/reservations", { [role]: clusterID, phase: "live" })}>
      {count(reservations, "reservation")}
    </Link>
  );
  const capacity = capacityOf(cluster.resources);
  return (
    <div className="stack">
      <div className="columns">
        <Card title="Capacity" note={<CapacityLegend />}>
          <div className="bar-list">
            {namesIn(capacity.allocatable, capacity.reserved).map((name) => (
              <div key={name} className="bar-row">
                <span>{resourceTitle(name)}</span>
                <CapacityBar capacity={capacity} resource={name} size="large" />
              </div>
            ))}
          </div>
        </Card>
        <Card title="About">
          <Facts
            facts={[
              ["State", <ClusterStates key="states" cluster={cluster} />],
              ["Region", regionOf(cluster)],
              ["Last advertisement", <TimeAgo key="heard" at={standing.receivedAt} />],
              ["Price per hour", priceText(standing.price) ?? "not priced"],
              ["GPUs", gpuModels(cluster)],
              ["Lends", link("provider", standing.lends)],
              ["Borrows", link("requester", standing.borrows)],
              ["Liqo ID", liqo?.clusterID ?? ""],
            ]}
          />
        </Card>
      </div>
      {standing.conditions !== undefined && (
        <Card title="Conditions">
          <ul className="plain-list">
            {standing.conditions.map(({ type, message, since }) => (
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
      <PreemptingAt cluster={clusterID} />
      <Labels labels={labels} />
      <CapacityHistory cluster={clusterID} window="hour" />
    </div>
  );
}

function Labels({ labels }: { readonly labels: Readonly<Record<string, string>> }) {
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
  readonly cluster: AdvertisementDTO;
  readonly onDone: () => void;
}

function CordonAction({ cluster, onDone }: CordonProps) {
  const { clusterID: id } = cluster;
  const { lends, cordon } = standingOf(cluster);
  if (cordon !== undefined) {
    return (
      <Action
        verb="Uncordon"
        title={`Uncordon ${id}?`}
        perform={(api) => api.post(PATH.uncordon(id))}
        doneText={`${id} is uncordoned.`}
        onDone={onDone}
      >
        <p>
          <strong>{id}</strong> may win new reservations again, from the next request on.
        </p>
      </Action>
    );
  }
  const stays =
    lends === 0
      ? "It lends nothing now."
      : `What it lends now stays: ${count(lends, "reservation")} until released or expired.`;
  return (
    <Action
      verb="Cordon"
      title={`Cordon ${id}?`}
      perform={(api, reason) => api.post(PATH.cordon(id), reason === "" ? undefined : { reason })}
      doneText={`${id} is cordoned: it gets no new reservations; existing ones stay.`}
      asksReason
      onDone={onDone}
    >
      <p>
        <strong>{id}</strong> gets no new reservations until it is uncordoned.
      </p>
      <p>{stays} It may still borrow.</p>
    </Action>
  );
}
